/** How many pods a PodDisruptionBudget expects, and how many of them must be healthy. Pure. */
import type { KubeObject, LabelSelector, OwnerReference, Pod, PodDisruptionBudget } from "@joinery/api";
import { controllerOf } from "./pod-facts.ts";
import { absoluteOf } from "./rollout.ts";

/** The replicas that the owner of a pod wants; `unscalable` where its kind has no scale. */
export type Scale =
  | { readonly kind: "scale"; readonly uid: string; readonly replicas: number }
  | { readonly kind: "unscalable"; readonly resource: string };

export type BudgetTarget =
  | { readonly kind: "target"; readonly expected: number; readonly desired: number; readonly hasUnmanaged: boolean }
  /** Nothing may be evicted until this is mended. */
  | { readonly kind: "failed"; readonly message: string };

export function budgetTarget(
  { spec }: PodDisruptionBudget,
  pods: readonly Pod[],
  scaleOf: (pod: Pod, owner: OwnerReference) => Scale,
): BudgetTarget {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable === undefined && minAvailable === undefined) {
    return { kind: "target", expected: 0, desired: 0, hasUnmanaged: false };
  }
  if (maxUnavailable === undefined && !isPercentage(minAvailable)) {
    return { kind: "target", expected: pods.length, desired: absoluteOf(minAvailable, pods.length, "up"), hasUnmanaged: false };
  }
  const scales = new Map<string, number>();
  let hasUnmanaged = false;
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (owner === undefined) {
      hasUnmanaged = true;
      continue;
    }
    const scale = scaleOf(pod, owner);
    if (scale.kind === "unscalable") {
      return { kind: "failed", message: `${scale.resource} does not implement the scale subresource` };
    }
    scales.set(scale.uid, scale.replicas);
  }
  const expected = [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
  const desired =
    maxUnavailable === undefined
      ? absoluteOf(minAvailable, expected, "up")
      : Math.max(0, expected - absoluteOf(maxUnavailable, expected, "up"));
  return { kind: "target", expected, desired, hasUnmanaged };
}

function isPercentage(value: unknown): boolean {
  return typeof value === "string" && value.endsWith("%");
}

/** The words of the disruption controller about pods that no controller owns. */
export function unmanagedMessage(budget: KubeObject & { readonly spec: { readonly selector?: LabelSelector } }): string {
  return (
    `Pods selected by this PodDisruptionBudget (selector: ${selectorText(budget.spec.selector)}) were found to be unmanaged. ` +
    "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
    'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
  );
}

function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): string {
  const labels = Object.keys(matchLabels)
    .sort()
    .map((name) => `${name}: ${matchLabels[name]},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
