/**
 * What plans cannot cost less than where pods are whole. The plain bound lets half a pod fill the corner of a node (`lower-bound.ts`); this one buys
 * parts of nodes that hold whole pods. All ways to fill a node are gone through, so it is for problems of few kinds of pods.
 */
import type { Problem } from "@joinery/scheduling";
import { choiceOf } from "./choice.ts";
import { type PodGroup, podGroups } from "./demand.ts";
import { rowMultipliers } from "./highs.ts";
import { createBuilder, weakDualBound } from "./linear-program.ts";
import type { BoundOptions } from "./lower-bound.ts";
import { admits, holdsOne, type Supply, suppliesOf } from "./supply.ts";

/** A node of 200 pods can be filled with three kinds of them in 20,000 ways. */
const KINDS_MAX = 3;
const TURNS_MAX = 200;
/** Multipliers that credit no node with more of its price than this are as good as the best. */
const CREDIT_ENOUGH = 1 + 1e-6;
/** Sums of amounts in another order; a pod too many only lowers the bound. */
const DUST = 1e-9;

/** A node that is filled: so many pods of each group. */
interface Pattern {
  readonly supply: Supply;
  readonly counts: readonly number[];
}

/** In USD per hour, of instances and charges. undefined = too many kinds of pods, nodes that exist, or pods that have no choice of types. */
export async function wholePodsBoundUsdPerHour(
  problem: Problem,
  { spotTypesMin = 1, nodeChargeUsdPerHour = 0 }: BoundOptions = {},
): Promise<number | undefined> {
  const all = suppliesOf(problem).map((supply) => ({ ...supply, usdPerHour: supply.usdPerHour + nodeChargeUsdPerHour }));
  const groups = podGroups(problem, new Set(all.map(({ zone }) => zone)).size);
  const wellKnown = problem.options.wellKnownLabels ?? new Set<string>();
  if (groups.length > KINDS_MAX || all.some(({ isThere }) => isThere)) return undefined;
  const { supplies, rare } = choiceOf(all, groups, { typesMin: spotTypesMin, wellKnown });
  if (rare.size > 0) return undefined;
  const kinds = undominated(supplies.map((supply) => kindOf(supply, groups, wellKnown)));
  const patterns = kinds.flatMap((kind) => kind.parts.map((_, group) => bestPattern(kind, groups, (other) => (other === group ? 1 : 0))));
  return boundOf(groups, kinds, patterns.filter(isFilled));
}

/** A kind of node: which groups it takes, and how much of it one pod of each needs. */
interface NodeKind {
  readonly supply: Supply;
  /** By group: the part of each resource that one pod takes; undefined where it may not run. */
  readonly parts: readonly (readonly number[] | undefined)[];
}

function kindOf(supply: Supply, groups: readonly PodGroup[], wellKnown: ReadonlySet<string>): NodeKind {
  const names = [...new Set(groups.flatMap(({ requests }) => Object.keys(requests)))];
  const parts = groups.map(({ shape, requests }) => {
    if (!holdsOne(supply, requests) || !admits(supply, shape, wellKnown)) return undefined;
    return names.map((name) => (requests[name] ? requests[name] / supply.room[name]! : 0));
  });
  return { supply, parts };
}

/** Without those that another of the zone does everything for, at no higher a price. */
function undominated(kinds: readonly NodeKind[]): readonly NodeKind[] {
  const beats = (one: NodeKind, other: NodeKind) =>
    one.supply.zone === other.supply.zone &&
    one.supply.usdPerHour <= other.supply.usdPerHour &&
    other.parts.every((all, group) => all === undefined || one.parts[group]?.every((part, r) => part <= all[r]!));
  const kept: NodeKind[] = [];
  for (const kind of kinds.toSorted((one, other) => one.supply.usdPerHour - other.supply.usdPerHour)) {
    if (!kept.some((other) => beats(other, kind))) kept.push(kind);
  }
  return kept;
}

