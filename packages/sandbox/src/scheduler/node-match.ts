/** Node selectors, node affinity and tolerations against one node. Pure; the meaning is that of Kubernetes. */
import {
  type NodeSelectorRequirement,
  type NodeSelectorTerm,
  operatorHolds,
  type Pod,
  type Taint,
  type Toleration,
  tolerates,
} from "@joinery/api";

type Labels = Readonly<Record<string, string>>;

export interface MatchableNode {
  readonly name: string;
  readonly labels: Labels;
}

export function matchesNodeAffinity({ spec }: Pod, node: MatchableNode): boolean {
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) {
    if (node.labels[key] !== value) {
      return false;
    }
  }
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(term, node));
}

/** An empty term matches nothing. */
export function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: MatchableNode): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) {
    return false;
  }
  return (
    matchExpressions.every((requirement) => matchesRequirement(requirement, node.labels[requirement.key])) &&
    matchFields.every((requirement) => requirement.key === "metadata.name" && matchesRequirement(requirement, node.name))
  );
}

export function matchesRequirement({ operator, values }: NodeSelectorRequirement, value: string | undefined): boolean {
  return operatorHolds(operator, value, values);
}

export function isTolerated(taint: Taint, tolerations: readonly Toleration[] | undefined): boolean {
  return (tolerations ?? []).some((toleration) => tolerates(toleration, taint));
}

/** The first taint that keeps the pod away; PreferNoSchedule never does. */
export function findUntolerated(taints: readonly Taint[], tolerations: readonly Toleration[] | undefined): Taint | undefined {
  return taints.find((taint) => taint.effect !== "PreferNoSchedule" && !isTolerated(taint, tolerations));
}

/** The only nodes that the pod may go to by name, as DaemonSet pods say it; undefined when names do not matter. */
export function namedNodes({ spec }: Pod): ReadonlySet<string> | undefined {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const names = new Set<string>();
  for (const { matchFields = [] } of terms) {
    const named = matchFields.find(({ key, operator }) => key === "metadata.name" && operator === "In");
    if (named === undefined) {
      return undefined;
    }
    for (const name of named.values ?? []) {
      names.add(name);
    }
  }
  return terms.length === 0 ? undefined : names;
}
