/** The built controller with the kwok provider on a real control plane: the real kube-scheduler binds every pod, and deleted nodes go. */
import {
  DaemonSets,
  type Deployment,
  Deployments,
  KwokNodeClasses,
  NodeClaims,
  NodePools,
  Nodes,
  type Pod,
  type PodSpec,
  Pods,
} from "@joinery/api";
import { createOnce, type KubeClient } from "@joinery/kube";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, eventually, installCrds, type RunningController, startController } from "./cluster.ts";

const POOL_TAINT = { key: "team", value: "batch", effect: "NoSchedule" as const };

let client: KubeClient;
let controller: RunningController;

/** Six Deployments, 200 pods in all; each asks for something else. */
const DEPLOYMENTS: readonly {
  readonly name: string;
  readonly replicas: number;
  readonly spec: Partial<PodSpec>;
  readonly cpu: string;
  readonly memory: string;
}[] = [
  { name: "web", replicas: 60, cpu: "250m", memory: "256Mi", spec: {} },
  { name: "arm", replicas: 40, cpu: "500m", memory: "512Mi", spec: { nodeSelector: { "kubernetes.io/arch": "arm64" } } },
  { name: "spot", replicas: 40, cpu: "1", memory: "1Gi", spec: { nodeSelector: { "karpenter.sh/capacity-type": "spot" } } },
  {
    name: "batch",
    replicas: 30,
    cpu: "2",
    memory: "4Gi",
    spec: { tolerations: [{ key: "team", operator: "Equal", value: "batch", effect: "NoSchedule" }], nodeSelector: { pool: "batch" } },
  },
  {
    name: "zonal",
    replicas: 20,
    cpu: "700m",
    memory: "3Gi",
    spec: {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values: ["test-zone-b", "us-east-1b"] }] },
            ],
          },
        },
      },
    },
  },
  { name: "large", replicas: 10, cpu: "7", memory: "20Gi", spec: { nodeSelector: { "karpenter.sh/capacity-type": "on-demand" } } },
];

const PODS = DEPLOYMENTS.reduce((sum, { replicas }) => sum + replicas, 0);

beforeAll(async () => {
  client = await connect();
  await installCrds(client);
  await createOnce(client, KwokNodeClasses, { metadata: { name: "default" }, spec: {} });
  const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
  const linux = { key: "kubernetes.io/os", operator: "In" as const, values: ["linux"] };
  await createOnce(client, NodePools, {
    metadata: { name: "general" },
    spec: { template: { spec: { nodeClassRef, requirements: [linux], expireAfter: "Never" } } },
  } as never);
  await createOnce(client, NodePools, {
    metadata: { name: "batch" },
    spec: {
      template: {
        metadata: { labels: { pool: "batch" } },
        spec: { nodeClassRef, requirements: [linux], taints: [POOL_TAINT], expireAfter: "Never" },
      },
    },
  } as never);
  controller = startController("controller");
});

afterAll(async () => {
  controller?.signal("SIGTERM");
  if (controller !== undefined) expect(await controller.ended).toBe(0);
  await client.delete(DaemonSets, { namespace: "default", name: "agent" }, { propagationPolicy: "Background" });
});

