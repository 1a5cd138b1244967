/** Groups of pods put together into nodes: what a packing is, and what it costs. */
import { TYPES_COUNTED_MAX } from "./columns.ts";
import type { PackingModel } from "./packing-model.ts";

/** One node of a packing. */
export interface Bin {
  readonly space: number;
  /** What it is paid as: a column of the space. */
  column: number;
  /** Sum of the requests. */
  readonly load: Float64Array;
  /** Group, count, group, count … */
  items: number[];
  /** Fixed residents are the first so many entries of `items`. */
  readonly residents: number;
}

export function priceOf({ spaces }: PackingModel, bins: readonly Bin[]): number {
  let sum = 0;
  for (let index = 0; index < bins.length; index++) {
    const { space, column, items } = bins[index]!;
    if (items.length > 0) sum += spaces[space]!.columns.prices[column]!;
  }
  return sum;
}

export function copyOf({ space, column, load, items, residents }: Bin): Bin {
  return { space, column, load: load.slice(), items: items.slice(), residents };
}

export function addItem(items: number[], group: number, count: number): void {
  for (let at = 0; at < items.length; at += 2) {
    if (items[at] === group) {
      items[at + 1] = items[at + 1]! + count;
      return;
    }
  }
  items.push(group, count);
}

/** The nodes that are there from the beginning, with what stays on them. */
export function givenBins(model: PackingModel): Bin[] {
  const { width, requests, sizes } = model;
  return model.givenBins.map(({ space, groups }) => {
    const isNode = model.spaces[space]!.site.kind === "node";
    const load = new Float64Array(width);
    const items: number[] = [];
    for (const group of groups) {
      items.push(group, sizes[group]!);
      for (let r = 0; r < width; r++) load[r] = load[r]! + requests[group * width + r]! * sizes[group]!;
    }
    const bin: Bin = { space, column: 0, load, items, residents: items.length };
    if (!isNode) bin.column = cheapestColumn(model, bin);
    return bin;
  });
}

/** May all of its pods be others? */
export function isRefillable({ spaces }: PackingModel, { space }: Bin): boolean {
  const { site } = spaces[space]!;
  return site.kind === "claim" && site.least !== undefined;
}

/** Does the node hold as much as it has to? */
export function isFullEnough({ spaces }: PackingModel, { space, load }: Bin): boolean {
  const { site } = spaces[space]!;
  return site.kind !== "claim" || site.least === undefined || site.least.every((amount, r) => load[r]! >= amount);
}

/** The first column of the bin's space that holds its load and lists enough types; −1 where none does. */
export function cheapestColumn(model: PackingModel, { space, load, items }: Bin): number {
  const { count, rooms, spotTypes } = model.spaces[space]!.columns;
  const { width } = model;
  const needed = spotTypesNeeded(model, items);
  for (let column = 0; column < count; column++) {
    if (spotTypes[column]! >= needed && holds(rooms, column * width, load, width)) return column;
  }
  return -1;
}

export function spotTypesNeeded(model: PackingModel, items: readonly number[]): number {
  let needed = TYPES_COUNTED_MAX;
  for (let at = 0; at < items.length; at += 2) needed = Math.min(needed, model.spotTypesNeeded[items[at]!]!);
  return needed;
}

function holds(rooms: Float64Array, at: number, load: Float64Array, width: number): boolean {
  for (let r = 0; r < width; r++) if (rooms[at + r]! < load[r]!) return false;
  return true;
}
