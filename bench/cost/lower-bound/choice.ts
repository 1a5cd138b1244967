/**
 * What the wish for several types to choose from leaves of spot nodes. Pods that fewer types can hold ("rare") ask for no choice, and neither does
 * a node with one of them. Of any other node so many types of its pool hold all pods. With c the least CPU of any type that is not less than what
 * they use, these types are among those with at least c; so of memory, and of every other resource, no more is in use than so many of those have.
 * A node therefore fits into the room (c, so much memory, …) of one c: a supply is replaced by one for each.
 */
import type { Resources } from "@joinery/api";
import type { PodGroup } from "./demand.ts";
import { admits, holdsOne, type Supply } from "./supply.ts";

export interface Choice {
  /** Every supply, spot ones with the rooms that leave a choice. */
  readonly supplies: readonly Supply[];
  /** Spot supplies with all of their room, for nodes with a rare pod. */
  readonly whole: readonly Supply[];
  /** Indexes of groups. */
  readonly rare: ReadonlySet<number>;
}

/** @param typesMin 1 = no wish */
export function choiceOf(
  supplies: readonly Supply[],
  groups: readonly PodGroup[],
  { typesMin, wellKnown }: { readonly typesMin: number; readonly wellKnown: ReadonlySet<string> },
): Choice {
  if (typesMin <= 1) return { supplies, whole: [], rare: new Set() };
  const whole = supplies.filter(({ isSpot }) => isSpot);
  const byPool = Object.groupBy(whole, ({ nodePool }) => nodePool);
  const rare = new Set<number>();
  for (const [index, { shape, requests }] of groups.entries()) {
    for (const pool of Object.values(byPool)) {
      const types = new Set<string>();
      for (const supply of pool!) if (holdsOne(supply, requests) && admits(supply, shape, wellKnown)) types.add(supply.instanceType);
      if (types.size > 0 && types.size < typesMin) rare.add(index);
    }
  }
  const shared = new Map(Object.entries(byPool).map(([pool, ofPool]) => [pool, sharedRooms(ofPool!, typesMin)]));
  return {
    supplies: supplies.flatMap((supply) => (supply.isSpot ? shared.get(supply.nodePool)!.map((most) => capped(supply, most)) : [supply])),
    whole,
    rare,
  };
}

/** One for each amount of CPU that some type has, and that so many types have at least. */
function sharedRooms(supplies: readonly Supply[], typesMin: number): readonly Resources[] {
  const rooms = new Map<string, Record<string, number>>();
  for (const { instanceType, room } of supplies) {
    const most = rooms.get(instanceType) ?? {};
    rooms.set(instanceType, most);
    for (const [resource, amount] of Object.entries(room)) most[resource] = Math.max(most[resource] ?? 0, amount);
  }
  const all = [...rooms.values()];
  return [...new Set(all.map(({ cpu = 0 }) => cpu))].flatMap((cpu) => {
    const large = all.filter((room) => (room.cpu ?? 0) >= cpu);
    if (large.length < typesMin) return [];
    const resources = new Set(large.flatMap((room) => Object.keys(room)));
    const shared = Array.from(resources, (resource) => {
      const descending = large.map((room) => room[resource] ?? 0).sort((one, other) => other - one);
      return [resource, Math.max(0, descending[typesMin - 1]!)] as const;
    });
    return [{ ...Object.fromEntries(shared), cpu }];
  });
}

function capped(supply: Supply, most: Resources): Supply {
  const room = Object.entries(supply.room).map(([resource, amount]) => [resource, Math.min(amount, most[resource] ?? 0)] as const);
  return { ...supply, room: Object.fromEntries(room) };
}
