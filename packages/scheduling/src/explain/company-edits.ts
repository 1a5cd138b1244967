/** Edits of what a pod asks of other pods: spreads, affinity, anti-affinity, ports of the host. Rules S-120, S-144, S-149…S-152. */
import { HOSTNAME_LABEL, normalizeLabel, type PodAffinityTerm, type TopologySpreadConstraint } from "@joinery/api";
import type { PodShape, Problem } from "../problem.ts";
import { podSelector } from "../topology/label-selector.ts";
import type { Group } from "../topology/topology.ts";
import { TopologyGroup } from "../topology/topology-group.ts";
import type { AskedPool, Candidate } from "./candidate-edits.ts";
import type { Edit } from "./edit.ts";
import { knownKeys } from "./label-edits.ts";
import { nearKey, nearWord } from "./near-word.ts";

/** Keys, labels and namespaces that are nearly, or elsewhere, what the pod names. */
export function companyCorrections(pools: readonly AskedPool[], shape: PodShape, problem: Problem): Edit[] {
  const keys = knownKeys(pools);
  const meantKey = (key: string) => (keys.has(normalizeLabel(key)) ? undefined : nearKey(key, keys));
  const spreads = hardSpreads(shape).flatMap(({ index, spread }): Edit[] => {
    const topologyKey = meantKey(spread.topologyKey);
    return topologyKey === undefined ? [] : [{ kind: "spread", index, from: spread, to: { ...spread, topologyKey } }];
  });
  const terms = requiredTerms(shape, "podAffinity").flatMap(({ index, term }): Edit[] => {
    const topologyKey = meantKey(term.topologyKey);
    const meant = topologyKey === undefined ? meantTerms(term, shape, problem) : [{ ...term, topologyKey }];
    return meant.map((to) => ({ kind: "pod-term", side: "podAffinity", index, from: term, to }));
  });
  return [...spreads, ...terms];
}

/** Of a term that selects no pod. */
function meantTerms(term: PodAffinityTerm, { namespace }: PodShape, problem: Problem): PodAffinityTerm[] {
  const shapes = [...new Set([...problem.pods, ...(problem.boundPods ?? [])].map(({ shape }) => shape))];
  const { selects } = podSelector(term.labelSelector);
  const isInScope = scopeOf(term, namespace, problem);
  const meant = shapes.filter(({ labels }) => selects(labels));
  if (meant.some((shape) => isInScope(shape.namespace))) return [];
  const elsewhere = [...new Set(meant.map((shape) => shape.namespace))];
  if (elsewhere.length === 1) return meantNamespaces(term, elsewhere[0]!, problem);
  const { matchLabels } = term.labelSelector ?? {};
  return Object.entries(matchLabels ?? {}).flatMap(([key, value]): PodAffinityTerm[] => {
    const near = nearWord(
      value,
      shapes.flatMap((shape) => (isInScope(shape.namespace) ? (shape.labels[key] ?? []) : [])),
    );
    return near === undefined || near === value
      ? []
      : [{ ...term, labelSelector: { ...term.labelSelector, matchLabels: { ...matchLabels, [key]: near } } }];
  });
}

/** Does the term look at the namespace? S-156. */
function scopeOf({ namespaces = [], namespaceSelector }: PodAffinityTerm, own: string, problem: Problem): (name: string) => boolean {
  const named = new Set(namespaces.length === 0 && namespaceSelector === undefined ? [own] : namespaces);
  if (namespaceSelector === undefined) return (name) => named.has(name);
  const { selects } = podSelector(namespaceSelector);
  return (name) => named.has(name) || selects(problem.namespaces?.get(name) ?? {});
}

/** A value of the namespace selector as the namespace has it; where one value is not all, the namespace by its name. */
function meantNamespaces(term: PodAffinityTerm, name: string, { namespaces }: Problem): PodAffinityTerm[] {
  const { namespaceSelector, ...rest } = term;
  const labels = namespaces?.get(name) ?? {};
  const { matchLabels = {}, matchExpressions = [] } = namespaceSelector ?? {};
  const wrong = Object.keys(matchLabels).filter((key) => matchLabels[key] !== labels[key]);
  const [key] = wrong;
  const corrected: PodAffinityTerm[] =
    wrong.length === 1 && labels[key!] !== undefined && matchExpressions.length === 0
      ? [{ ...term, namespaceSelector: { ...namespaceSelector, matchLabels: { ...matchLabels, [key!]: labels[key!]! } } }]
      : [];
  return [...corrected, { ...rest, namespaces: [...(term.namespaces ?? []), name] }];
}

/** Wider spreads: fewer domains wanted, tainted ones left out, more skew, or none that is a must. */
export function widerSpreads(pools: readonly AskedPool[], shape: PodShape, count: number): Candidate[] {
  const groups = pools.flatMap(({ answer: { refused } }) => (refused?.refusing === undefined ? [] : [refused.refusing]));
  const companions = pools.flatMap(({ answer: { refused } }) => refused?.companions ?? []);
  const asked = hardSpreads(shape).map(({ index, spread }) => {
    const isAbout = ({ identity }: Group) => identity.kind === "topology-spread" && identity.key === normalizeLabel(spread.topologyKey);
    return { index, spread, about: groups.filter(({ group }) => isAbout(group)), isCompanion: companions.some(isAbout) };
  });
  // What was asked before the one that refuses may give way, too.
  const before = asked.filter(({ about, isCompanion }) => about.length === 0 && isCompanion);
  return [...asked.filter(({ about }) => about.length > 0).flatMap((one) => widerSpread(one, count)), ...before.map(softSpread)];
}

