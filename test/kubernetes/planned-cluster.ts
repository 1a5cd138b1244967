/**
 * A random problem and its plan as objects of a real cluster: nodes as they were planned, in the cheapest of their types, the nodes and
 * pods that were there, volumes, and each planned pod bound to its node by a resource that only that node has. The nodes bear one taint
 * more, which only these pods tolerate: what else lives in the cluster (a DaemonSet of another suite) takes none of their room.
 */
import {
  type CsiNode,
  formatResources,
  type Namespace,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodAffinityTerm,
  type PodSpec,
  type Resources,
} from "@joinery/api";
import type { PodShape, Problem } from "@joinery/scheduling";
import { sum } from "../reference/amounts.ts";
import type { BoundPod, KubeNode } from "../reference/kube-scheduler.ts";
import type { Newcomer, World } from "../reference/worlds.ts";

export interface PlannedCluster {
  readonly namespaces: readonly Namespace[];
  readonly nodes: readonly Node[];
  readonly csiNodes: readonly CsiNode[];
  readonly volumes: readonly PersistentVolume[];
  readonly claims: readonly PersistentVolumeClaim[];
  readonly boundPods: readonly Pod[];
  podOf(newcomer: Newcomer): Pod;
  nodeNameOf(newcomer: Newcomer): string;
}

/** `prefix` keeps the objects of different problems apart: names of nodes, volumes and namespaces begin with it. */
export function plannedCluster(prefix: string, world: World, problem: Problem): PlannedCluster {
  const names = new ClusterNames(prefix);
  const boundOn = Map.groupBy(world.bound, ({ node }) => node.name);
  const mounted = [...world.newcomers, ...world.bound].map(({ shape }) => shape);
  const keys = new Set(mounted.flatMap(({ namespace, claimNames = [] }) => claimNames.map((name) => `${namespace}/${name}`)));
  return {
    namespaces: Array.from(problem.namespaces ?? [["default", {}]], ([name, labels]) => ({ metadata: { name: names.of(name), labels } })),
    nodes: world.nodes.map((node) => nodeObject(names, node, boundOn.get(node.name) ?? [])),
    csiNodes: world.nodes.flatMap((node) => csiNodeObject(names, node)),
    volumes: Array.from(keys, (key) => volumeObject(names, key, problem)),
    claims: Array.from(keys, (key) => claimObject(names, key)),
    boundPods: world.bound.filter(({ isEnding }) => !isEnding).map((pod) => boundPodObject(names, pod)),
    podOf: ({ key, shape, node }) => podObject(names, key.split("/")[1]!, shape, { [names.pinOf(node)]: 1 }),
    nodeNameOf: ({ node }) => names.of(node),
  };
}

class ClusterNames {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  of(name: string): string {
    return `${this.#prefix}-${name}`;
  }

  /** What keeps the pods of other suites away. */
  get taint() {
    return { key: "planned.example.com/problem", value: this.#prefix, effect: "NoSchedule" } as const;
  }

  /** The resource that one node has. */
  pinOf(node: string): string {
    return `pin.example.com/${this.of(node)}`;
  }
}

/** Names without a domain are Kubernetes' own. */
const OWN_RESOURCES = new Set(["cpu", "memory", "pods", "ephemeral-storage"]);
const HOLDS_ALL_PODS = 1000;

function amounts(resources: Resources): Record<string, string> {
  const known = Object.entries(resources).map(([name, amount]) => [OWN_RESOURCES.has(name) ? name : `example.com/${name}`, amount]);
  return formatResources(Object.fromEntries(known));
}

function nodeObject(names: ClusterNames, { name, labels, taints, room, isLeaving }: KubeNode, bound: readonly BoundPod[]): Node {
  const all = sum([room, ...bound.map(({ shape }) => shape.requests)]);
  const left = Object.fromEntries(Object.entries(all).map(([resource, amount]) => [resource, Math.max(0, amount)]));
  const allocatable = { ...amounts(left), [names.pinOf(name)]: String(HOLDS_ALL_PODS) };
  return {
    metadata: { name: names.of(name), labels, annotations: { "kwok.x-k8s.io/node": "fake" } },
    spec: { taints: [...taints, names.taint] },
    status: {
      capacity: allocatable,
      allocatable: isLeaving ? { ...allocatable, cpu: "0", memory: "0", pods: String(bound.length) } : allocatable,
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }],
    },
  } as Node;
}

