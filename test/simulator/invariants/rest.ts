/** What must hold once the weather is calm: every wish is met, wish and machines agree, and every replica knows what is. */
import { type Deployment, findCondition, type KubeObject, type Pod, type StatefulSet } from "@joinery/api";
import { keyOf } from "@joinery/kube";
import type { World } from "@joinery/sandbox";
import type { Gates } from "../gates.ts";
import type { Replica } from "../replica.ts";
import { isEndedPod, isReadyPod, type Truth } from "../truth.ts";
import { derivedFaults } from "./derived-state.ts";
import { unmetWishes } from "./wished-capacity.ts";

export interface RestOptions {
  readonly truth: Truth;
  readonly world: World;
  readonly replicas: () => readonly Replica[];
  readonly gates: Gates;
}

/** Why the cluster is not at rest; empty when it is. The first few reasons are enough. */
export function unrest({ truth, world, replicas }: RestOptions): readonly string[] {
  const reasons: string[] = [];
  const { store } = world.apiServer.inside.backend;
  const leaders = replicas().filter(({ process }) => process.isLeading);
  if (leaders.length !== 1) reasons.push(`${leaders.length} replicas lead`);
  for (const pod of truth.pods()) {
    if (isEndedPod(pod) || isHomeless(pod)) continue;
    if (!isReadyPod(pod) || pod.metadata?.deletionTimestamp !== undefined) {
      reasons.push(
        `pod ${pod.metadata?.name} on ${pod.spec.nodeName ?? "no node"} is ${pod.metadata?.deletionTimestamp ? "leaving" : pod.status?.phase}`,
      );
    }
  }
  for (const id of ["apps/deployments", "apps/statefulsets"]) {
    for (const { metadata, spec, status } of store.collection(id).values() as unknown as Iterable<Deployment & StatefulSet>) {
      const ready = (status as { readyReplicas?: number } | undefined)?.readyReplicas ?? 0;
      if (ready !== spec.replicas) reasons.push(`${metadata?.name} has ${ready} of ${spec.replicas} pods`);
    }
  }
  const living = truth.living().map(({ providerId }) => providerId);
  const claimed: string[] = [];
  for (const claim of truth.claims()) {
    const { name, deletionTimestamp } = claim.metadata ?? {};
    claimed.push(claim.status?.providerID ?? `none of ${name}`);
    if (deletionTimestamp !== undefined) reasons.push(`NodeClaim ${name} is leaving`);
    else if (findCondition(claim, "Ready")?.status !== "True") reasons.push(`NodeClaim ${name} is not ready`);
  }
  const nodes = [...truth.nodes()].map(({ spec, metadata }) => spec?.providerID ?? `none of ${metadata?.name}`);
  if (!isSame(living, claimed)) reasons.push(`instances ${living.sort()} and NodeClaims' ${claimed.sort()} differ`);
  if (!isSame(living, nodes)) reasons.push(`instances ${living.sort()} and Nodes' ${nodes.sort()} differ`);
  return [...reasons, ...unmetWishes(truth)];
}

/** A DaemonSet's pod for a node that was full before the DaemonSet came: nobody but a preempting scheduler could help it. */
function isHomeless({ metadata, spec }: Pod): boolean {
  return !spec.nodeName && metadata?.ownerReferences?.some(({ kind }) => kind === "DaemonSet") === true;
}

/** Where a replica's caches are not what the API server has. */
export function staleness({ world, truth, replicas, gates }: RestOptions): readonly string[] {
  const { store } = world.apiServer.inside.backend;
  const reasons: string[] = [];
  for (const { name, process } of replicas()) {
    for (const [cacheName, id] of gates === "all" ? [...CACHED, ...GATED] : CACHED) {
      const cache = process.controller.caches[cacheName];
      const kept = new Map<string, string | undefined>();
      for (const object of cache.values() as Iterable<KubeObject>) kept.set(keyOf(object), object.metadata?.resourceVersion);
      for (const object of store.collection(id).values() as unknown as Iterable<KubeObject>) {
        const key = keyOf(object);
        if (!kept.has(key)) reasons.push(`${name} does not know ${id} ${key}`);
        else if (kept.get(key) !== object.metadata?.resourceVersion) reasons.push(`${name} knows an old ${id} ${key}`);
        kept.delete(key);
      }
      for (const key of kept.keys()) reasons.push(`${name} still knows ${id} ${key}`);
    }
    const { cluster } = process.controller;
    if (cluster !== undefined) for (const fault of derivedFaults(cluster, truth)) reasons.push(`${name} ${fault}`);
  }
  return reasons;
}

const CACHED = [
  ["pods", "pods"],
  ["nodes", "nodes"],
  ["nodeClaims", "karpenter.sh/nodeclaims"],
  ["nodePools", "karpenter.sh/nodepools"],
  ["daemonSets", "apps/daemonsets"],
  ["budgets", "policy/poddisruptionbudgets"],
  ["namespaces", "namespaces"],
  ["claims", "persistentvolumeclaims"],
  ["volumes", "persistentvolumes"],
  ["storageClasses", "storage.k8s.io/storageclasses"],
  ["csiNodes", "storage.k8s.io/csinodes"],
  ["volumeAttachments", "storage.k8s.io/volumeattachments"],
] as const;

/** Watched only where a feature gate is on. */
const GATED = [
  ["nodeOverlays", "karpenter.sh/nodeoverlays"],
  ["buffers", "autoscaling.x-k8s.io/capacitybuffers"],
] as const;

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.toSorted().join() === other.toSorted().join();
}
