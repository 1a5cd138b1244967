/**
 * A first packing: nodes that exist are filled, then always the node is opened that gives the most value for its price. Values begin
 * as the least price at which a pod could ride, and are moved towards what pods really paid; the best of several rounds stays.
 */
import { EntryQueue } from "./entry-queue.ts";
import type { Filler } from "./filler.ts";
import { type Bin, cheapestColumn, copyOf, givenBins, isFullEnough, isRefillable, priceOf, spotTypesNeeded } from "./packing.ts";
import type { PackingModel } from "./packing-model.ts";

const ROUNDS_MAX = 10;
/** What a ratio was in the round before is believed to be this part of what it is now, at least. */
const RATIO_SLACK = 0.9;

/** A first packing may take so many times the steps; what it has not packed by then is left to the solver, which places it greedily. */
const FIRST_PACKING_STEPS = 2;
/** Kinds of nodes that are filled for one choice; the others get their turn in later ones. */
const LOOKS_MAX = 100;

/** A kind of node that can be opened. */
export interface Entry {
  readonly space: number;
  readonly column: number;
}

/** undefined when some pod has no place in the model. */
export function construct(model: PackingModel, filler: Filler, stepsMax: number): Bin[] | undefined {
  const entries = entriesOf(model);
  const ratios = new Float64Array(entries.length);
  setLeastValues(model, filler.values);
  let best: Bin[] | undefined;
  let bestPrice = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const bins = constructOnce(model, filler, entries, ratios, stepsMax);
    if (bins === undefined) return best;
    // A packing without some of the pods cannot be compared.
    if (filler.hasRest && best !== undefined) break;
    const price = priceOf(model, bins);
    if (price < bestPrice) [best, bestPrice] = [bins, price];
    if (filler.visits > stepsMax) break;
    reprice(filler, bins);
  }
  return best;
}

export function entriesOf({ spaces }: PackingModel): readonly Entry[] {
  return spaces.flatMap(({ site, columns }, space) =>
    site.kind === "pool" ? Array.from({ length: columns.count }, (_, column): Entry => ({ space, column })) : [],
  );
}

/** The least price of the share that a pod takes of a node, over all nodes that could be opened. */
function setLeastValues({ spaces, requests, width }: PackingModel, values: Float64Array): void {
  values.fill(Number.POSITIVE_INFINITY);
  for (const { site, columns, groups } of spaces) {
    if (site.kind !== "pool") continue;
    for (const group of groups) {
      for (let column = 0; column < columns.count; column++) {
        let share = 0;
        for (let r = 0; r < width; r++) {
          const request = requests[group * width + r]!;
          if (request > 0) share = Math.max(share, request / columns.rooms[column * width + r]!);
        }
        if (share <= 1 && share >= 0) values[group] = Math.min(values[group]!, columns.prices[column]! * share);
      }
    }
  }
  // Pods that only nodes which are there take cost nothing.
  for (let group = 0; group < values.length; group++) if (values[group] === Number.POSITIVE_INFINITY) values[group] = 0;
}

/** `ratios` are those of the round before, and become those of this one: price by value of the first node of each entry. */
function constructOnce(
  model: PackingModel,
  filler: Filler,
  entries: readonly Entry[],
  ratios: Float64Array,
  stepsMax: number,
): Bin[] | undefined {
  const { remaining } = filler;
  remaining.set(model.sizes);
  // Pods that stay where they are have their places, in the model or beside it.
  for (const [index, { home }] of model.groups.entries()) if (home !== undefined) remaining[index] = 0;
  filler.narrow();
  const bins = givenBins(model);
  const opener = new Opener(model, filler);
  for (const [index, bin] of bins.entries()) {
    if (isRefillable(model, bin)) {
      const filled = opener.bestOf(bin.space);
      if (filled === undefined) return undefined;
      bins[index] = filled;
    } else if (bin.column >= 0) fillBin(filler, bin);
  }
  const stale = ratios.map((ratio) => ratio * RATIO_SLACK);
  const queue = new EntryQueue(stale);
  const isFirst = new Uint8Array(entries.length).fill(1);
  let price = priceOf(model, bins);
  let finishPrice = Number.POSITIVE_INFINITY;
  let finish: Bin[] | undefined;
  while (filler.hasRest) {
    if (filler.visits > stepsMax * FIRST_PACKING_STEPS) return finish ?? downsized(model, bins);
    const last = opener.finishWith(entries);
    if (last !== undefined && price + model.spaces[last.space]!.columns.prices[last.column]! < finishPrice) {
      finishPrice = price + model.spaces[last.space]!.columns.prices[last.column]!;
      finish = [...bins, last];
    }
    const chosen = opener.cheapest(entries, stale, queue, (entry, ratio) => {
      if (isFirst[entry] === 1) ratios[entry] = ratio;
      isFirst[entry] = 0;
    });
    if (chosen === undefined) return finish;
    // As long as there is as much left of everything, the same node would be chosen again.
    const copies = opener.copiesOf(chosen);
    for (let copy = 0; copy <= copies; copy++) {
      const bin = copy === 0 ? chosen : copyOf(chosen);
      if (copy > 0) opener.take(bin);
      bins.push(bin);
      price += model.spaces[bin.space]!.columns.prices[bin.column]!;
    }
  }
  downsized(model, bins);
  return finish !== undefined && finishPrice < priceOf(model, bins) ? finish : bins;
}