/** Parts of patterns are bought, and the multipliers of that program ask for better patterns, until every way to fill a node is accounted for. */
async function boundOf(groups: readonly PodGroup[], kinds: readonly NodeKind[], patterns: Pattern[]): Promise<number> {
  let bound = 0;
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    const { program, rowsOf } = coverOf(groups, kinds, patterns);
    const multipliers = await rowMultipliers(program);
    const valueIn = (zone: string) => (group: number) => rowsOf(group, zone).reduce((sum, row) => sum + multipliers[row]!, 0);
    let credit = 1;
    for (const kind of kinds) {
      const value = valueIn(kind.supply.zone);
      const pattern = bestPattern(kind, groups, value);
      const part = pattern.counts.reduce((sum, count, group) => sum + count * value(group), 0) / kind.supply.usdPerHour;
      if (part > CREDIT_ENOUGH) patterns.push(pattern);
      credit = Math.max(credit, part);
    }
    // So much smaller, the multipliers credit no node that can be filled with more than its price: they prove a bound of them all.
    bound = Math.max(
      bound,
      weakDualBound(
        program,
        multipliers.map((multiplier) => multiplier / credit),
      ),
    );
    if (credit <= CREDIT_ENOUGH) return bound;
  }
  return bound;
}

function coverOf(groups: readonly PodGroup[], kinds: readonly NodeKind[], patterns: readonly Pattern[]) {
  const { variable, row, program } = createBuilder();
  const pods = groups.reduce((sum, { count }) => sum + count, 0);
  const placed = groups.map(({ count }) => row({ least: count }));
  const zones = [...new Set(kinds.map(({ supply }) => supply.zone))];
  const quotas = groups.map(({ perZone }) => (perZone === undefined ? undefined : new Map(zones.map((zone) => [zone, row(perZone)]))));
  for (const { supply, counts } of patterns) {
    const nodes = variable(supply.usdPerHour, pods);
    for (const [group, count] of counts.entries()) {
      if (count === 0) continue;
      placed[group]!.add(nodes, count);
      quotas[group]?.get(supply.zone)?.add(nodes, count);
    }
  }
  // Rows in the order in which they were made: one for each group, then a group's zones.
  const first = new Map<number, number>();
  for (const [group, quota] of quotas.entries()) if (quota !== undefined) first.set(group, groups.length + first.size * zones.length);
  const rowsOf = (group: number, zone: string) => [group, ...(first.has(group) ? [first.get(group)! + zones.indexOf(zone)] : [])];
  return { program, rowsOf };
}

/** The way to fill the node that is worth most; a pod that is worth nothing stays away. */
function bestPattern({ supply, parts }: NodeKind, groups: readonly PodGroup[], value: (group: number) => number): Pattern {
  const values = groups.map((_, group) => value(group));
  const wanted = groups.flatMap((_, group) => (parts[group] !== undefined && values[group]! > 0 ? [group] : []));
  const counts = groups.map(() => 0);
  let best = counts.slice();
  let most = 0;
  const fill = (at: number, left: readonly number[], worth: number) => {
    const group = wanted[at];
    if (group === undefined) {
      if (worth > most) [best, most] = [counts.slice(), worth];
      return;
    }
    const ofOne = parts[group]!;
    const full = ofOne.reduce(
      (least, part, r) => (part > 0 ? Math.min(least, Math.floor(left[r]! / part + DUST)) : least),
      groups[group]!.count,
    );
    for (let count = full; count >= (at === wanted.length - 1 ? full : 0); count--) {
      counts[group] = count;
      fill(
        at + 1,
        left.map((amount, r) => amount - count * ofOne[r]!),
        worth + count * values[group]!,
      );
    }
    counts[group] = 0;
  };
  fill(0, parts.find((ofOne) => ofOne !== undefined)?.map(() => 1) ?? [], 0);
  return { supply, counts: best };
}

function isFilled({ counts }: Pattern): boolean {
  return counts.some((count) => count > 0);
}
