/** Affinity and anti-affinity between pods: required terms of the pod and of those that run; preferred terms of the pod as a score. */
import type { LabelSelector, Pod, PodAffinityTerm } from "@joinery/api";
import { matchesLabelSelector } from "@joinery/kube";
import { canonicalJson } from "../controllers/fnv.ts";
import type { PodInfo } from "./pod-info.ts";
import { type Refusal, resolvable, unresolvable } from "./refusal.ts";
import type { NodeInfo, Snapshot } from "./snapshot.ts";

/** Labels of a namespace, for namespace selectors. */
export type NamespaceLabels = (namespace: string) => Readonly<Record<string, string>> | undefined;

interface TermState {
  readonly topologyKey: string;
  /** Domain → matching pods. */
  readonly perDomain: ReadonlyMap<string, number>;
  readonly weight: number;
}

export interface InterPodState {
  readonly wanted: readonly TermState[];
  readonly unwanted: readonly TermState[];
  /** Domains that pods which run keep this pod out of: topology key → values. */
  readonly guarded: ReadonlyMap<string, ReadonlySet<string>>;
  /** The first pod of a group that wants to be with its like may go anywhere. */
  readonly mayStartGroup: boolean;
}

export function interPodState(info: PodInfo, snapshot: Snapshot, namespaceLabels: NamespaceLabels): InterPodState {
  const { podAffinity, podAntiAffinity } = info.pod.spec.affinity ?? {};
  const wantedTerms = podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  // A pod draws another near only if all terms mean it; each of them then counts it by its own key.
  const wanted = wantedTerms.map((term) => termState(info, snapshot, term, namespaceLabels, { all: wantedTerms }));
  const unwanted = (podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) =>
    termState(info, snapshot, term, namespaceLabels),
  );
  const mayStartGroup =
    wanted.length > 0 &&
    wanted.every(({ perDomain }) => perDomain.size === 0) &&
    wantedTerms.every((term) => matchesPodTerm(term, info.pod, info, namespaceLabels));
  return { wanted, unwanted, guarded: guardedDomains(info, snapshot, namespaceLabels), mayStartGroup };
}

export function isInterPodFree({ pod }: PodInfo, snapshot: Snapshot): boolean {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  return podAffinity === undefined && podAntiAffinity === undefined && snapshot.antiAffinity()[Symbol.iterator]().next().done === true;
}

function guardedDomains(info: PodInfo, snapshot: Snapshot, namespaceLabels: NamespaceLabels): Map<string, Set<string>> {
  const guarded = new Map<string, Set<string>>();
  for (const { term, namespace, perNode } of snapshot.antiAffinity()) {
    if (!matchesPodTerm(term, undefined, { namespace }, namespaceLabels, info)) {
      continue;
    }
    const domains = guarded.get(term.topologyKey) ?? new Set<string>();
    guarded.set(term.topologyKey, domains);
    for (const name of perNode.keys()) {
      const domain = snapshot.nodes.get(name)?.labels[term.topologyKey];
      if (domain !== undefined) {
        domains.add(domain);
      }
    }
  }
  return guarded;
}

interface TermOptions {
  readonly weight?: number;
  /** Terms that a pod must match to be counted; the term alone when absent. */
  readonly all?: readonly PodAffinityTerm[];
}

function termState(
  info: PodInfo,
  snapshot: Snapshot,
  term: PodAffinityTerm,
  namespaceLabels: NamespaceLabels,
  { weight = 1, all = [term] }: TermOptions = {},
): TermState {
  const key = `inter-pod/${info.namespace}/${canonicalJson(all.map((one) => [one, ownLabels(one, info.pod)]))}`;
  const counts = snapshot.counts(key, (other) => all.every((one) => matchesPodTerm(one, info.pod, info, namespaceLabels, other)));
  const perDomain = new Map<string, number>();
  for (const [name, count] of counts) {
    const domain = snapshot.nodes.get(name)?.labels[term.topologyKey];
    if (domain !== undefined && count > 0) {
      perDomain.set(domain, (perDomain.get(domain) ?? 0) + count);
    }
  }
  return { topologyKey: term.topologyKey, perDomain, weight };
}

