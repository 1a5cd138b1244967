import type { KubeObject, Pod } from "@joinery/api";
import { expect, test } from "vitest";
import { createTrim } from "./trim-object.ts";

const pod = (name: string, spec: object, status: object = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name,
    namespace: "shop",
    labels: { app: "web" },
    annotations: { "kubectl.kubernetes.io/last-applied-configuration": "x".repeat(5000), "karpenter.sh/do-not-disrupt": "true" },
    managedFields: [{ manager: "kubectl" }],
  },
  spec: {
    containers: [
      {
        name: "main",
        image: "i",
        env: [{ name: "A", value: "b" }],
        resources: { requests: { cpu: "1" } },
        ports: [{ containerPort: 80, hostPort: 80 }],
      },
    ] as object[] as Pod["spec"]["containers"],
    volumes: [
      { name: "token", projected: {} },
      { name: "data", persistentVolumeClaim: { claimName: "data-0" } },
    ],
    tolerations: [{ key: "a", operator: "Exists" }],
    ...spec,
  },
  status,
});

test("a bound pod keeps what a plan reads of it, and shares it with its equals", () => {
  const trim = createTrim();
  const status = {
    phase: "Running",
    conditions: [{ type: "Ready", status: "True" }],
    podIPs: [{ ip: "10.0.0.1" }],
    containerStatuses: [{ name: "main", imageID: "long", state: {}, resources: { requests: { cpu: "2" } } }],
  };
  const [a, b] = [trim(pod("a", { nodeName: "n" }, status)), trim(pod("b", { nodeName: "n" }, status))];
  expect(a).toEqual({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", namespace: "shop", labels: { app: "web" }, annotations: { "karpenter.sh/do-not-disrupt": "true" } },
    spec: {
      nodeName: "n",
      containers: [{ name: "main", image: "i", resources: { requests: { cpu: "1" } }, ports: [{ containerPort: 80, hostPort: 80 }] }],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data-0" } }],
      tolerations: [{ key: "a", operator: "Exists" }],
    },
    status: {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [{ name: "main", resources: { requests: { cpu: "2" } } }],
    },
  });
  expect(b.spec.containers).toBe(a.spec.containers);
  expect(b.spec.tolerations).toBe(a.spec.tolerations);
});

test("a pod that waits keeps its whole spec and status; one that is over does not", () => {
  const trim = createTrim();
  const waiting = pod("a", {}, { phase: "Pending" });
  expect(trim(waiting).spec).toEqual(waiting.spec);
  expect(trim(pod("a", {}, { phase: "Succeeded" })).spec.containers[0]).not.toHaveProperty("env");
});

test("a ReplicaSet of the past keeps what a plan reads of its template, one that makes pods all of it", () => {
  const trim = createTrim();
  const set = (replicas: number) => ({
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: "a" },
    spec: { replicas, template: { spec: pod("a", {}).spec } },
  });
  expect(trim(set(0)).spec.template.spec.containers[0]).not.toHaveProperty("env");
  expect(trim(set(0)).spec.template.spec.tolerations).toEqual(set(0).spec.template.spec.tolerations);
  expect(trim(set(1)).spec).toEqual(set(1).spec);
});

test("a Node loses its images, a workload what tools note down; neither is written to", () => {
  const trim = createTrim();
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n" }, status: { images: [{}], capacity: { cpu: "1" } } };
  expect((trim(node) as KubeObject & { status: object }).status).toEqual({ capacity: { cpu: "1" } });
  expect(node.status.images).toHaveLength(1);
  const workload = { ...pod("a", {}), kind: "Deployment", spec: { template: { spec: { containers: [{ name: "c", env: [] }] } } } };
  expect(trim(workload).spec).toBe(workload.spec);
  expect(trim(workload).metadata).not.toHaveProperty("managedFields");
});