function csiNodeObject(names: ClusterNames, { name, volumeLimits }: KubeNode): CsiNode[] {
  const drivers = Object.entries(volumeLimits).map(([driver, count]) => ({
    name: driver,
    nodeID: names.of(name),
    topologyKeys: [],
    ...(Number.isFinite(count) && { allocatable: { count } }),
  }));
  return drivers.length === 0 ? [] : [{ metadata: { name: names.of(name) }, spec: { drivers } } as CsiNode];
}

/** A claim that the problem does not know can be reached from everywhere (S-126). */
function volumeObject(names: ClusterNames, key: string, { claims }: Problem): PersistentVolume {
  const [namespace, name] = key.split("/") as [string, string];
  const { alternatives = [], driver } = claims?.get(key) ?? {};
  const nodeSelectorTerms = alternatives.map((items) => ({ matchExpressions: items }));
  return {
    metadata: { name: names.of(`${namespace}-${name}`) },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteMany"],
      storageClassName: "",
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace: names.of(namespace), name },
      ...(nodeSelectorTerms.length > 0 && { nodeAffinity: { required: { nodeSelectorTerms } } }),
      ...(driver === undefined ? { hostPath: { path: "/tmp" } } : { csi: { driver, volumeHandle: names.of(`${namespace}-${name}`) } }),
    },
  } as unknown as PersistentVolume;
}

function claimObject(names: ClusterNames, key: string): PersistentVolumeClaim {
  const [namespace, name] = key.split("/") as [string, string];
  return {
    metadata: { name, namespace: names.of(namespace) },
    spec: {
      accessModes: ["ReadWriteMany"],
      storageClassName: "",
      volumeName: names.of(`${namespace}-${name}`),
      resources: { requests: { storage: "1Gi" } },
    },
  } as unknown as PersistentVolumeClaim;
}

function tolerated({ key, value, effect }: ClusterNames["taint"]) {
  return { key, operator: "Equal", value, effect } as const;
}

/** It runs already, so that no taint may evict it. */
function boundPodObject(names: ClusterNames, { key, shape, node }: BoundPod): Pod {
  const pod = podObject(names, key, { ...shape, tolerations: [{ operator: "Exists" }] }, {});
  return { ...pod, spec: { ...pod.spec, nodeName: names.of(node.name) } };
}

function podObject(names: ClusterNames, name: string, shape: PodShape, more: Resources): Pod {
  const { pods: _, ...requests } = shape.requests;
  const asked = { ...amounts(requests), ...formatResources(more) };
  const limits = Object.fromEntries(Object.entries(asked).filter(([resource]) => resource.includes("/")));
  const ports = (shape.hostPorts ?? []).map(({ port, ip, protocol }) => ({ containerPort: port, hostPort: port, hostIP: ip, protocol }));
  const volumes = (shape.claimNames ?? []).map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
  const spec = {
    containers: [{ name: "main", image: "example.com/app", resources: { requests: asked, limits }, ports }],
    terminationGracePeriodSeconds: 0,
    nodeSelector: shape.nodeSelector,
    affinity: namespacedAffinity(names, shape.affinity),
    tolerations: [...(shape.tolerations ?? []), tolerated(names.taint)],
    topologySpreadConstraints: shape.topologySpreadConstraints,
    volumes,
  };
  return { metadata: { name, namespace: names.of(shape.namespace), labels: shape.labels }, spec: spec as unknown as PodSpec };
}

/** The same with the names that the namespaces have in the cluster. */
function namespacedAffinity(names: ClusterNames, affinity: PodShape["affinity"]): PodShape["affinity"] {
  const rename = (term: PodAffinityTerm) => ({
    ...term,
    ...(term.namespaces && { namespaces: term.namespaces.map((name) => names.of(name)) }),
  });
  const side = (part: NonNullable<PodShape["affinity"]>["podAffinity"]) =>
    part && {
      requiredDuringSchedulingIgnoredDuringExecution: part.requiredDuringSchedulingIgnoredDuringExecution?.map(rename),
      preferredDuringSchedulingIgnoredDuringExecution: part.preferredDuringSchedulingIgnoredDuringExecution?.map((weighted) => ({
        ...weighted,
        podAffinityTerm: rename(weighted.podAffinityTerm),
      })),
    };
  if (affinity === undefined) return undefined;
  return JSON.parse(
    JSON.stringify({ ...affinity, podAffinity: side(affinity.podAffinity), podAntiAffinity: side(affinity.podAntiAffinity) }),
  ) as PodShape["affinity"];
}
