/** Why one more pod may not go where the types that are left could be: the counts of a spread, the pods that an affinity is about. S-143…S-152. */
import type { Group } from "../topology/topology.ts";
import { type Asking, TopologyGroup } from "../topology/topology-group.ts";
import type { DomainFact } from "./residents.ts";

const DOMAINS_SHOWN_MAX = 8;

export interface CompanyQuestion {
  readonly group: Group;
  readonly asking: Asking;
  /** Domains in which the types are that are left. */
  readonly reachable: readonly string[];
  readonly residents: readonly DomainFact[];
}

/** A sentence without a full stop. */
export function companyText(question: CompanyQuestion): string {
  const { kind, isInverse } = question.group.identity;
  if (kind === "topology-spread") return spreadText(question);
  if (kind === "pod-affinity") return affinityText(question);
  return isInverse ? keptAwayText(question) : antiAffinityText(question);
}

/** The same of a place that is there, or planned: told for all such places together. */
export function placeText({ group, residents }: Pick<CompanyQuestion, "group" | "residents">): string {
  const { kind, key, maxSkew, isInverse } = group.identity;
  const who = `pods ${selectorText(group)}${namespacesText(group)}`;
  if (kind === "topology-spread") {
    const counts = group instanceof TopologyGroup ? countsText([...group.counts]) : "";
    return `one more pod there would pass maxSkew ${maxSkew} over ${key}${counts === "" ? "" : `, with ${counts}`}`;
  }
  if (kind === "pod-affinity")
    return `the pod must be beside ${who}, which are ${residents.length === 0 ? "nowhere" : `in ${residentsText(residents)}`}`;
  if (isInverse) return `the anti-affinity of pods in ${residentsText(residents)} keeps this pod away`;
  return `the pod must be apart from ${who}, which are in ${residentsText(residents)}`;
}

/** Domains with their counts, also those without pods. */
export function domainFacts({ group, residents }: Pick<CompanyQuestion, "group" | "residents">): readonly DomainFact[] {
  if (!(group instanceof TopologyGroup)) return residents;
  const known = new Map(residents.map((fact) => [fact.domain, fact]));
  return Array.from(group.counts, ([domain, pods]) => ({ ...(known.get(domain) ?? { domain, who: [] }), pods }));
}

function spreadText({ group, asking, reachable }: CompanyQuestion): string {
  const { maxSkew, minDomains, key } = group.identity;
  const counts = group instanceof TopologyGroup ? [...group.counts].filter(([domain]) => asking.pod?.has(domain) ?? true) : [];
  if (counts.length === 0) return `no pool and no node has the label ${key}, so that no node is in any domain of the spread`;
  const told = `maxSkew ${maxSkew} of pods ${selectorText(group)}, of which there are ${countsText(counts)}`;
  const few =
    minDomains > counts.length
      ? `; minDomains ${minDomains} are wanted and ${counts.length} ${counts.length === 1 ? "is" : "are"} there, so that none may hold more than ${maxSkew}`
      : "";
  return `${told}${few}; one more pod may go to ${namesText(openDomains(group, asking))}, and the types that are left are in ${namesText(reachable)}`;
}

function affinityText({ group, reachable, residents }: CompanyQuestion): string {
  const wish = `the pod must be beside pods ${selectorText(group)}${namespacesText(group)}`;
  if (residents.length === 0) return `${wish}, and there are none`;
  if (!(group instanceof TopologyGroup)) return `${wish}, which are on ${residentsText(residents)}: a new node has none of them`;
  return `${wish}, which are in ${residentsText(residents)}; the types that are left are in ${namesText(reachable)}`;
}

function antiAffinityText({ group, reachable, residents }: CompanyQuestion): string {
  const wish = `the pod must be apart from pods ${selectorText(group)}${namespacesText(group)}`;
  return `${wish}, which are in ${residentsText(residents)}; the types that are left are in ${namesText(reachable)}`;
}

function keptAwayText({ reachable, residents }: CompanyQuestion): string {
  return `the anti-affinity of pods in ${residentsText(residents)} keeps this pod away; the types that are left are in ${namesText(reachable)}`;
}

export function openDomains(group: Group, asking: Asking): readonly string[] {
  if (!(group instanceof TopologyGroup)) return [];
  return [...group.counts.keys()].filter((domain) => group.allowsAt(asking, domain) && (asking.pod?.has(domain) ?? true));
}

function countsText(counts: readonly (readonly [string, number])[]): string {
  const shown = counts.slice(0, DOMAINS_SHOWN_MAX).map(([domain, pods]) => `${pods} in ${domain}`);
  return counts.length > DOMAINS_SHOWN_MAX ? `${shown.join(", ")} and ${counts.length - DOMAINS_SHOWN_MAX} more domains` : shown.join(", ");
}

function residentsText(residents: readonly DomainFact[]): string {
  if (residents.length === 0) return "no domain";
  // Pods whose node may still be in several domains are in each of them.
  const groups = [...Map.groupBy(residents, ({ pods, who }) => `${pods} ${who.join()}`).values()];
  const shown = groups.slice(0, DOMAINS_SHOWN_MAX).map((group) => {
    const domains = namesText(group.map(({ domain }) => domain));
    return `${group.length === 1 ? domains : `one of ${domains}`} (${group[0]!.who.join(", ")})`;
  });
  return groups.length > DOMAINS_SHOWN_MAX ? `${shown.join(", ")} and ${groups.length - DOMAINS_SHOWN_MAX} more` : shown.join(", ");
}

function namesText(names: readonly string[]): string {
  if (names.length === 0) return "no domain";
  const shown = names.slice(0, DOMAINS_SHOWN_MAX).join(", ");
  return names.length > DOMAINS_SHOWN_MAX ? `${shown} and ${names.length - DOMAINS_SHOWN_MAX} more` : shown;
}

/** `app In a`, as the selector's own text has it. */
function selectorText({ identity: { selector } }: Group): string {
  if (selector.text === "") return "without a labelSelector";
  const expressions = JSON.parse(selector.text) as readonly string[];
  return expressions.length === 0 ? "of any labels" : `with ${expressions.map((text) => text.trimEnd()).join(", ")}`;
}

function namespacesText({ identity: { namespaces } }: Group): string {
  if (namespaces === undefined) return " in all namespaces";
  return ` in ${[...namespaces].sort().join(", ") || "no namespace"}`;
}
