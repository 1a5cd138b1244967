/** Sums of resources, written out. */
import type { Resources } from "@joinery/api";

export function sum(all: readonly Resources[]): Resources {
  const total: Record<string, number> = {};
  for (const one of all) for (const name in one) total[name] = (total[name] ?? 0) + one[name]!;
  return total;
}

/** `one` without `other`; what only `other` names is left out. */
export function minus(one: Resources, other: Resources): Resources {
  return Object.fromEntries(Object.entries(one).map(([name, amount]) => [name, amount - (other[name] ?? 0)]));
}

/** Nothing is overdrawn, and what is asked for is there. */
export function isEnough(room: Resources, needed: Resources): boolean {
  return (
    Object.values(room).every((amount) => amount >= 0) && Object.entries(needed).every(([name, amount]) => amount <= (room[name] ?? 0))
  );
}

export function areEqual(one: Resources, other: Resources): boolean {
  return [...Object.keys(one), ...Object.keys(other)].every((name) => (one[name] ?? 0) === (other[name] ?? 0));
}
