/** Objects for tests: everything has a default, so that each argument matters to its test. */
import type { Container, Deployment, Node, Pod, PodSpec, PodTemplateSpec, Taint } from "@joinery/api";

let serial = 0;

export interface PodWish {
  readonly name?: string;
  readonly namespace?: string;
  readonly cpu?: string;
  readonly memory?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly container?: Partial<Container>;
  readonly spec?: Partial<PodSpec>;
}

export function aPod({ name, namespace = "default", labels, annotations, ...wish }: PodWish = {}): Pod {
  serial += 1;
  const spec = aPodSpec(wish);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: name ?? `pod-${serial}`,
      namespace,
      uid: `uid-${serial}`,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    spec,
  };
}

function aPodSpec({ cpu = "100m", memory = "64Mi", container, spec }: PodWish = {}): PodSpec {
  return {
    containers: [{ name: "main", image: "registry.example/app:1", resources: { requests: { cpu, memory } }, ...container }],
    ...spec,
  };
}

export interface NodeWish {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly cpu?: string;
  readonly memory?: string;
  readonly pods?: string;
  readonly zone?: string;
  readonly unschedulable?: boolean;
}

export function aNode({
  name = "node-a",
  labels,
  annotations,
  taints = [],
  cpu = "4",
  memory = "16Gi",
  pods = "110",
  ...wish
}: NodeWish = {}): Node {
  const capacity = { cpu, memory, pods, "ephemeral-storage": "20Gi" };
  const { zone = "us-east-1a", unschedulable } = wish;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": zone,
        ...labels,
      },
      ...(annotations && { annotations }),
    },
    spec: { taints, ...(unschedulable && { unschedulable }) },
    status: { capacity, allocatable: capacity, conditions: [] },
  };
}

/** A node without machine that this room's kubelets act for. */
export function aFakeNode(wish: NodeWish = {}): Node {
  return aNode({ ...wish, annotations: { "kwok.x-k8s.io/node": "fake", ...wish.annotations } });
}

export interface DeploymentWish extends PodWish {
  readonly replicas?: number;
  readonly strategy?: unknown;
}

export function aDeployment({ name = "web", namespace = "default", replicas = 1, strategy, ...wish }: DeploymentWish = {}): Deployment {
  const labels = { app: name, ...wish.labels };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: aTemplate({ ...wish, labels }),
      ...(strategy !== undefined && { strategy }),
    },
  };
}

export function aTemplate({ labels, annotations, ...wish }: PodWish): PodTemplateSpec {
  return { metadata: { labels, ...(annotations && { annotations }) }, spec: aPodSpec(wish) };
}