describe("from zero nodes", () => {
  test("the cluster has no nodes", async () => {
    expect((await client.list(Nodes)).items).toEqual([]);
  });

  test(`${PODS} pods of six Deployments get nodes, and the real kube-scheduler binds every one`, async () => {
    await createOnce(client, DaemonSets, daemonSet("agent", "100m", "128Mi"));
    for (const { name, replicas, spec, cpu, memory } of DEPLOYMENTS) {
      await createOnce(client, Deployments, deployment(name, replicas, spec, cpu, memory));
    }
    await eventually("every pod to run", 240_000, async () => {
      controller.assertAlive();
      const pods = await workloadPods(client);
      const running = pods.filter((pod) => pod.spec.nodeName !== undefined && pod.status?.phase === "Running");
      return (pods.length === PODS && running.length === PODS) || `${running.length} of ${pods.length} run`;
    });
    const nodes = (await client.list(Nodes)).items;
    expect(nodes.length).toBeGreaterThan(0);
    const claims = (await client.list(NodeClaims)).items;
    expect(claims.map(({ status }) => status?.nodeName).sort()).toEqual(nodes.map(({ metadata }) => metadata?.name).sort());
    await eventually("every NodeClaim to be Ready", 60_000, async () =>
      (await client.list(NodeClaims)).items.every(
        ({ status }) => status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false,
      ),
    );
    const agents = (await client.list(Pods, { namespace: "default", labelSelector: "app=agent" })).items;
    expect(agents.length, "one DaemonSet pod on every node that it tolerates").toBe(nodes.length);
  });

  test("pods landed where they asked to", async () => {
    const nodes = new Map((await client.list(Nodes)).items.map((node) => [node.metadata?.name, node]));
    for (const pod of await workloadPods(client)) {
      const labels = nodes.get(pod.spec.nodeName)?.metadata?.labels ?? {};
      for (const [key, value] of Object.entries(pod.spec.nodeSelector ?? {}))
        expect(labels[key], `${pod.metadata?.name}: ${key}`).toBe(value);
    }
  });
});

describe("the way back", () => {
  test("a deleted Node is drained, its NodeClaim goes too, and its pods run elsewhere", async () => {
    const [victim] = (await client.list(Nodes, { labelSelector: "karpenter.sh/nodepool=general" })).items;
    const name = victim?.metadata?.name ?? "";
    await client.delete(Nodes, { name });
    await eventually(`node ${name} to go`, 120_000, async () => (await client.find(Nodes, { name })) === undefined);
    await eventually("its NodeClaim to go", 60_000, async () =>
      (await client.list(NodeClaims)).items.every(({ status }) => status?.nodeName !== name),
    );
    await eventually("every pod to run again", 180_000, async () => {
      const pods = (await workloadPods(client)).filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
      return (
        (pods.length === PODS && pods.every((pod) => pod.status?.phase === "Running")) ||
        `${pods.filter((pod) => pod.status?.phase === "Running").length} run`
      );
    });
  });

  test("deleted NodeClaims and their Nodes really go", async () => {
    for (const { name } of DEPLOYMENTS) {
      await client.patch(Deployments, { namespace: "default", name }, { type: "merge", body: { spec: { replicas: 0 } } });
    }
    await eventually("the pods to go", 120_000, async () => (await workloadPods(client)).length === 0);
    for (const claim of (await client.list(NodeClaims)).items) await client.delete(NodeClaims, { name: claim.metadata?.name ?? "" });
    await eventually("all NodeClaims and Nodes to go", 180_000, async () => {
      const [claims, nodes] = [(await client.list(NodeClaims)).items.length, (await client.list(Nodes)).items.length];
      return (claims === 0 && nodes === 0) || `${claims} NodeClaims, ${nodes} Nodes`;
    });
  });
});

async function workloadPods(from: KubeClient): Promise<readonly Pod[]> {
  const pods = (await from.list(Pods, { namespace: "default" })).items;
  return pods.filter(({ metadata }) => metadata?.labels?.app !== "agent");
}

function template(name: string, spec: Partial<PodSpec>, cpu: string, memory: string) {
  return {
    metadata: { labels: { app: name } },
    spec: {
      terminationGracePeriodSeconds: 1,
      ...spec,
      containers: [{ name: "main", image: "example.com/app", resources: { requests: { cpu, memory } } }],
    },
  };
}

function deployment(name: string, replicas: number, spec: Partial<PodSpec>, cpu: string, memory: string): Deployment {
  return {
    metadata: { name, namespace: "default" },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name, spec, cpu, memory) },
  };
}

function daemonSet(name: string, cpu: string, memory: string): Deployment {
  const spec = { tolerations: [{ operator: "Exists" as const }] };
  return {
    metadata: { name, namespace: "default" },
    spec: { selector: { matchLabels: { app: name } }, template: template(name, spec, cpu, memory) },
  };
}
