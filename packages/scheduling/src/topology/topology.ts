/**
 * All constraints between the pods of one solve: which groups a pod asks, in which it counts, and what is counted already.
 * Rules S-128…S-143, S-153…S-156.
 */

import type { Taint } from "@joinery/api";
import { HOSTNAME_LABEL, type LabelSelector, normalizeLabel, type PodAffinityTerm, type TopologySpreadConstraint } from "@joinery/api";
import { remembered } from "../memo.ts";
import { compareTexts } from "../plan/names.ts";
import type { PodVariant } from "../pods/pod-variants.ts";
import type { BoundPods, ExistingNode, PodShape, Problem } from "../problem.ts";
import { nodeLabel } from "../requirements/node-labels.ts";
import type { Requirements } from "../requirements/requirements.ts";
import type { DomainUniverse } from "./domain-universe.ts";
import { HostnameGroup } from "./hostname-group.ts";
import { expressionsOf, labelPair, type PodSelector, podSelector } from "./label-selector.ts";
import { domainsAlong, NodeFilter } from "./node-filter.ts";
import { type Asking, type GroupIdentity, TopologyGroup } from "./topology-group.ts";

export type Group = TopologyGroup | HostnameGroup;

/** What a pod in one of its variants has to ask before it goes anywhere. */
export interface TopologyDemand {
  /** Those that only forbid first, then those that choose one domain at most, then those that always do. */
  readonly domains: readonly { readonly group: TopologyGroup; readonly asking: Asking }[];
  readonly hosts: readonly { readonly group: HostnameGroup; readonly isCounted: boolean }[];
}

/** Where a placed pod leaves its mark: in groups that select it, and in inverse groups of its own. */
export interface TopologyMarks {
  readonly groups: readonly Group[];
  /** Labels along which they count, without the hostname, which every node decides. */
  readonly keys: readonly string[];
}

export function marksOf(groups: readonly Group[]): TopologyMarks {
  return { groups, keys: [...new Set(groups.flatMap((group) => (group instanceof HostnameGroup ? [] : [group.identity.key])))].sort() };
}

const CHOICE = { "pod-anti-affinity": 0, "pod-affinity": 1, "topology-spread": 2 } as const;
const UNBOUNDED_SKEW = 2 ** 31 - 1;

export class Topology {
  readonly #namespaces: Problem["namespaces"];
  readonly #universe: DomainUniverse;
  readonly #nodes: readonly ExistingNode[];
  readonly #groups = new Map<string, Group>();
  readonly #names = new Map<Group, string>();
  /** Groups by the label pair that everything they select has; under "" those without one. */
  readonly #byPair = new Map<string, Group[]>();
  readonly #inverseOf = new Map<PodShape, readonly Group[]>();

  constructor({ namespaces }: Problem, nodes: readonly ExistingNode[], universe: DomainUniverse) {
    this.#namespaces = namespaces;
    this.#nodes = nodes;
    this.#universe = universe;
  }

