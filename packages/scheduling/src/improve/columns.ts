/**
 * What one more node can be: boxes of room with the lowest price for which a launchable instance type has that much, DaemonSets
 * already taken off. Where spot is to be had, a box also knows how many types with a spot offering have so much: a node whose load
 * stays within the box lists at least those. Beside the types' own rooms there are therefore smaller boxes, which many types share.
 */
import type { Catalog } from "../catalog/catalog.ts";
import { addAll, emptySet, intersection, isIn, type TypeSet } from "../catalog/type-set.ts";
import type { ClaimState } from "../solve/claim-state.ts";
import type { Template } from "../solve/template.ts";

export interface Columns {
  readonly count: number;
  /** Row i: the room of column i. */
  readonly rooms: Float64Array;
  /** USD per hour, with what a node costs beside its instance; ascending. */
  readonly prices: Float64Array;
  /** Spot types that have the room, at most `TYPES_COUNTED_MAX`; that where nothing of the column is spot. */
  readonly spotTypes: Uint8Array;
}

export const TYPES_COUNTED_MAX = 255;

export interface ColumnWish {
  /** USD per hour beside the instance. */
  readonly nodeUsdPerHour: number;
  readonly spotTypesMin: number;
}

/** Launchable variants of a state, what they have room for, their prices and whether they are to be had as spot. */
export class Offer {
  readonly width: number;
  readonly count: number;
  readonly rooms: Float64Array;
  readonly prices: Float64Array;
  readonly isSpot: Uint8Array;
  readonly hasSpot: boolean;
  readonly #types: Int32Array;

  /** @param allowed what limits leave; undefined = all */
  constructor({ variants, kinds }: ClaimState, template: Template, allowed: TypeSet | undefined) {
    const { catalog } = template;
    // A reservation has few slots and no price of its own; who holds one keeps it, but nobody counts on one more.
    const own = kinds.filter((kind) => catalog.kinds[kind]!.capacityType !== "reserved");
    const spot = launchable(
      catalog,
      own.filter((kind) => catalog.kinds[kind]!.capacityType === "spot"),
    );
    const permitted = allowed === undefined ? variants : intersection(variants, allowed);
    const launched = intersection(permitted, launchable(catalog, own));
    const members: number[] = [];
    for (let variant = 0; variant < catalog.variantCount; variant++) if (isIn(launched, variant)) members.push(variant);
    const table = roomTable(template);
    this.width = template.room.length;
    this.count = members.length;
    this.rooms = new Float64Array(members.length * this.width);
    this.prices = new Float64Array(members.length);
    this.isSpot = new Uint8Array(members.length);
    this.#types = new Int32Array(members.length);
    for (const [at, variant] of members.entries()) {
      const type = catalog.typeOfVariant[variant]!;
      this.rooms.set(table.subarray(variant * this.width, (variant + 1) * this.width), at * this.width);
      this.prices[at] = Math.min(
        ...own.map((kind) => (isIn(catalog.kinds[kind]!.launchable, variant) ? catalog.kinds[kind]!.prices[type]! : Infinity)),
      );
      this.isSpot[at] = Number(isIn(spot, variant));
      this.#types[at] = type;
    }
    this.hasSpot = this.isSpot.includes(1);
  }

  /** How many spot types have at least so much room, counted up to `TYPES_COUNTED_MAX`. */
  spotTypesWith(rooms: Float64Array, at: number): number {
    let count = 0;
    let last = -1;
    for (let member = 0; member < this.count; member++) {
      // Variants of one type are neighbours.
      if (this.isSpot[member] === 0 || this.#types[member] === last || !this.#holds(member, rooms, at)) continue;
      last = this.#types[member]!;
      if (++count === TYPES_COUNTED_MAX) break;
    }
    return count;
  }

  /** The lowest price of a type with at least so much room; +∞ where there is none. */
  priceOf(rooms: Float64Array, at: number): number {
    let price = Number.POSITIVE_INFINITY;
    for (let member = 0; member < this.count; member++) {
      if (this.prices[member]! < price && this.#holds(member, rooms, at)) price = this.prices[member]!;
    }
    return price;
  }

  #holds(member: number, rooms: Float64Array, at: number): boolean {
    const own = member * this.width;
    for (let r = 0; r < this.width; r++) if (this.rooms[own + r]! < rooms[at + r]!) return false;
    return true;
  }
}

function launchable(catalog: Catalog, kinds: readonly number[]): TypeSet {
  const set = emptySet(catalog.variantCount);
  for (const kind of kinds) addAll(set, catalog.kinds[kind]!.launchable);
  return set;
}

const tables = new WeakMap<Template, Float64Array>();

/** Row i: what is left for pods on variant i; −∞ where it is no member of the template. */
function roomTable(template: Template): Float64Array {
  const known = tables.get(template);
  if (known !== undefined) return known;
  const { room, catalog } = template;
  const width = room.length;
  const table = new Float64Array(catalog.variantCount * width).fill(Number.NEGATIVE_INFINITY);
  for (const [r, column] of room.entries()) {
    for (let row = 0; row < column.amounts.length; row++) {
      const here = column.setOf(row);
      const above = column.setOf(row + 1);
      for (let word = 0; word < here.length; word++) {
        for (let bits = here[word]! & ~above[word]!; bits !== 0; bits &= bits - 1) {
          const variant = (word << 5) | (31 - Math.clz32(bits & -bits));
          table[variant * width + r] = column.amounts[row]!;
        }
      }
    }
  }
  tables.set(template, table);
  return table;
}

export function columnsOf(offer: Offer, { nodeUsdPerHour, spotTypesMin }: ColumnWish): Columns {
  const { width } = offer;
  const isFlexible = offer.hasSpot && spotTypesMin > 1;
  const boxes = new Boxes(width);
  for (let member = 0; member < offer.count; member++) boxes.add(offer.rooms, member * width);
  if (isFlexible) {
    const shared = sharedBoxes(offer, spotTypesMin);
    const common = new Float64Array(width);
    const providers = cheapestProviders(offer);
    for (const box of largestOf(shared)) {
      boxes.add(shared.rooms, box * width);
      for (const member of providers) {
        for (let r = 0; r < width; r++) common[r] = Math.min(shared.rooms[box * width + r]!, offer.rooms[member * width + r]!);
        boxes.add(common, 0);
      }
    }
  }
  return pruned(offer, boxes, isFlexible, nodeUsdPerHour, spotTypesMin);
}

/** Distinct boxes in the order in which they came. */
class Boxes {
  readonly width: number;
  rooms: Float64Array;
  count = 0;
  readonly #seen = new Set<string>();

