/** Why nodes that exist, and nodes that are planned already, do not take a pod: the first thing that each lacks, equal ones together. S-92, S-94, S-101. */
import { formatAmount } from "@joinery/api";
import { intersection, isEmpty, type TypeSet } from "../catalog/type-set.ts";
import { remembered } from "../memo.ts";
import type { HostPort } from "../problem.ts";
import type { Reason } from "../reason.ts";
import { meetsRequirements, nodeLabel } from "../requirements/node-labels.ts";
import { Requirements } from "../requirements/requirements.ts";
import { requirementText } from "../requirements/text.ts";
import { variantsThatAttach } from "../solve/claim-gate.ts";
import type { ClaimState } from "../solve/claim-state.ts";
import { haveConflict, hostPortText } from "../solve/host-ports.ts";
import { minValuesShortfalls } from "../solve/min-values.ts";
import type { OpenClaim } from "../solve/open-claims.ts";
import type { PodClass, Search } from "../solve/pod-classes.ts";
import type { ResourceAxis } from "../solve/resource-axis.ts";
import { hasRoom, variantsWithRoom } from "../solve/room.ts";
import { narrowedBy } from "../solve/topology-choice.ts";
import { taintText, untoleratedTaints } from "../taints.ts";
import type { Group } from "../topology/topology.ts";
import { joined } from "../volumes/volume-demand.ts";
import { placeText } from "./company-facts.ts";
import { claimNames, type DomainFact, residentsOf, type Surroundings } from "./residents.ts";

export interface RefusedPlaces {
  readonly code: Reason["kind"];
  readonly reason: string;
  readonly count: number;
  /** The first five. */
  readonly names: readonly string[];
}

interface Refusal {
  readonly code: Reason["kind"];
  /** Equal for refusals that are told together. */
  readonly topic: string;
  /** The most that any of those has free, by resource. */
  readonly free?: ReadonlyMap<string, { readonly wanted: number; readonly most: number }>;
}

const NAMES_SHOWN_MAX = 5;

/** A search of a pod, and the state in which it is made. */
export interface PlaceQuestion extends Surroundings {
  readonly podClass: PodClass;
  readonly search: Search;
  /** Of each group once: the same for all places. */
  readonly residents: Map<Group, readonly DomainFact[]>;
}

/** Of one kind of places: those that refuse, most common reason first, and the names of those that do not. */
export interface AskedPlaces {
  readonly refused: readonly RefusedPlaces[];
  readonly open: readonly string[];
}

export function askNodes(question: PlaceQuestion): AskedPlaces {
  return grouped(question.view.nodes.list.map(({ node: { name } }, index) => ({ name, refusal: nodeRefusal(index, question) })));
}

export function askClaims(question: PlaceQuestion): AskedPlaces {
  const names = claimNames(question);
  return grouped(question.view.claims.list.map((claim, index) => ({ name: names[index]!, refusal: claimRefusal(claim, index, question) })));
}

function grouped(places: readonly { readonly name: string; readonly refusal: Refusal | undefined }[]): AskedPlaces {
  const open = places.flatMap(({ name, refusal }) => (refusal === undefined ? [name] : []));
  const groups = Map.groupBy(
    places.filter(({ refusal }) => refusal !== undefined),
    ({ refusal }) => `${refusal!.code} ${refusal!.topic}`,
  );
  const refused = Array.from(groups.values(), (group): RefusedPlaces => {
    const { code } = group[0]!.refusal!;
    const names = group.slice(0, NAMES_SHOWN_MAX).map(({ name }) => name);
    return { code, reason: topicText(group.map(({ refusal }) => refusal!)), count: group.length, names };
  });
  return { refused: refused.sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1)), open };
}

function topicText(refusals: readonly Refusal[]): string {
  const [{ topic, free }] = refusals as [Refusal];
  if (free === undefined) return topic;
  const texts = Array.from(free, ([resource, { wanted }]) => {
    const most = Math.max(0, ...refusals.map((refusal) => refusal.free?.get(resource)?.most ?? 0));
    return `${resource}: ${formatAmount(resource, wanted)} requested, at most ${formatAmount(resource, most)} free`;
  });
  return texts.join("; ");
}

