/**
 * Pods that are interchangeable for the price of a plan: equal requests, equal constraints, and for those that have to do with other
 * pods the same domain. Along zones and the like the greedy plan decides who is where; a cheaper plan keeps that, so that spreads and
 * affinities which hold in one hold in the other. What depends on the very node (ports, company of a host, reservations, limits that
 * bind) keeps its node.
 */

import { intersection, isEmpty } from "../catalog/type-set.ts";
import { remembered } from "../memo.ts";
import { nodeLabel } from "../requirements/node-labels.ts";
import { Requirement } from "../requirements/requirement.ts";
import type { OpenClaim } from "../solve/open-claims.ts";
import { classOf, type PodClass, type Search } from "../solve/pod-classes.ts";
import type { Solver } from "../solve/solve.ts";
import type { Template } from "../solve/template.ts";
import { HostnameGroup } from "../topology/hostname-group.ts";

/** What a group of pods has to do with others on the same node. */
export interface HostBond {
  /** Number of the topology group. */
  readonly group: number;
  /** How many counted pods a node may have of it; 0 where one is already too many. */
  readonly most: number;
  /** The pods ask the group before they go anywhere. */
  readonly isAsked: boolean;
  /** The pods count in it. */
  readonly isCounted: boolean;
}

export interface PodGroup {
  /** Indexes, in the order in which the greedy solve placed them. */
  readonly pods: number[];
  readonly podClass: PodClass;
  readonly search: Search;
  /** Where the group's nodes have to be, beside what the pods say themselves. */
  readonly pins: readonly Requirement[];
  /** Labels along which the pods count for others, without being in a domain yet. */
  readonly undecidedKeys: readonly string[];
  readonly bonds: readonly HostBond[];
  /** Claim of the greedy plan where they stay, or existing node; undefined = anywhere. */
  readonly home: Home | undefined;
}

type Home =
  | { readonly kind: "claim"; readonly index: number; readonly template: Template }
  | { readonly kind: "node"; readonly index: number };

/**
 * Groups of all pods that the greedy solve placed, in the order of their first pods.
 * @param pristine a solver of the same problem that has not placed anything: what the groups refer to
 * @param open claims of pools whose limits bind that do not keep their pods (`refillable.ts`)
 */
export function podGroups(greedy: Solver, pristine: Solver, open: ReadonlySet<OpenClaim> = new Set()): readonly PodGroup[] {
  const claimOf = new Map(greedy.view.claims.list.flatMap((claim) => claim.pods.map((pod) => [pod, claim] as const)));
  const claimNumbers = new Map(greedy.view.claims.list.map((claim, index) => [claim, index]));
  const nodeOf = new Map(greedy.view.nodes.list.flatMap(({ pods }, index) => pods.map((pod) => [pod, index] as const)));
  const sharedPins = new Map<string, Requirement>();
  const hostNumbers = new Map<HostnameGroup, number>();
  const bound = new Set(greedy.allTemplates.filter(isBound));
  const bondsOf = new Map<Search, readonly HostBond[]>();
  const groups = new Map<string, PodGroup>();
  for (const pod of greedy.sequence) {
    const podClass = classOf(pod, pristine.view.classes);
    const search = podClass.searches[greedy.searchOfPod[pod]!]!;
    const claim = claimOf.get(pod);
    const node = nodeOf.get(pod);
    const site = claim === undefined ? nodeSite(greedy, node!) : claimSite(claim);
    const { pins, undecidedKeys, isPinned } = domainsOf(podClass, search, site, sharedPins);
    const staysHome =
      !isPinned ||
      dependsOnHost(podClass, search) ||
      (claim !== undefined && ((bound.has(claim.template) && !open.has(claim)) || claim.held.size > 0));
    const home = staysHome ? homeOf(claim, node!, claimNumbers, pristine) : undefined;
    const bonds = remembered(bondsOf, search, () => hostBonds(podClass, search, hostNumbers));
    const volumes =
      search.volumes === undefined ? "" : Array.from(search.volumes.attachments, ([driver, { size }]) => `${driver} ${size}`).join();
    const key = [
      podClass.requests.join(),
      search.constraint.index,
      pins.map(({ key: label, values }) => `${label}=${values.join()}`).join(),
      undecidedKeys.join(),
      bonds.map(({ group, isAsked, isCounted }) => `${group}${isAsked ? "a" : ""}${isCounted ? "c" : ""}`).join(),
      volumes,
      home === undefined ? "" : `${home.kind} ${home.index}`,
    ].join("|");
    remembered(groups, key, (): PodGroup => ({ pods: [], podClass, search, pins, undecidedKeys, bonds, home })).pods.push(pod);
  }
  return [...groups.values()];
}