  /** S-130: the groups of a variant. All variants are announced before anything is asked, so that every placement counts (S-112). */
  announce(shape: PodShape, variant: PodVariant): readonly Group[] {
    const own = new Set([shape.namespace]);
    const required = shape.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    return [
      ...variant.spreads.map((spread) => this.#spread(shape, variant, spread, own)),
      ...variant.affinity.map((term) =>
        this.#group(this.#termIdentity("pod-affinity", shape, term, required.includes(term) ? required : [term]), variant),
      ),
      ...variant.antiAffinity.map((term) => this.#group(this.#termIdentity("pod-anti-affinity", shape, term), variant)),
    ];
  }

  /** S-153: required anti-affinity looked at from the other side. Preferences never keep others away. */
  announceInverse(shape: PodShape): readonly Group[] {
    return remembered(this.#inverseOf, shape, () =>
      (shape.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) =>
        this.#group({ ...this.#termIdentity("pod-anti-affinity", shape, term), isInverse: true }, undefined),
      ),
    );
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  /** Once all are announced: who is where already. */
  countBound(bound: readonly BoundPods[]): void {
    if (this.isEmpty) return;
    const nodeByName = new Map(this.#nodes.map(({ name }, index) => [name, index]));
    for (const { shape, site, count, endingCount } of bound) {
      const node = nodeByName.get(site.name) ?? -1;
      if (count > 0) {
        for (const group of this.#candidates(shape)) {
          if (group.identity.isInverse || !group.selectsIn(shape.namespace) || !group.identity.selector.lists(shape.labels)) continue;
          if (group.identity.filter?.countsOn(site) === false) continue;
          countAt(group, site.labels, node, count);
        }
      }
      for (const group of this.#inverseOf.get(shape) ?? []) countAt(group, site.labels, node, count + endingCount);
    }
  }

  /** Forward groups that count the pod, and with `isInverse` those that keep it away. */
  selecting(shape: PodShape, isInverse: boolean): readonly Group[] {
    if (this.isEmpty) return NO_GROUPS;
    const selecting = this.#candidates(shape).filter(
      (group) =>
        group.identity.isInverse === isInverse && group.identity.selector.selects(shape.labels) && group.selectsIn(shape.namespace),
    );
    // The first that keeps the pod away is the reason that it gets, whoever was announced first.
    return isInverse && selecting.length > 1 ? selecting.sort((a, b) => compareTexts(this.#names.get(a)!, this.#names.get(b)!)) : selecting;
  }

  /** S-140: a pod is now on an existing node. */
  recordOnNode(marks: TopologyMarks, index: number): void {
    const node = this.#nodes[index]!;
    for (const group of marks.groups) {
      if (group.identity.filter?.countsOn(node) === false) continue;
      countAt(group, node.labels, index, 1);
    }
  }

  /**
   * S-140: a pod is now on a claim that requires this. Where a pod keeps others away, all values that are left count; where it is counted,
   * one value has to be left. Gives the groups that are to count it when the claim is decided.
   */
  recordOnClaim(
    marks: TopologyMarks,
    claim: number,
    requirements: Requirements,
    taints: readonly Taint[],
  ): readonly TopologyGroup[] | undefined {
    let waiting: TopologyGroup[] | undefined;
    for (let index = 0; index < marks.groups.length; index++) {
      const group = marks.groups[index]!;
      const { filter, key, kind } = group.identity;
      if (group instanceof HostnameGroup) {
        // Later pods may make the claim one that the filter accepts; on a single node a pod too many counted is never one too few.
        if (filter?.mayAcceptClaim(requirements, taints) !== false) group.countOnClaim(claim);
        continue;
      }
      const isAccepted = filter?.acceptsClaim(requirements, taints) !== false;
      if (!isAccepted && !filter!.mayAcceptClaim(requirements, taints)) continue;
      const values = requirements.find(key)?.listedValues ?? NO_VALUES;
      if (isAbsent(requirements, key)) continue;
      if (isAccepted && values.length === 1) group.count(values[0]!, 1);
      else {
        group.undecided++;
        if (kind === "pod-anti-affinity") for (const value of values) group.count(value, 1);
        else if (waiting === undefined) waiting = [group];
        else waiting.push(group);
      }
    }
    return waiting;
  }

  /** A later pod has narrowed a claim: who waited to be counted there may be now. Gives those that still wait. */
  decideOnClaim(waiting: readonly TopologyGroup[], requirements: Requirements, taints: readonly Taint[]): readonly TopologyGroup[] {
    return waiting.filter((group) => {
      const { filter, key } = group.identity;
      if (isAbsent(requirements, key)) {
        group.undecided--;
        return false;
      }
      const values = requirements.find(key)?.listedValues;
      if (values?.length !== 1 || filter?.acceptsClaim(requirements, taints) === false) return true;
      group.count(values[0]!, 1);
      group.undecided--;
      return false;
    });
  }

  #spread(shape: PodShape, variant: PodVariant, spread: TopologySpreadConstraint, namespaces: ReadonlySet<string>): Group {
    const { topologyKey, maxSkew, minDomains = 0, labelSelector, matchLabelKeys = [] } = spread;
    const more = matchLabelKeys.flatMap((key) => {
      const value = shape.labels[key];
      return value === undefined ? [] : [{ key, operator: "In" as const, values: [value] }];
    });
    return this.#group(
      {
        kind: "topology-spread",
        isInverse: false,
        key: normalizeLabel(topologyKey),
        namespaces,
        selector: podSelector(labelSelector, more),
        maxSkew,
        minDomains,
        filter: new NodeFilter(variant, spread),
      },
      undefined,
    );
  }

  /** `together`: terms that all have to mean a pod for it to count, as kube-scheduler reads required affinity. */
  #termIdentity(
    kind: "pod-affinity" | "pod-anti-affinity",
    { namespace }: PodShape,
    term: PodAffinityTerm,
    together: readonly PodAffinityTerm[] = [term],
  ): GroupIdentity {
    return {
      kind,
      isInverse: false,
      key: normalizeLabel(term.topologyKey),
      namespaces: together.map((one) => this.#namespacesOf(one, namespace)).reduce(inBoth),
      selector: selectorOfAll(together.map(({ labelSelector }) => labelSelector)),
      maxSkew: UNBOUNDED_SKEW,
      minDomains: 0,
      filter: undefined,
    };
  }

  /** `owner` limits the domains to what it tolerates (S-132), which for those that are kept away would say nothing. */
  #group(identity: GroupIdentity, owner: PodVariant | undefined): Group {
    const { kind, isInverse, key, namespaces, selector, maxSkew, minDomains, filter } = identity;
    const tolerations = owner?.tolerations ?? filter?.tolerations;
    const scope = namespaces === undefined ? "*" : [...namespaces].sort().join();
    const isHostname = key === HOSTNAME_LABEL;
    const seen = isHostname || tolerations === undefined ? "" : JSON.stringify(tolerations);
    const name = [kind, isInverse, key, scope, selector.text, maxSkew, minDomains, filter?.text ?? "", seen].join("\n");
    return remembered(this.#groups, name, () => {
      const group = isHostname ? new HostnameGroup(identity) : new TopologyGroup(identity, this.#universe.domainsOf(key, tolerations));
      if (group instanceof TopologyGroup) this.#addNodeDomains(group);
      remembered(this.#byPair, selector.pair ?? "", () => []).push(group);
      this.#names.set(group, name);
      return group;
    });
  }

  /** S-133. */
  #addNodeDomains(group: TopologyGroup): void {
    for (const node of this.#nodes) {
      const value = nodeLabel(node.labels, group.identity.key);
      if (value !== undefined && group.identity.filter?.acceptsNode(node) !== false) group.know(value);
    }
  }

  /** S-156; undefined = all. */
  #namespacesOf({ namespaces = [], namespaceSelector }: PodAffinityTerm, own: string): ReadonlySet<string> | undefined {
    if (namespaceSelector === undefined) return new Set(namespaces.length === 0 ? [own] : namespaces);
    if (isEmptySelector(namespaceSelector)) return undefined;
    const { selects } = podSelector(namespaceSelector);
    const chosen = [...(this.#namespaces ?? [])].filter(([, labels]) => selects(labels)).map(([name]) => name);
    return new Set([...namespaces, ...chosen]);
  }

  #candidates({ labels }: PodShape): readonly Group[] {
    const found = [...(this.#byPair.get("") ?? [])];
    for (const key in labels) found.push(...(this.#byPair.get(labelPair(key, labels[key]!)) ?? []));
    return found;
  }
}

const NO_GROUPS: readonly Group[] = [];
const NO_VALUES: readonly string[] = [];

/** What the groups have to be asked by a pod in this variant: those it owns and those that keep it away. */
export function demandOf(groups: readonly Group[], shape: PodShape, { strict, alternatives }: PodVariant): TopologyDemand | undefined {
  if (groups.length === 0) return undefined;
  const domains: TopologyDemand["domains"][number][] = [];
  const hosts: TopologyDemand["hosts"][number][] = [];
  for (const group of new Set(groups)) {
    const { selector, key, filter } = group.identity;
    const isCounted = group.selectsIn(shape.namespace) && selector.selects(shape.labels);
    if (group instanceof HostnameGroup) hosts.push({ group, isCounted });
    else if (filter !== undefined) domains.push({ group, asking: { pod: filter.domainsAlong(key), isCounted } });
    else domains.push({ group, asking: { pod: strict.find(key), isCounted, reach: domainsAlong(alternatives, key) } });
  }
  domains.sort((a, b) => CHOICE[a.group.identity.kind] - CHOICE[b.group.identity.kind]);
  return { domains, hosts };
}

/** Sum of the versions of what it asks: the same sum means the same answers. */
export function versionOf(demand: TopologyDemand): number {
  const { hosts } = demand;
  let sum = domainsVersionOf(demand);
  for (let index = 0; index < hosts.length; index++) sum += hosts[index]!.group.version;
  return sum;
}

/** The same of what makes claims lose labels. */
export function domainsVersionOf({ domains }: TopologyDemand): number {
  let sum = 0;
  for (let index = 0; index < domains.length; index++) sum += domains[index]!.group.version;
  return sum;
}

/** Decided: the node will be in no domain of the label. */
function isAbsent(requirements: Requirements, key: string): boolean {
  return requirements.find(key)?.operator === "DoesNotExist";
}

function countAt(group: Group, labels: Readonly<Record<string, string>>, node: number, pods: number): void {
  const value = nodeLabel(labels, group.identity.key);
  if (group instanceof HostnameGroup) group.countOnNode(node, pods);
  else if (value !== undefined) group.count(value, pods);
}

/** Namespaces; undefined = all. */
function inBoth(one: ReadonlySet<string> | undefined, other: ReadonlySet<string> | undefined): ReadonlySet<string> | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return new Set([...one].filter((name) => other.has(name)));
}

/** One absent selector, and nobody is meant (S-137). */
function selectorOfAll(selectors: readonly (LabelSelector | undefined)[]): PodSelector {
  if (selectors.includes(undefined)) return podSelector(undefined);
  return podSelector(selectors[0], selectors.slice(1).flatMap(expressionsOf));
}

function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

export function labelsKey(labels: Readonly<Record<string, string>>): string {
  const keys = Object.keys(labels);
  if (keys.length > 1) keys.sort();
  let text = "";
  for (const key of keys) text += `${key}=${labels[key]}\n`;
  return text;
}