function nodeRefusal(index: number, question: PlaceQuestion): Refusal | undefined {
  const { view, podClass, search } = question;
  const place = view.nodes.list[index]!;
  const { node } = place;
  const { constraint, hostPorts, volumes, topology } = search;
  const tainted = taintRefusal(untoleratedTaints(node.taints, constraint.tolerations));
  if (tainted !== undefined) return tainted;
  const unmet = [...constraint.requirements].find((requirement) => !meetsRequirements(node.labels, Requirements.of(requirement)));
  if (unmet !== undefined) return { code: "incompatible-requirements", topic: `the pod wants ${requirementText(unmet)}` };
  const remaining = view.nodes.remainingOf(index);
  if (remaining[0] === -1) return { code: "insufficient-resources", topic: "what runs there asks for more than the node has" };
  const short = roomRefusal(view.axis, podClass.requests, (position) => remaining[position]!);
  if (short !== undefined) return short;
  const port = portRefusal(hostPorts, place.hostPorts);
  if (port !== undefined) return port;
  if (volumes !== undefined) {
    if (volumes.alternatives?.every(({ requirements }) => !meetsRequirements(node.labels, requirements)))
      return { code: "volume-topology", topic: "the pod's volumes cannot be reached from there" };
    for (const [driver, claims] of joined(place.attachments, volumes.attachments)) {
      const limit = node.volumeLimits?.[driver] ?? place.typeLimits?.[driver] ?? Number.POSITIVE_INFINITY;
      if (volumes.attachments.has(driver) && claims.size > limit)
        return { code: "volume-limit", topic: `no more volumes of ${driver} can be attached` };
    }
  }
  for (const { group, isCounted } of topology?.hosts ?? []) {
    if (!group.allowsNode(index, isCounted)) return { code: group.identity.kind, topic: hostText(question, group) };
  }
  for (const { group, asking } of topology?.domains ?? []) {
    if (group.allowsNode(asking, node.labels)) continue;
    const { key, kind } = group.identity;
    if (nodeLabel(node.labels, key) === undefined) return { code: kind, topic: `no label ${key}` };
    return { code: kind, topic: placeText({ group, residents: known(question, group) }) };
  }
  return undefined;
}

function claimRefusal(claim: OpenClaim, index: number, question: PlaceQuestion): Refusal | undefined {
  const { view, podClass, search } = question;
  const { template, state, allowed } = claim;
  const { constraint, hostPorts, volumes } = search;
  const tainted = taintRefusal(untoleratedTaints(template.taints, constraint.tolerations));
  if (tainted !== undefined) return tainted;
  const [conflict] = state.requirements.incompatibilities(constraint.requirements, template.wellKnown);
  if (conflict?.kind === "undefined-label") return { code: "undefined-label", topic: `no label ${conflict.key}` };
  if (conflict !== undefined)
    return { code: "incompatible-requirements", topic: `the pod wants ${conflict.wanted}, the node has ${conflict.offered}` };
  const next = state.after(constraint);
  if (next === null) return { code: "incompatible-requirements", topic: "no instance type has all labels that its pods and this one want" };
  const used = view.claims.usedBy(index);
  const total = podClass.requests.map((amount, position) => used[position]! + amount);
  if (!hasRoom(next, template, undefined, used, 0, podClass.requests)) {
    const short = roomRefusal(view.axis, podClass.requests, (position) => next.mostRoom[position]! - used[position]!);
    return short ?? { code: "insufficient-resources", topic: "no type has room for all of its pods and this one" };
  }
  if (!hasRoom(next, template, allowed, used, 0, podClass.requests))
    return { code: "over-limit", topic: "the larger type that it would have to be passes the pool's limits, or does not go with its pods" };
  const port = portRefusal(hostPorts, claim.hostPorts);
  if (port !== undefined) return port;
  let types = variantsWithRoom(next, template, allowed, total);
  if (volumes !== undefined) {
    const attaching = variantsThatAttach(template, joined(claim.attachments, volumes.attachments));
    if (attaching !== undefined) types = intersection(types, attaching);
    if (isEmpty(types)) return { code: "volume-limit", topic: "no type attaches the volumes of its pods and this one" };
  }
  const places = (volumes?.alternatives ?? [undefined]).map((place) => (place === undefined ? next : next.after(place)));
  const reachable = places.filter((place) => place !== null && !isEmpty(intersection(types, place.variants)));
  if (reachable.length === 0) return { code: "volume-topology", topic: "the pod's volumes cannot be reached from there" };
  const refusals = reachable.map((place) => companyRefusal(place!, types, { claim, index }, question));
  return refusals.includes(undefined) ? undefined : refusals[0];
}

