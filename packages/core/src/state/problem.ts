/** The scheduling problem of this moment, made by borrowing from the cluster's state. Rules S-7, S-14…S-18, S-72…S-77, L-54. */
import type { LabelVocabulary } from "@joinery/api";
import { subtractResources } from "@joinery/api";
import {
  type Backers,
  type DefaultSpread,
  type ExistingNode,
  type PodToPlace,
  type PoolOffer,
  type Problem,
  type Reason,
  type SolveOptions,
  validatePodForScheduling,
} from "@joinery/scheduling";
import { boundPods, labelsByNamespace } from "./bound-pods.ts";
import { isFullyBlocked } from "./budgets.ts";
import type { Caches } from "./caches.ts";
import type { Cluster } from "./cluster.ts";
import { isProtected, isReschedulable, type PodRecord, podKey } from "./pod-record.ts";
import { backersOf } from "./selectors.ts";
import { allocatableOf, capacityOf, isInitialized, type StateNode, siteOf } from "./state-node.ts";
import { volumeClaims, volumeFaults, volumeLimits } from "./volume-claims.ts";

export interface ProblemInputs {
  readonly cluster: Cluster;
  readonly caches: Caches;
  readonly pools: readonly PoolOffer[];
  readonly options: SolveOptions;
  readonly vocabulary: LabelVocabulary;
  readonly nowMs: number;
  /** Constraints for pods that have none themselves (S-158). */
  readonly defaultSpread?: DefaultSpread;
  /** Of CapacityBuffers (S-201); they are not validated and not among the view's `pods`. */
  readonly virtualPods?: readonly PodToPlace[];
}

export interface RejectedPod {
  readonly pod: PodRecord;
  readonly reasons: readonly Reason[];
}

export interface ProblemView {
  readonly problem: Problem;
  /** S-18: pods that no plan may be made for, and why. */
  readonly rejected: readonly RejectedPod[];
  /** The pods of the problem by key. */
  readonly pods: ReadonlyMap<string, PodRecord>;
  /** State node by the name that it has in the problem. */
  readonly nodeKeys: ReadonlyMap<string, string>;
}

/** Nodes are read before pods, so that capacity is never underestimated (S-7). Reads only; allocates per node and pod, not per pair. */
export function problemAt({
  cluster,
  caches,
  pools,
  options,
  vocabulary,
  nowMs,
  defaultSpread,
  virtualPods = [],
}: ProblemInputs): ProblemView {
  const nodes: ExistingNode[] = [];
  const nodeKeys = new Map<string, string>();
  const leaving: StateNode[] = [];
  for (const state of cluster.nodes()) {
    if (cluster.isMarked(state)) leaving.push(state);
    else {
      const node = existingNode(state, cluster, caches);
      nodeKeys.set(node.name, state.key);
      nodes.push(node);
    }
  }
  const { accepted, rejected } = pendingPods(cluster, caches, vocabulary);
  const chosen = [...accepted, ...podsOf(leaving, caches, nowMs)];
  const pods = new Map(chosen.map((pod) => [podKey(pod), pod]));
  const bound = boundPods(cluster, pods.values());
  return {
    problem: {
      pods: withDefaultSpread([...pods.values()].map(podToPlace), virtualPods, pods, caches, defaultSpread),
      nodes,
      pools,
      daemonSets: cluster.daemonSets.all(),
      boundPods: bound,
      claims: volumeClaims(pods.values(), bound, caches),
      namespaces: labelsByNamespace(caches),
      options,
    },
    rejected,
    pods,
    nodeKeys,
  };
}

function existingNode(state: StateNode, cluster: Cluster, caches: Caches): ExistingNode {
  const limits = state.node && volumeLimits(state.node.metadata.name, caches);
  const { requests, daemonSetRequests } = cluster.usageOf(state);
  return {
    ...siteOf(state),
    capacity: capacityOf(state),
    available: subtractResources(allocatableOf(state), requests),
    daemonSetRequests,
    isInitialized: isInitialized(state),
    ...(limits && { volumeLimits: limits }),
  };
}

function pendingPods(cluster: Cluster, caches: Caches, vocabulary: LabelVocabulary): { accepted: PodRecord[]; rejected: RejectedPod[] } {
  const accepted: PodRecord[] = [];
  const rejected: RejectedPod[] = [];
  const verdicts = new Map<PodRecord["shape"], readonly Reason[]>();
  for (const pod of cluster.provisionable()) {
    const reasons = verdicts.get(pod.shape) ?? [...validatePodForScheduling(pod.shape, vocabulary), ...volumeFaults(pod.shape, caches)];
    verdicts.set(pod.shape, reasons);
    if (reasons.length === 0) accepted.push(pod);
    else rejected.push({ pod, reasons });
  }
  return { accepted, rejected };
}

/** S-15, L-54: what has to go somewhere else when its node leaves. */
function* podsOf(leaving: readonly StateNode[], caches: Caches, nowMs: number): Iterable<PodRecord> {
  for (const { node } of leaving) {
    if (node === undefined) continue;
    for (const pod of caches.pods.by("node", node.metadata.name)) {
      if (!isReschedulable(pod)) continue;
      if (pod.deletingAtMs === undefined && isProtected(pod, nowMs)) continue;
      if (!isFullyBlocked(pod, caches.budgets.values(), nowMs)) yield pod;
    }
  }
}

/** S-158: also of pods that do not exist yet. */
function withDefaultSpread(
  pods: readonly PodToPlace[],
  virtualPods: readonly PodToPlace[],
  records: ReadonlyMap<string, PodRecord>,
  { selectors }: Caches,
  spread: DefaultSpread | undefined,
): readonly PodToPlace[] {
  const all = [...pods, ...virtualPods];
  if (spread === undefined || spread.isEmpty || selectors === undefined) return all;
  const backers = new Map<string, Backers>();
  return all.map((pod) => {
    const { shape, key, buffer } = pod;
    const controllerPath = buffer === undefined ? records.get(key)!.controllerPath : "";
    const path = `${shape.namespace} ${controllerPath}`;
    const known = backers.get(path) ?? backersOf(selectors, shape.namespace, controllerPath);
    backers.set(path, known);
    const spreadShape = spread.shapeFor(shape, known);
    return spreadShape === shape ? pod : { ...pod, shape: spreadShape };
  });
}

function podToPlace(pod: PodRecord): PodToPlace {
  return { key: podKey(pod), uid: pod.metadata.uid, createdAtMs: pod.createdAtMs, shape: pod.shape };
}
