/** Which pods of a ReplicaSet go first: the order that Kubernetes documents, least useful pod first. */
import type { Pod } from "@joinery/api";
import { isReady, readySinceMs, timeMs } from "./pod-facts.ts";

/** Pods with the lowest value are deleted first; absent counts as 0. */
const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

interface Ranked {
  readonly pod: Pod;
  readonly ranks: readonly number[];
}

/** First those to delete. Equal pods: younger first, then by name, so that a replay chooses the same. */
export function deletionOrder(pods: readonly Pod[], nowMs: number): Pod[] {
  const perNode = new Map<string, number>();
  for (const { spec } of pods) {
    if (spec.nodeName !== undefined) {
      perNode.set(spec.nodeName, (perNode.get(spec.nodeName) ?? 0) + 1);
    }
  }
  const ranked = pods.map((pod): Ranked => ({ pod, ranks: ranksOf(pod, perNode, nowMs) }));
  return ranked.sort((a, b) => compareRanks(a, b)).map(({ pod }) => pod);
}

function ranksOf(pod: Pod, perNode: ReadonlyMap<string, number>, nowMs: number): readonly number[] {
  const phases = ["Pending", "Unknown", "Running"];
  const restarts = (pod.status?.containerStatuses ?? []).reduce((sum, status) => sum + (status.restartCount ?? 0), 0);
  return [
    pod.spec.nodeName === undefined ? 0 : 1,
    phases.indexOf(pod.status?.phase ?? "Pending"),
    isReady(pod) ? 1 : 0,
    Number(pod.metadata?.annotations?.[DELETION_COST] ?? 0) || 0,
    -(perNode.get(pod.spec.nodeName ?? "") ?? 0),
    ageRank(nowMs - (readySinceMs(pod) ?? nowMs)),
    -restarts,
    ageRank(nowMs - timeMs(pod.metadata?.creationTimestamp)),
  ];
}

/** Ages are compared by their order of magnitude, so that the choice among pods of about one age is not always the same machine. */
function ageRank(ageMs: number): number {
  return ageMs <= 0 ? 0 : Math.floor(Math.log2(ageMs / 1000 + 1));
}

function compareRanks(a: Ranked, b: Ranked): number {
  for (const [at, rank] of a.ranks.entries()) {
    const difference = rank - (b.ranks[at] ?? 0);
    if (difference !== 0) {
      return difference;
    }
  }
  return (a.pod.metadata?.name ?? "") < (b.pod.metadata?.name ?? "") ? -1 : 1;
}
