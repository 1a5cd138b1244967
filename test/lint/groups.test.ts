/** Findings are per workload, however many pods it has, and what runs already is no alarm. */
import { describe, expect, test } from "vitest";
import { findingsOf, lintText } from "./lint-joinery.ts";

const pool = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "default" },
  spec: {
    template: {
      spec: {
        nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
        requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }],
      },
    },
  },
};
const nodeClass = { apiVersion: "karpenter.kwok.sh/v1alpha1", kind: "KWOKNodeClass", metadata: { name: "default" } };

function podSpec(cpu: string) {
  return { containers: [{ name: "main", image: "registry.example/app:1.0", resources: { requests: { cpu } } }] };
}

function pod(name: string, cpu: string, extra: object = {}, spec: object = {}) {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "shop", ...extra }, spec: { ...podSpec(cpu), ...spec } };
}

function owner(kind: string, name: string) {
  return { ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid: `uid-${name}`, controller: true }] };
}

function deployment(cpu: string) {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: podSpec(cpu) },
    },
  };
}

async function objectsFound(items: readonly object[]): Promise<string[]> {
  const run = await lintText(JSON.stringify({ apiVersion: "v1", kind: "List", items }), ["-o", "json"]);
  return findingsOf(run).map(({ rule, object }) => `${rule} ${object}`);
}

describe("pods that are alike", () => {
  test("without an owner are one finding", async () => {
    const pods = Array.from({ length: 40 }, (_, index) => pod(`batch-${index}`, "64"));
    expect(await objectsFound([nodeClass, pool, ...pods])).toEqual(["request-too-large shop/Pod/batch-0"]);
  });

  test("of an owner that the input lacks are one finding", async () => {
    const pods = Array.from({ length: 40 }, (_, index) => pod(`web-${index}`, "64", owner("ReplicaSet", "web-5d4f")));
    expect(await objectsFound([nodeClass, pool, ...pods])).toEqual(["request-too-large shop/Pod/web-0"]);
  });

  test("of a Deployment in the input are its own, also without the ReplicaSet", async () => {
    const labels = { app: "web", "pod-template-hash": "5d4f" };
    const pods = Array.from({ length: 3 }, (_, index) => pod(`web-${index}`, "64", { labels, ...owner("ReplicaSet", "web-5d4f") }));
    expect(await objectsFound([nodeClass, pool, deployment("64"), ...pods])).toEqual(["request-too-large shop/Deployment/web"]);
  });
});

describe("no alarm", () => {
  test("where a pod of the workload runs already: its node is not in the input", async () => {
    const running = pod(
      "web-0",
      "64",
      { labels: { "pod-template-hash": "5d4f" }, ...owner("ReplicaSet", "web-5d4f") },
      { nodeName: "big" },
    );
    expect(await objectsFound([nodeClass, pool, deployment("64"), running])).toEqual([]);
  });

  test("where an existing node has the place, although it is full now", async () => {
    const node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "big", labels: { "kubernetes.io/arch": "amd64" } },
      status: { allocatable: { cpu: "96", memory: "300Gi", pods: "110" }, capacity: { cpu: "96", memory: "300Gi", pods: "110" } },
    };
    const filler = pod("filler", "90", {}, { nodeName: "big" });
    expect(await objectsFound([nodeClass, pool, node, filler, deployment("64")])).toEqual([]);
  });

  test("where the input has no pools at all", async () => {
    expect(await objectsFound([deployment("64")])).toEqual([]);
  });

  test("for pods of DaemonSets, finished pods and workloads of no replicas", async () => {
    const daemon = pod("agent-x", "64", owner("DaemonSet", "agent"));
    const finished = { ...pod("done", "64"), status: { phase: "Succeeded" } };
    const { spec, ...rest } = deployment("64");
    expect(await objectsFound([nodeClass, pool, daemon, finished, { ...rest, spec: { ...spec, replicas: 0 } }])).toEqual([]);
  });
});
