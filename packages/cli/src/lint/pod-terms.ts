/** Required pod affinity and anti-affinity of workloads, and whose pods they mean. Rules S-149…S-156. */
import { Namespaces, normalizeLabel, type PodAffinityTerm } from "@joinery/api";
import { matchesLabelSelector } from "@joinery/kube";
import type { FieldPath } from "../manifests/field-path.ts";
import type { Facts } from "./facts.ts";
import type { Workload } from "./workloads.ts";

export interface PodTermFacts {
  readonly side: "podAffinity" | "podAntiAffinity";
  readonly term: PodAffinityTerm;
  /** The label that it really means (S-28). */
  readonly key: string;
  readonly path: FieldPath;
}

export function requiredPodTerms({ spec, path }: Workload): readonly PodTermFacts[] {
  return (["podAffinity", "podAntiAffinity"] as const).flatMap((side) =>
    (spec.affinity?.[side]?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term, index) => ({
      side,
      term,
      key: normalizeLabel(term.topologyKey),
      path: [...path, "spec", "affinity", side, "requiredDuringSchedulingIgnoredDuringExecution", index],
    })),
  );
}

/** Do the pods of the workload mean each other? */
export function meansItself(
  { term: { labelSelector, namespaces = [], namespaceSelector } }: PodTermFacts,
  { namespace, labels }: Workload,
): boolean {
  const isInScope = namespaceSelector !== undefined || namespaces.length === 0 || namespaces.includes(namespace);
  return isInScope && labelSelector !== undefined && matchesLabelSelector(labelSelector, labels);
}

/** Workloads of the namespaces that the term is about; undefined where these cannot be known from the input. */
export function workloadsInScope(
  { term: { namespaces = [], namespaceSelector } }: PodTermFacts,
  { namespace }: Workload,
  { workloads, objects }: Facts,
): readonly Workload[] | undefined {
  const chosen = new Set(namespaces.length === 0 && namespaceSelector === undefined ? [namespace] : namespaces);
  if (namespaceSelector !== undefined) {
    const known = objects.of(Namespaces);
    if (known.length === 0) return undefined;
    for (const { object } of known) {
      if (matchesLabelSelector(namespaceSelector, object.metadata?.labels)) chosen.add(object.metadata?.name ?? "");
    }
  }
  return workloads.filter((other) => chosen.has(other.namespace));
}
