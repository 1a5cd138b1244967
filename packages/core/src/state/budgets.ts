/** PodDisruptionBudgets that do not let a pod go: now, or ever. Rules S-16, L-54, L-71, D-46a…D-46d. */
import type { PodDisruptionBudget } from "@joinery/api";
import { matchesLabelSelector } from "@joinery/kube";
import { isEvictable, type PodRecord } from "./pod-record.ts";

/** Is an eviction of the pod refused whatever happens? Asked only of pods that could be evicted otherwise. */
export function isFullyBlocked(pod: PodRecord, budgets: Iterable<PodDisruptionBudget>, nowMs: number): boolean {
  return isRefused(pod, budgets, nowMs, ({ spec }) => isNone(spec.maxUnavailable) || spec.minAvailable === "100%");
}

/** L-71, D-46c: is it refused as things are? A budget that nobody has counted yet lets nobody go. */
export function isBlockedNow(pod: PodRecord, budgets: Iterable<PodDisruptionBudget>, nowMs: number): boolean {
  return isRefused(pod, budgets, nowMs, ({ status }) => (status?.disruptionsAllowed ?? 0) === 0);
}

function isRefused(
  pod: PodRecord,
  budgets: Iterable<PodDisruptionBudget>,
  nowMs: number,
  isClosed: (budget: PodDisruptionBudget) => boolean,
): boolean {
  if (!isEvictable(pod, nowMs)) return false;
  const matching: PodDisruptionBudget[] = [];
  for (const budget of budgets) {
    if (budget.metadata?.namespace === pod.metadata.namespace && matchesLabelSelector(budget.spec.selector, pod.shape.labels))
      matching.push(budget);
  }
  // Kubernetes evicts no pod of two budgets.
  if (matching.length > 1) return true;
  return matching.some((budget) => !(budget.spec.unhealthyPodEvictionPolicy === "AlwaysAllow" && pod.isUnready) && isClosed(budget));
}

/** The budgets that mean a pod. */
export type BudgetIndex = (pod: PodRecord) => readonly PodDisruptionBudget[];

/** For questions about all pods: each shape is matched once, not each pod. Good as long as the budgets are what they are. */
export function createBudgetIndex(budgets: Iterable<PodDisruptionBudget>): BudgetIndex {
  const byNamespace = Map.groupBy(budgets, ({ metadata }) => metadata?.namespace);
  const byShape = new Map<PodRecord["shape"], readonly PodDisruptionBudget[]>();
  return ({ shape, metadata: { namespace } }) => {
    const known = byShape.get(shape);
    if (known !== undefined) return known;
    const matching = (byNamespace.get(namespace) ?? []).filter(({ spec }) => matchesLabelSelector(spec.selector, shape.labels));
    byShape.set(shape, matching);
    return matching;
  };
}

function isNone(maxUnavailable: string | number | undefined): boolean {
  return maxUnavailable === 0 || maxUnavailable === "0" || maxUnavailable === "0%";
}