  constructor(width: number) {
    this.width = width;
    this.rooms = new Float64Array(64 * width);
  }

  add(from: Float64Array, at: number): void {
    const box = from.subarray(at, at + this.width);
    const key = box.join();
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    if ((this.count + 1) * this.width > this.rooms.length) {
      const more = new Float64Array(this.rooms.length * 2);
      more.set(this.rooms);
      this.rooms = more;
    }
    this.rooms.set(box, this.count++ * this.width);
  }
}

/**
 * Boxes that at least so many spot types have, each as large as it can be along two resources: for every amount of the first, the
 * types with the most of the second.
 */
function sharedBoxes(offer: Offer, typesMin: number): Boxes {
  const { width, rooms } = offer;
  const boxes = new Boxes(width);
  const spot = [...offer.isSpot.keys()].filter((member) => offer.isSpot[member] === 1);
  const varied = [...Array(width).keys()].filter((r) => spot.some((member) => rooms[member * width + r] !== rooms[spot[0]! * width + r]));
  const box = new Float64Array(width);
  for (const first of varied) {
    const amounts = [...new Set(spot.map((member) => rooms[member * width + first]!))].sort((a, b) => a - b);
    for (const second of varied) {
      if (second === first) continue;
      const byMost = spot.toSorted((a, b) => rooms[b * width + second]! - rooms[a * width + second]!);
      for (const amount of amounts) {
        const sharing = byMost.filter((member) => rooms[member * width + first]! >= amount).slice(0, typesMin);
        if (sharing.length < typesMin) break;
        for (let r = 0; r < width; r++) box[r] = Math.min(...sharing.map((member) => rooms[member * width + r]!));
        boxes.add(box, 0);
      }
    }
  }
  return boxes;
}

/** Boxes that are within no other one; what has room in a smaller one has it there too. */
function largestOf({ count, width, rooms }: Boxes): readonly number[] {
  const kept: number[] = [];
  const order = [...Array(count).keys()].sort((a, b) => byRoom(rooms, a, b, width));
  for (const box of order) {
    if (!kept.some((other) => covers(rooms, other * width, rooms, box * width, width))) kept.push(box);
  }
  return kept;
}

/** Members than which no other has as much room for less. */
function cheapestProviders({ count, width, rooms, prices }: Offer): readonly number[] {
  const order = [...Array(count).keys()].sort((a, b) => prices[a]! - prices[b]! || a - b);
  const kept: number[] = [];
  for (const member of order) {
    if (!kept.some((other) => covers(rooms, other * width, rooms, member * width, width))) kept.push(member);
  }
  return kept;
}

function covers(one: Float64Array, oneAt: number, other: Float64Array, otherAt: number, width: number): boolean {
  for (let r = 0; r < width; r++) if (one[oneAt + r]! < other[otherAt + r]!) return false;
  return true;
}

/** By price; without boxes than which another has as much room, as many types and no higher price. */
function pruned(offer: Offer, boxes: Boxes, isFlexible: boolean, nodeUsdPerHour: number, spotTypesMin: number): Columns {
  const { width } = offer;
  const { rooms } = boxes;
  const prices = new Float64Array(boxes.count);
  const spotTypes = new Uint8Array(boxes.count);
  const order: number[] = [];
  for (let box = 0; box < boxes.count; box++) {
    prices[box] = offer.priceOf(rooms, box * width);
    spotTypes[box] = isFlexible ? Math.min(spotTypesMin, offer.spotTypesWith(rooms, box * width)) : TYPES_COUNTED_MAX;
    if (prices[box]! < Number.POSITIVE_INFINITY) order.push(box);
  }
  order.sort((a, b) => prices[a]! - prices[b]! || spotTypes[b]! - spotTypes[a]! || byRoom(rooms, a, b, width));
  const kept: number[] = [];
  for (const box of order) {
    const isBeaten = kept.some((other) => spotTypes[other]! >= spotTypes[box]! && covers(rooms, other * width, rooms, box * width, width));
    if (!isBeaten) kept.push(box);
  }
  const columns = { count: kept.length, rooms: new Float64Array(kept.length * width) };
  for (const [at, box] of kept.entries()) columns.rooms.set(rooms.subarray(box * width, (box + 1) * width), at * width);
  return {
    ...columns,
    prices: Float64Array.from(kept, (box) => prices[box]! + nodeUsdPerHour),
    spotTypes: Uint8Array.from(kept, (box) => spotTypes[box]!),
  };
}

/** The roomier first. */
function byRoom(rooms: Float64Array, a: number, b: number, width: number): number {
  for (let r = 0; r < width; r++) {
    const difference = rooms[b * width + r]! - rooms[a * width + r]!;
    if (difference !== 0) return difference;
  }
  return 0;
}