function companyRefusal(
  from: ClaimState,
  among: TypeSet,
  { claim, index }: { readonly claim: OpenClaim; readonly index: number },
  question: PlaceQuestion,
): Refusal | undefined {
  const { search, view } = question;
  const { template, held } = claim;
  let state = from;
  let types = intersection(among, state.variants);
  for (const { group, isCounted } of search.topology?.hosts ?? []) {
    const isClosed = group.closedTo(isCounted)?.has(index) ?? !(group.companions(isCounted)?.has(index) ?? true);
    if (isClosed) return { code: group.identity.kind, topic: hostText(question, group) };
  }
  for (const demand of search.topology?.domains ?? []) {
    const { group } = demand;
    const { kind } = group.identity;
    const next: ClaimState | null = narrowedBy([demand], state, () => true);
    types = next === null ? types : intersection(types, next.variants);
    if (next === null || isEmpty(types)) {
      const text = placeText({ group, residents: known(question, group) });
      return { code: kind, topic: text };
    }
    state = next;
  }
  if (template.hasMinValues && template.minValuesPolicy === "Strict" && minValuesShortfalls(state, template.catalog, types).length > 0)
    return { code: "min-values", topic: "too few different types would be left for the pool's minValues" };
  if (!view.reservations.isEmpty && view.reservations.outcome(state, template.catalog, types, held).kind !== "free")
    return { code: "reserved-capacity", topic: "no capacity reservation that its pods and this one could use is free" };
  return undefined;
}

function taintRefusal(taints: ReturnType<typeof untoleratedTaints>): Refusal | undefined {
  return taints.length === 0
    ? undefined
    : { code: "untolerated-taint", topic: `the pod does not tolerate ${taints.map(taintText).join(", ")}` };
}

function roomRefusal({ names }: ResourceAxis, requests: Float64Array, freeOf: (position: number) => number): Refusal | undefined {
  const short = names.flatMap((resource, position) => {
    const most = freeOf(position);
    return most >= requests[position]! ? [] : [[resource, { wanted: requests[position]!, most }] as const];
  });
  return short.length === 0
    ? undefined
    : { code: "insufficient-resources", topic: short.map(([resource]) => resource).join(), free: new Map(short) };
}

function portRefusal(wanted: readonly HostPort[] | undefined, taken: readonly HostPort[]): Refusal | undefined {
  if (wanted === undefined) return undefined;
  const conflicts = wanted.filter((port) => haveConflict([port], taken));
  return conflicts.length === 0 ? undefined : { code: "host-port", topic: `host port ${conflicts.map(hostPortText).join(", ")} is taken` };
}

function known(question: PlaceQuestion, group: Group): readonly DomainFact[] {
  return remembered(question.residents, group, () => residentsOf(group, question));
}

type HostGroup = NonNullable<Search["topology"]>["hosts"][number]["group"];

/** What is told of every node alike says nothing of who is where. */
function hostText(question: PlaceQuestion, group: HostGroup): string {
  const { kind, maxSkew, isInverse } = group.identity;
  switch (kind) {
    case "topology-spread":
      return `it has as many pods of the spread over nodes as maxSkew ${maxSkew} allows`;
    case "pod-anti-affinity":
      return isInverse ? "the anti-affinity of a pod there keeps this one away" : "a pod is there that this one must be apart from";
    case "pod-affinity":
      return placeText({ group, residents: known(question, group) });
  }
}