function downsized(model: PackingModel, bins: Bin[]): Bin[] {
  for (const bin of bins) downsize(model, bin);
  return bins;
}

export function fillBin(filler: Filler, bin: Bin): void {
  filler.fill(bin.space, bin.column, bin.load, bin.items);
}

/** Moves the node to the cheapest column that holds it, where that costs less. */
export function downsize(model: PackingModel, bin: Bin): void {
  if (model.spaces[bin.space]!.site.kind === "node" || bin.items.length === 0) return;
  const column = cheapestColumn(model, bin);
  if (column >= 0 && column < bin.column) bin.column = column;
}

/** Opens nodes for pods that remain. */
export class Opener {
  readonly #model: PackingModel;
  readonly #filler: Filler;
  readonly #load: Float64Array;
  /** By resource: the most that any node has. */
  readonly #mostRoom: Float64Array;

  constructor(model: PackingModel, filler: Filler) {
    this.#model = model;
    this.#filler = filler;
    this.#load = new Float64Array(model.width);
    this.#mostRoom = new Float64Array(model.width);
    for (const { columns } of model.spaces) {
      for (let at = 0; at < columns.rooms.length; at++) {
        const r = at % model.width;
        this.#mostRoom[r] = Math.max(this.#mostRoom[r]!, columns.rooms[at]!);
      }
    }
  }

  /**
   * The node with the least price by value, taken out of what remains. `stale` holds what each entry's ratio was at least when it was last
   * looked at; as pods only become fewer, entries are looked at in that order until one is known to be better than the next.
   */
  cheapest(
    entries: readonly Entry[],
    stale: Float64Array,
    queue: EntryQueue,
    note: (entry: number, ratio: number) => void,
  ): Bin | undefined {
    let best = -1;
    let bestBin: Bin | undefined;
    const seen: number[] = [];
    while (queue.first >= 0) {
      if (best >= 0 && (seen.length >= LOOKS_MAX || stale[queue.first]! >= stale[best]!)) break;
      const next = queue.take();
      seen.push(next);
      const bin = this.open(entries[next]!);
      const ratio = bin === undefined ? Number.POSITIVE_INFINITY : this.ratioOf(bin);
      stale[next] = ratio;
      note(next, ratio);
      if (bin === undefined) continue;
      this.giveBack(bin);
      if (best < 0 || ratio < stale[best]!) [best, bestBin] = [next, bin];
    }
    for (const entry of seen) queue.put(entry);
    if (bestBin !== undefined) this.take(bestBin);
    return bestBin;
  }