interface AskedSpread {
  readonly index: number;
  readonly spread: TopologySpreadConstraint;
  readonly about: readonly Refusing[];
}

/** Kubernetes knows minDomains of hard spreads alone. */
function softSpread({ index, spread }: AskedSpread): Candidate {
  const { minDomains: _, ...unbound } = spread;
  return { edit: { kind: "spread", index, from: spread, to: { ...unbound, whenUnsatisfiable: "ScheduleAnyway" } } };
}

function widerSpread(asked: AskedSpread, count: number): Candidate[] {
  const { index, spread, about } = asked;
  const change = (more: Partial<TopologySpreadConstraint>): Candidate => ({
    edit: { kind: "spread", index, from: spread, to: { ...spread, ...more } },
  });
  const { minDomains, ...unbound } = spread;
  const found = Math.max(
    ...about.map(({ group, asking }) =>
      group instanceof TopologyGroup ? [...group.counts.keys()].filter((domain) => asking.pod?.has(domain) ?? true).length : 0,
    ),
  );
  const fewer: Candidate[] =
    minDomains === undefined || minDomains <= found
      ? []
      : [{ edit: { kind: "spread", index, from: spread, to: found > 1 ? { ...unbound, minDomains: found } : unbound } }];
  const own = spread.nodeAffinityPolicy === "Ignore" ? [change({ nodeAffinityPolicy: "Honor" })] : [];
  const honest = spread.nodeTaintsPolicy === "Honor" ? [] : [change({ nodeTaintsPolicy: "Honor" })];
  const skews = about
    .map((one) => [neededSkew(one, 1), neededSkew(one, count)] as const)
    .filter(([one]) => Number.isFinite(one) && one > spread.maxSkew);
  const least = Math.min(...skews.map(([one]) => one));
  const most = Math.min(...skews.map(([, all]) => all));
  const skewed = (maxSkew: number): Edit => ({ kind: "spread", index, from: spread, to: { ...spread, maxSkew } });
  const wider: Candidate[] =
    skews.length === 0 ? [] : [{ edit: skewed(least), grown: (step) => skewed(least + step - 1), steps: most - least + 1 }];
  return [...fewer, ...own, ...honest, ...wider, softSpread(asked)];
}

type Refusing = NonNullable<NonNullable<AskedPool["answer"]["refused"]>["refusing"]>;

/** The skew that so many more pods make when they can only go where the types are. */
function neededSkew({ group, asking, reachable }: Refusing, more: number): number {
  if (!(group instanceof TopologyGroup)) return Number.POSITIVE_INFINITY;
  const counts = [...group.counts].filter(([domain]) => asking.pod?.has(domain) ?? true);
  const there = counts.filter(([domain]) => reachable.includes(domain)).map(([, pods]) => pods);
  if (there.length === 0) return Number.POSITIVE_INFINITY;
  const floor = counts.length < group.identity.minDomains ? 0 : Math.min(...counts.map(([, pods]) => pods));
  if (!asking.isCounted) return Math.min(...there) - floor;
  for (let pod = 0; pod < more; pod++) {
    const emptiest = there.indexOf(Math.min(...there));
    there[emptiest] = there[emptiest]! + 1;
    if (pod === 0 && more === 1) return there[emptiest]! - floor;
  }
  return Math.max(...there) - floor;
}

/** Required terms that refuse: apart by node instead of by zone, or only where possible. */
export function softerTerms(pools: readonly AskedPool[], shape: PodShape): Edit[] {
  const refusing = pools.flatMap(({ answer: { refused }, reasons }) => {
    const { companions } = refused ?? {};
    if (companions !== undefined)
      return companions.flatMap(({ identity }) => (identity.isInverse ? [] : [`${identity.kind} ${identity.key}`]));
    return reasons.flatMap((reason) =>
      reason.kind === "pod-affinity" || reason.kind === "pod-anti-affinity" ? [`${reason.kind} ${reason.key}`] : [],
    );
  });
  const of = (side: "podAffinity" | "podAntiAffinity", kind: string) =>
    requiredTerms(shape, side).filter(({ term }) => refusing.includes(`${kind} ${normalizeLabel(term.topologyKey)}`));
  const apart = of("podAntiAffinity", "pod-anti-affinity").flatMap(({ index, term }): Edit[] => {
    const soft: Edit = { kind: "pod-term", side: "podAntiAffinity", index, from: term };
    if (normalizeLabel(term.topologyKey) === HOSTNAME_LABEL) return [soft];
    return [{ ...soft, to: { ...term, topologyKey: HOSTNAME_LABEL } }, soft];
  });
  const together = of("podAffinity", "pod-affinity").map(
    ({ index, term }): Edit => ({ kind: "pod-term", side: "podAffinity", index, from: term }),
  );
  return [...apart, ...together];
}

/** One port after the other, then all. */
export function freedPorts(pools: readonly AskedPool[], { hostPorts = [] }: PodShape): Edit[] {
  if (!pools.some(({ answer: { refused } }) => refused?.stage === "host-port")) return [];
  const single = hostPorts.map((port): Edit => ({ kind: "free-host-ports", ports: [port] }));
  return hostPorts.length > 1 ? [...single, { kind: "free-host-ports", ports: hostPorts }] : single;
}

function hardSpreads({ topologySpreadConstraints = [] }: PodShape) {
  return topologySpreadConstraints.flatMap((spread, index) => (spread.whenUnsatisfiable === "DoNotSchedule" ? [{ index, spread }] : []));
}

function requiredTerms({ affinity }: PodShape, side: "podAffinity" | "podAntiAffinity") {
  return (affinity?.[side]?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term, index) => ({ index, term }));
}
