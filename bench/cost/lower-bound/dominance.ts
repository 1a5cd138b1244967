/** Leaves out what cannot be part of a cheapest mixture of divisible nodes, so that the linear program stays small. */
import type { PodGroup } from "./demand.ts";
import { admits, holdsOne, type Supply } from "./supply.ts";

/** A supply with the groups that may run on it, by index. */
export interface Candidate {
  readonly supply: Supply;
  readonly groups: readonly number[];
  /** Each of its nodes has a pod of one of these groups. */
  readonly oneOf?: ReadonlySet<number>;
}

/**
 * A node of `other` scaled down has as much of everything for no more money, and whoever may run on `one` may run on `other`.
 * With quotas per zone, zones are not exchanged.
 */
export function undominated(
  supplies: readonly Supply[],
  groups: readonly PodGroup[],
  wellKnown: ReadonlySet<string>,
): readonly Candidate[] {
  const hasQuotas = groups.some(({ perZone }) => perZone !== undefined);
  const resources = [...new Set(groups.flatMap(({ requests }) => Object.keys(requests)))];
  const placements = placementClasses(groups);
  const candidates = supplies.map((supply) => {
    const welcome = placements.map(({ members, shape }) => (admits(supply, shape, wellKnown) ? members : []));
    return {
      supply,
      classes: welcome.map(({ length }) => length > 0),
      groups: welcome.flat().filter((index) => holdsOne(supply, groups[index]!.requests)),
    };
  });
  type Weighed = (typeof candidates)[number];
  const beats = (other: Weighed, one: Weighed) =>
    !other.supply.isThere &&
    (!hasQuotas || other.supply.zone === one.supply.zone) &&
    one.classes.every((isWelcome, index) => !isWelcome || other.classes[index]) &&
    resources.every((resource) => isAtLeast(other.supply, one.supply, resource));
  const kept: Weighed[] = [];
  for (const one of candidates.filter((candidate) => candidate.groups.length > 0)) {
    if (one.supply.isThere) kept.push(one);
    else if (!kept.some((other) => beats(other, one))) {
      const rest = kept.filter((other) => other.supply.isThere || !beats(one, other));
      kept.splice(0, kept.length, ...rest, one);
    }
  }
  return kept;
}

/** More room of a node, so that every pod still fits, and more room for the money. */
function isAtLeast(other: Supply, one: Supply, resource: string): boolean {
  const there = other.room[resource] ?? 0;
  const here = one.room[resource] ?? 0;
  return there >= here && there * one.usdPerHour >= here * other.usdPerHour;
}

/** Groups that are admitted alike. */
function placementClasses(groups: readonly PodGroup[]): { readonly shape: PodGroup["shape"]; readonly members: number[] }[] {
  const classes = new Map<string, { shape: PodGroup["shape"]; members: number[] }>();
  groups.forEach(({ shape }, index) => {
    const key = JSON.stringify([shape.nodeSelector, shape.affinity?.nodeAffinity, shape.tolerations]);
    const known = classes.get(key);
    if (known === undefined) classes.set(key, { shape, members: [index] });
    else known.members.push(index);
  });
  return [...classes.values()];
}