  /** The node of the space with the least price by value, of those that are full enough; taken out of what remains. */
  bestOf(space: number): Bin | undefined {
    let best: Bin | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (let column = 0; column < this.#model.spaces[space]!.columns.count; column++) {
      const bin = this.open({ space, column });
      if (bin === undefined) continue;
      this.giveBack(bin);
      const ratio = this.ratioOf(bin);
      if (ratio < least && isFullEnough(this.#model, bin)) [best, least] = [bin, ratio];
    }
    if (best !== undefined) this.take(best);
    return best;
  }

  /** A filled node; undefined where it takes no pod, or lists too few types. */
  open({ space, column }: Entry): Bin | undefined {
    const bin: Bin = { space, column, load: new Float64Array(this.#model.width), items: [], residents: 0 };
    this.#filler.fill(space, column, bin.load, bin.items);
    return bin.items.length === 0 ? undefined : bin;
  }

  /** Price by value. */
  ratioOf({ space, column, items }: Bin): number {
    let value = 0;
    for (let at = 0; at < items.length; at += 2) value += this.#filler.values[items[at]!]! * items[at + 1]!;
    return this.#model.spaces[space]!.columns.prices[column]! / value;
  }

  take({ items }: Bin): void {
    const { remaining } = this.#filler;
    for (let at = 0; at < items.length; at += 2) remaining[items[at]!] = remaining[items[at]!]! - items[at + 1]!;
  }

  giveBack({ items }: Bin): void {
    const { remaining } = this.#filler;
    for (let at = 0; at < items.length; at += 2) remaining[items[at]!] = remaining[items[at]!]! + items[at + 1]!;
  }

  /** How many more nodes like this one what remains would fill, and something left. */
  copiesOf({ items }: Bin): number {
    let copies = Number.POSITIVE_INFINITY;
    for (let at = 0; at < items.length; at += 2) {
      copies = Math.min(copies, Math.floor(this.#filler.remaining[items[at]!]! / items[at + 1]!));
    }
    return Math.max(0, copies - 1);
  }

  /** One node that holds all the rest, the cheapest; it is not taken. */
  finishWith(entries: readonly Entry[]): Bin | undefined {
    const { width, requests, spaces } = this.#model;
    const { remaining } = this.#filler;
    const load = this.#load.fill(0);
    const items: number[] = [];
    for (let group = 0; group < remaining.length; group++) {
      const count = remaining[group]!;
      if (count === 0) continue;
      if (this.#model.bonds[group]!.length > 0) return undefined;
      items.push(group, count);
      for (let r = 0; r < width; r++) {
        load[r] = load[r]! + requests[group * width + r]! * count;
        if (load[r]! > this.#mostRoom[r]!) return undefined;
      }
    }
    const needed = spotTypesNeeded(this.#model, items);
    let best: Entry | undefined;
    for (const entry of entries) {
      const { columns, groups } = spaces[entry.space]!;
      const price = columns.prices[entry.column]!;
      if (best !== undefined && price >= spaces[best.space]!.columns.prices[best.column]!) continue;
      if (columns.spotTypes[entry.column]! < needed) continue;
      let isRoomy = true;
      for (let r = 0; r < width && isRoomy; r++) isRoomy = columns.rooms[entry.column * width + r]! >= load[r]!;
      if (isRoomy && areWelcome(items, groups)) best = entry;
    }
    return best && { space: best.space, column: best.column, load: load.slice(), items, residents: 0 };
  }
}

function areWelcome(items: readonly number[], groups: Int32Array): boolean {
  for (let at = 0; at < items.length; at += 2) if (!groups.includes(items[at]!)) return false;
  return true;
}

/** Moves the values of each bucket half of the way, as a ratio, to what it paid. */
function reprice({ model, values, buckets: { count, bucketOfGroup } }: Filler, bins: readonly Bin[]): void {
  const paid = new Float64Array(count);
  const asked = new Float64Array(count);
  for (const { space, column, items } of bins) {
    let worth = 0;
    for (let at = 0; at < items.length; at += 2) worth += values[items[at]!]! * items[at + 1]!;
    const price = model.spaces[space]!.columns.prices[column]!;
    if (worth === 0 || price === 0) continue;
    for (let at = 0; at < items.length; at += 2) {
      const bucket = bucketOfGroup[items[at]!]!;
      const part = values[items[at]!]! * items[at + 1]!;
      paid[bucket] = paid[bucket]! + (price * part) / worth;
      asked[bucket] = asked[bucket]! + part;
    }
  }
  for (let group = 0; group < values.length; group++) {
    const bucket = bucketOfGroup[group]!;
    if (asked[bucket]! > 0) values[group] = values[group]! * Math.sqrt(paid[bucket]! / asked[bucket]!);
  }
}
