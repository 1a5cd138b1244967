/** The input as the controller's caches would have it: pods in the state that a scheduler leaves them in, nodes with identities. */
import {
  type DaemonSet,
  DaemonSets,
  type Deployment,
  Deployments,
  type Kind,
  type KubeObject,
  type Node,
  type NodeClaim,
  NodeClaims,
  Nodes,
  type OwnerReference,
  PersistentVolumeClaims,
  type Pod,
  Pods,
  type ReplicaSet,
  ReplicaSets,
} from "@joinery/api";
import { isPlaceable } from "@joinery/scheduling";
import { expandWorkloads } from "./expand-workloads.ts";
import type { ObjectsOf } from "./file-kube-client.ts";
import type { ObjectSource } from "./input.ts";
import { admittedSpec, type ContainerDefaults, containerDefaults, type LimitRange } from "./limit-ranges.ts";
import { claimsFor } from "./made-claims.ts";
import { mergedAffinity } from "./merged-affinity.ts";

export interface ClusterObjects {
  readonly of: ObjectsOf;
  /** Every pod that the plan must place, by `namespace/name`. */
  readonly pending: readonly Pod[];
  /** NodeClaims that have no instance yet; their capacity cannot be counted. */
  readonly unlaunchedClaims: readonly string[];
}

export function clusterObjects(objects: ObjectSource): ClusterObjects {
  const defaults = defaultsByNamespace(objects.named<LimitRange>("v1", "LimitRange"));
  const daemonSetUids = new Map(objects.of(DaemonSets).map((set) => [nameIn(set), set.metadata?.uid ?? ""]));
  const pods = [...objects.of(Pods), ...expandWorkloads(objects)].map((pod) => asScheduled(pod, defaults, daemonSetUids));
  const claims = objects.of(NodeClaims);
  const replaced = new Map<Kind, readonly KubeObject[]>([
    [Pods, pods],
    [PersistentVolumeClaims, claimsFor(pods, objects)],
    [Nodes, objects.of(Nodes).map((node) => withProviderId(node, claims))],
    [ReplicaSets, [...objects.of(ReplicaSets), ...objects.of(Deployments).map(replicaSetToBe)]],
    [DaemonSets, objects.of(DaemonSets).map((set) => admittedDaemonSet(set, defaults))],
  ]);
  return {
    // What is replaced keeps its kind.
    of: <T extends KubeObject>(kind: Kind<T>) => (replaced.get(kind) ?? objects.of(kind)) as readonly T[],
    pending: pods.filter(isPlaceable),
    unlaunchedClaims: claims
      .filter(({ status, metadata }) => !status?.providerID && !metadata?.deletionTimestamp)
      .map(({ metadata }) => metadata?.name ?? ""),
  };
}

/** A pod that waits is one that the scheduler gave up on, whether or not the file says so (formats, "Pending"). */
function asScheduled(pod: Pod, defaults: ReadonlyMap<string, ContainerDefaults>, daemonSetUids: ReadonlyMap<string, string>): Pod {
  // What came from a server has been through admission already.
  const isStored = pod.metadata?.resourceVersion !== undefined;
  const admitted = admittedSpec(pod.spec, isStored ? undefined : defaults.get(pod.metadata?.namespace ?? ""));
  const { affinity } = admitted;
  const spec = affinity && !isStored ? { ...admitted, affinity: mergedAffinity(affinity, pod.metadata?.labels ?? {}) } : admitted;
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== "PodScheduled");
  const scheduled = { type: "PodScheduled", status: "False", reason: "Unschedulable" } as const;
  const conditions = isPlaceable(pod) ? [...others, scheduled] : others;
  return { ...pod, metadata: withDaemonSetUid(pod, daemonSetUids), spec, status: { ...pod.status, conditions } };
}

/** Owner references lead to UIDs; those of DaemonSets in the input count, also where they had to be made. */
function withDaemonSetUid({ metadata = {} }: Pod, uids: ReadonlyMap<string, string>): Pod["metadata"] {
  const { ownerReferences, namespace } = metadata;
  if (!ownerReferences?.some(({ kind }) => kind === "DaemonSet")) return metadata;
  const resolve = (reference: OwnerReference): OwnerReference => {
    const uid = reference.kind === "DaemonSet" ? uids.get(`${namespace}/${reference.name}`) : undefined;
    return uid === undefined ? reference : { ...reference, uid };
  };
  return { ...metadata, ownerReferences: ownerReferences.map(resolve) };
}

/** A Node is filed by its provider ID. One that a file leaves out is that of its NodeClaim, or made from its name. */
function withProviderId(node: Node, claims: readonly NodeClaim[]): Node {
  if (node.spec?.providerID) return node;
  const name = node.metadata?.name ?? "";
  const claim = claims.find(({ status }) => status?.nodeName === name);
  return { ...node, spec: { ...node.spec, providerID: claim?.status?.providerID ?? `file:///${name}` } };
}

/** In files a Deployment's pods name the Deployment: this stands for the ReplicaSet that selects them (S-159). */
function replicaSetToBe(deployment: Deployment): ReplicaSet {
  const { name, namespace, uid } = deployment.metadata ?? {};
  return { metadata: { name, namespace, uid: `${uid}-replicas` }, spec: deployment.spec };
}

function admittedDaemonSet(set: DaemonSet, defaults: ReadonlyMap<string, ContainerDefaults>): DaemonSet {
  const { spec } = set;
  const podSpec = admittedSpec(spec.template.spec, defaults.get(set.metadata?.namespace ?? ""));
  return { ...set, spec: { ...spec, template: { ...spec.template, spec: podSpec } } };
}

function defaultsByNamespace(ranges: readonly LimitRange[]): ReadonlyMap<string, ContainerDefaults> {
  const byNamespace = new Map<string, ContainerDefaults>();
  for (const [namespace, list] of Map.groupBy(ranges, ({ metadata }) => metadata?.namespace ?? "")) {
    const defaults = containerDefaults(list);
    if (defaults !== undefined) byNamespace.set(namespace, defaults);
  }
  return byNamespace;
}

function nameIn({ metadata }: KubeObject): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}
