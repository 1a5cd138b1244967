/** Required pod affinity that nothing can ever meet. Rules S-135, S-149, S-150. */
import { HOSTNAME_LABEL } from "@joinery/api";
import { matchesLabelSelector } from "@joinery/kube";
import { nearWord } from "@joinery/scheduling";
import type { Facts } from "../facts.ts";
import type { Remark } from "../finding.ts";
import { knownLabels } from "../known-labels.ts";
import { meansItself, type PodTermFacts, requiredPodTerms, workloadsInScope } from "../pod-terms.ts";
import type { Rule } from "../rule.ts";
import type { Workload } from "../workloads.ts";

export const affinityWithoutMatch: Rule = {
  name: "affinity-without-match",
  severity: "error",
  summary: "A required pod affinity selects no pods, or is over a label that no node has, so the pods are never placed.",
  *check(facts) {
    for (const workload of facts.workloads) {
      if (workload.kind === "DaemonSet" || workload.isRunning) continue;
      for (const term of requiredPodTerms(workload)) yield* domainsOf(term, workload, facts);
      for (const term of requiredPodTerms(workload)) if (term.side === "podAffinity") yield* matchesOf(term, workload, facts);
    }
  },
};

function* domainsOf({ side, key, path }: PodTermFacts, { manifest }: Workload, facts: Facts): Iterable<Remark> {
  const labels = knownLabels(facts);
  if (facts.pools.length === 0 || key === HOSTNAME_LABEL || labels.hasKey(key)) return;
  const what = side === "podAffinity" ? "affinity" : "anti-affinity";
  yield {
    severity: "error",
    manifest,
    path: [...path, "topologyKey"],
    message: `no pool and no node of the input has the label ${key}, so the ${what} over it keeps these pods from every new node`,
    instead: labels.findIntendedKey(key) ?? "a label that pools give their nodes, or one of the well-known labels",
  };
}

/** Said only where the namespaces that are meant have other workloads in the input, or another namespace has the pods that are selected. */
function* matchesOf(term: PodTermFacts, workload: Workload, facts: Facts): Iterable<Remark> {
  const { labelSelector } = term.term;
  const others = workloadsInScope(term, workload, facts)?.filter(({ key }) => key !== workload.key) ?? [];
  const isPartial = labelSelector !== undefined && others.length === 0;
  if (meansItself(term, workload) || (isPartial && findElsewhere(term, facts) === undefined)) return;
  if (labelSelector !== undefined && others.some(({ labels }) => matchesLabelSelector(labelSelector, labels))) return;
  yield {
    severity: isPartial ? "warning" : "error",
    manifest: workload.manifest,
    path: labelSelector === undefined ? term.path : [...term.path, "labelSelector"],
    message:
      labelSelector === undefined
        ? "there is no labelSelector, which selects no pods, so there is nothing that these pods could be beside, and they are never placed"
        : "the labelSelector matches no pod or pod template of its namespaces in the input, so there is nothing that these pods could be beside, and they are never placed",
    instead: insteadOf(term, facts, others),
  };
}

function findElsewhere({ term: { labelSelector } }: PodTermFacts, { workloads }: Facts): Workload | undefined {
  return labelSelector && workloads.find(({ labels }) => matchesLabelSelector(labelSelector, labels));
}

function insteadOf(term: PodTermFacts, facts: Facts, others: readonly Workload[]): string {
  const { labelSelector } = term.term;
  const elsewhere = findElsewhere(term, facts);
  if (elsewhere !== undefined) return `namespaces: [${elsewhere.namespace}], where ${elsewhere.kind}/${elsewhere.name} has these labels`;
  for (const [key, value] of Object.entries(labelSelector?.matchLabels ?? {})) {
    const near = nearWord(
      value,
      others.flatMap(({ labels }) => labels[key] ?? []),
    );
    if (near !== undefined && near !== value) return `${key}: ${near}`;
  }
  return "labels of the pods that are meant, or a preferred affinity";
}