/** Whether `other` is meant by a term of a pod in `holder.namespace`. */
function matchesPodTerm(
  term: PodAffinityTerm,
  carrier: Pod | undefined,
  holder: { readonly namespace: string },
  namespaceLabels: NamespaceLabels,
  other: { readonly pod: Pod; readonly namespace: string } | undefined = undefined,
): boolean {
  const target = other ?? (carrier === undefined ? undefined : { pod: carrier, namespace: holder.namespace });
  if (target === undefined) {
    return false;
  }
  const { namespaces = [], namespaceSelector } = term;
  const isNamed =
    namespaces.includes(target.namespace) ||
    (namespaces.length === 0 && namespaceSelector === undefined && target.namespace === holder.namespace);
  const isChosen = namespaceSelector !== undefined && matchesLabelSelector(namespaceSelector, namespaceLabels(target.namespace));
  return (isNamed || isChosen) && matchesLabelSelector(selectorOf(term, carrier), target.pod.metadata?.labels);
}

function selectorOf(term: PodAffinityTerm, carrier: Pod | undefined): LabelSelector | undefined {
  const own = carrier === undefined ? [] : ownLabels(term, carrier);
  return term.labelSelector === undefined || own.length === 0
    ? term.labelSelector
    : { ...term.labelSelector, matchExpressions: [...(term.labelSelector.matchExpressions ?? []), ...own] };
}

function ownLabels({ matchLabelKeys = [], mismatchLabelKeys = [] }: PodAffinityTerm, pod: Pod) {
  const terms = (keys: readonly string[], operator: "In" | "NotIn") =>
    keys.flatMap((key) => {
      const value = pod.metadata?.labels?.[key];
      return value === undefined ? [] : [{ key, operator, values: [value] }];
    });
  return [...terms(matchLabelKeys, "In"), ...terms(mismatchLabelKeys, "NotIn")];
}

export function refuseByInterPod({ wanted, unwanted, guarded, mayStartGroup }: InterPodState, node: NodeInfo): Refusal | undefined {
  for (const { topologyKey, perDomain } of wanted) {
    const domain = node.labels[topologyKey];
    if (domain === undefined || (!perDomain.has(domain) && !mayStartGroup)) {
      return unresolvable("node(s) didn't match pod affinity rules");
    }
  }
  for (const { topologyKey, perDomain } of unwanted) {
    const domain = node.labels[topologyKey];
    if (domain !== undefined && perDomain.has(domain)) {
      return resolvable("node(s) didn't match pod anti-affinity rules");
    }
  }
  for (const [topologyKey, domains] of guarded) {
    const domain = node.labels[topologyKey];
    if (domain !== undefined && domains.has(domain)) {
      return resolvable("node(s) didn't satisfy existing pods anti-affinity rules");
    }
  }
  return undefined;
}

/** Sum of the weights of preferred terms, scaled to 0…100 over the candidates. */
export function interPodScores(
  info: PodInfo,
  snapshot: Snapshot,
  namespaceLabels: NamespaceLabels,
  candidates: readonly NodeInfo[],
): number[] {
  const { podAffinity, podAntiAffinity } = info.pod.spec.affinity ?? {};
  const states = [
    ...(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ weight, podAffinityTerm }) =>
      termState(info, snapshot, podAffinityTerm, namespaceLabels, { weight }),
    ),
    ...(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ weight, podAffinityTerm }) =>
      termState(info, snapshot, podAffinityTerm, namespaceLabels, { weight: -weight }),
    ),
  ];
  const sums = candidates.map((node) =>
    states.reduce((sum, { topologyKey, perDomain, weight }) => sum + weight * (perDomain.get(node.labels[topologyKey] ?? "") ?? 0), 0),
  );
  const most = Math.max(...sums);
  const least = Math.min(...sums);
  return sums.map((sum) => (most === least ? 0 : (100 * (sum - least)) / (most - least)));
}
