/** Affinity as the API server stores it: keys whose values a pod matches by become part of the selector. Rule S-138. */
import type { Affinity, LabelSelectorRequirement, PodAffinity, PodAffinityTerm } from "@joinery/api";

type Labels = Readonly<Record<string, string>>;

/** The same object where no term names such keys. Keys that the pod lacks say nothing. */
export function mergedAffinity(affinity: Affinity, labels: Labels): Affinity {
  const { podAffinity, podAntiAffinity } = affinity;
  if (!hasKeys(podAffinity) && !hasKeys(podAntiAffinity)) return affinity;
  return {
    ...affinity,
    ...(podAffinity && { podAffinity: merged(podAffinity, labels) }),
    ...(podAntiAffinity && { podAntiAffinity: merged(podAntiAffinity, labels) }),
  };
}

function termsOf({ requiredDuringSchedulingIgnoredDuringExecution: required = [], ...rest }: PodAffinity): readonly PodAffinityTerm[] {
  return [...required, ...(rest.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm)];
}

function hasKeys(affinity: PodAffinity | undefined): boolean {
  return affinity !== undefined && termsOf(affinity).some(({ matchLabelKeys, mismatchLabelKeys }) => matchLabelKeys ?? mismatchLabelKeys);
}

function merged(affinity: PodAffinity, labels: Labels): PodAffinity {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution: preferred } = affinity;
  return {
    ...(required && { requiredDuringSchedulingIgnoredDuringExecution: required.map((term) => mergedTerm(term, labels)) }),
    ...(preferred && {
      preferredDuringSchedulingIgnoredDuringExecution: preferred.map(({ weight, podAffinityTerm }) => ({
        weight,
        podAffinityTerm: mergedTerm(podAffinityTerm, labels),
      })),
    }),
  };
}

/** A term without a selector selects nothing, whatever its keys are. */
function mergedTerm(term: PodAffinityTerm, labels: Labels): PodAffinityTerm {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [], ...rest } = term;
  if (labelSelector === undefined) return rest;
  const more = [...expressions(matchLabelKeys, "In", labels), ...expressions(mismatchLabelKeys, "NotIn", labels)];
  if (more.length === 0) return { ...rest, labelSelector };
  return { ...rest, labelSelector: { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...more] } };
}

function expressions(keys: readonly string[], operator: "In" | "NotIn", labels: Labels): readonly LabelSelectorRequirement[] {
  return keys.flatMap((key) => (labels[key] === undefined ? [] : [{ key, operator, values: [labels[key]] }]));
}
