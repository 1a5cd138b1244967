/** What DaemonSets will take of a new node, by instance type. Rules S-66…S-71. */
import { minResources, type Resources, sumResources, type Taint, type Toleration } from "@joinery/api";
import type { Catalog } from "../catalog/catalog.ts";
import { addAll, addTo, emptySet, fullSet, intersection, isIn, type TypeSet } from "../catalog/type-set.ts";
import { remembered } from "../memo.ts";
import { podRequirements } from "../pods/pod-variants.ts";
import type { DaemonSetShape, HostPort } from "../problem.ts";
import type { Requirements } from "../requirements/requirements.ts";
import { untoleratedTaints } from "../taints.ts";
import { haveConflict } from "./host-ports.ts";

/** Variants on which exactly the same DaemonSets run (S-69). Groups are disjoint and cover all variants. */
export interface DaemonGroup {
  readonly overhead: Resources;
  readonly isEmpty: boolean;
  readonly variants: TypeSet;
  readonly hostPorts: readonly HostPort[];
}

/** Variants on which no DaemonSet holds one of the ports; undefined = all (S-101, S-105). */
export function variantsWithFreePorts(
  groups: readonly DaemonGroup[],
  ports: readonly HostPort[],
  variantCount: number,
): TypeSet | undefined {
  if (!groups.some(({ hostPorts }) => haveConflict(hostPorts, ports))) return undefined;
  const free = emptySet(variantCount);
  for (const { hostPorts, variants } of groups) if (!haveConflict(hostPorts, ports)) addAll(free, variants);
  return free;
}

/** DaemonSets are scheduled past this effect (S-67). */
const TOLERATE_PREFERENCES: Toleration = { operator: "Exists", effect: "PreferNoSchedule" };

export interface DaemonSite {
  readonly catalog: Catalog;
  readonly requirements: Requirements;
  readonly taints: readonly Taint[];
  readonly wellKnown: ReadonlySet<string>;
}

export function daemonGroups(daemonSets: readonly DaemonSetShape[], site: DaemonSite): readonly DaemonGroup[] {
  const { variantCount } = site.catalog;
  const counting = daemonSets
    .filter(({ shape }) => !shape.hasResourceClaims)
    .map(({ shape }) => ({ shape, variants: variantsOf(shape, site) }));
  if (counting.length === 0) return [{ overhead: {}, isEmpty: true, variants: fullSet(variantCount), hostPorts: [] }];
  const groups = new Map<string, { members: number[]; variants: TypeSet }>();
  for (let variant = 0; variant < variantCount; variant++) {
    const members = counting.flatMap(({ variants }, index) => (isIn(variants, variant) ? [index] : []));
    const group = remembered(groups, members.join(), () => ({ members, variants: emptySet(variantCount) }));
    addTo(group.variants, variant);
  }
  return Array.from(groups.values(), ({ members, variants }) => ({
    overhead: sumResources(...members.map((index) => counting[index]!.shape.requests)),
    isEmpty: members.length === 0,
    variants,
    hostPorts: members.flatMap((index) => counting[index]!.shape.hostPorts ?? []),
  }));
}

/** S-71: what the claim asks for on top of its pods: the least of the groups that are left, nothing if one of them is empty. */
export function leastOverhead(groups: readonly DaemonGroup[]): Resources {
  if (groups.length === 0 || groups.some(({ isEmpty }) => isEmpty)) return {};
  return groups.map(({ overhead }) => overhead).reduce(minResources);
}

/** S-67: some required term admits the template, and the types on which it does. */
function variantsOf(shape: DaemonSetShape["shape"], { catalog, requirements, taints, wellKnown }: DaemonSite): TypeSet {
  const variants = emptySet(catalog.variantCount);
  if (untoleratedTaints(taints, [...shape.tolerations, TOLERATE_PREFERENCES]).length > 0) return variants;
  for (const wanted of podRequirements(shape)) {
    if (requirements.isCompatible(wanted, wellKnown)) addAll(variants, typesThatMeet(wanted, catalog));
  }
  return variants;
}

function typesThatMeet(wanted: Requirements, catalog: Catalog): TypeSet {
  let variants = fullSet(catalog.variantCount);
  for (const requirement of wanted) {
    const label = catalog.findLabel(requirement.key);
    if (label !== undefined) variants = intersection(variants, label.compatibleWith(requirement));
  }
  return variants;
}