function homeOf(claim: OpenClaim | undefined, node: number, claimNumbers: ReadonlyMap<OpenClaim, number>, { allTemplates }: Solver): Home {
  if (claim === undefined) return { kind: "node", index: node };
  return { kind: "claim", index: claimNumbers.get(claim)!, template: allTemplates[claim.template.index]! };
}

/** Some limit has kept types away: who may have how much of the pool is then a matter of order, which stays. */
export function isBound({ limits, root }: Template): boolean {
  if (limits === undefined) return false;
  const allowed = limits.allowed();
  return intersection(root.variants, allowed).some((word, index) => word !== root.variants[index]) || isEmpty(allowed);
}

/** The value that a place has for a label: one, none yet, or the place lacks the label. */
type Site = (key: string) => Requirement | "undecided" | "absent";

function claimSite({ state }: OpenClaim): Site {
  return (key) => {
    const requirement = state.requirements.find(key);
    return requirement?.listedValues?.length === 1 ? requirement : "undecided";
  };
}

function nodeSite(greedy: Solver, index: number): Site {
  const { labels } = greedy.view.nodes.list[index]!.node;
  return (key) => {
    const value = nodeLabel(labels, key);
    return value === undefined ? "absent" : Requirement.in(key, value);
  };
}

/** Along which labels the pods have to stay where the greedy plan has them; not pinned where that is not known. */
function domainsOf({ marks }: PodClass, { topology, volumes }: Search, site: Site, shared: Map<string, Requirement>) {
  const asked = new Set(topology?.domains.map(({ group }) => group.identity.key));
  for (const { requirements } of volumes?.alternatives ?? []) for (const { key } of requirements) asked.add(key);
  const counted = marks.groups.flatMap((group) => (group instanceof HostnameGroup ? [] : [group.identity.key]));
  const pins: Requirement[] = [];
  const undecidedKeys: string[] = [];
  let isPinned = true;
  for (const key of [...new Set([...asked, ...counted])].sort()) {
    const value = site(key);
    if (value instanceof Requirement)
      pins.push(remembered(shared, `${key}=${value.values[0]}`, () => Requirement.in(key, value.values[0]!)));
    else if (asked.has(key)) isPinned = false;
    else if (value === "undecided") undecidedKeys.push(key);
  }
  return { pins, undecidedKeys, isPinned };
}

/** Ports of the host, and pods that want or are wanted on the same node. */
function dependsOnHost({ marks }: PodClass, { hostPorts, topology }: Search): boolean {
  if (hostPorts !== undefined) return true;
  const isCompany = (group: unknown) => group instanceof HostnameGroup && group.identity.kind === "pod-affinity";
  return marks.groups.some(isCompany) || (topology?.hosts.some(({ group }) => isCompany(group)) ?? false);
}

function hostBonds({ marks }: PodClass, { topology }: Search, numbers: Map<HostnameGroup, number>): readonly HostBond[] {
  const asked = new Set(topology?.hosts.map(({ group }) => group));
  const counted = new Set(marks.groups.filter((group) => group instanceof HostnameGroup));
  return [...new Set([...asked, ...counted])].map((group) => ({
    group: remembered(numbers, group, () => numbers.size),
    most: group.identity.kind === "pod-anti-affinity" ? 0 : group.identity.maxSkew,
    isAsked: asked.has(group),
    isCounted: counted.has(group),
  }));
}
