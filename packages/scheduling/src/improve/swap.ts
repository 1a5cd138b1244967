/**
 * Makes a filled node worth more: some pods of one kind leave for as many of another as then fit. Taking pods one after the other seldom
 * ends with a full node; these exchanges use the last percent of it.
 */
import type { Filler } from "./filler.ts";
import type { Bin } from "./packing.ts";
import type { PodKinds } from "./pod-kinds.ts";

/** Pods that leave at once. Measured: with one alone, plans are dearer by 0.2 %. */
const LEAVING_MAX = 3;
const PASSES_MAX = 6;
/** USD per hour: what sums are wrong by. */
const GAIN_MIN = 1e-12;
/** Measured: a candidate is a matter of a few divisions, a visit of the filler one of several. */
const VISITS_PER_CANDIDATE = 0.5;

interface Swap {
  readonly from: number;
  readonly leaving: number;
  readonly to: number;
  readonly coming: number;
}

/**
 * The pods of the bin count among those that remain, and pods of a kind are worth the same. Those whose company on the node concerns pods of
 * other kinds stay as they are.
 */
export function swapUp(filler: Filler, kinds: PodKinds, bin: Bin): void {
  const { remaining } = filler;
  const { items } = bin;
  const counts = new Map<number, number>();
  for (let at = 0; at < items.length; at += 2) {
    const kind = kinds.kindOfGroup[items[at]!]!;
    if (kinds.isFree(kind)) counts.set(kind, (counts.get(kind) ?? 0) + items[at + 1]!);
  }
  if (counts.size === 0 || !new Exchange(filler, kinds, bin, counts).run()) return;
  const others: number[] = [];
  for (let at = 0; at < items.length; at += 2) if (!kinds.isFree(kinds.kindOfGroup[items[at]!]!)) others.push(items[at]!, items[at + 1]!);
  bin.items = others;
  for (const [kind, count] of counts) if (count > 0) kinds.put(bin.items, kind, count, remaining);
}

class Exchange {
  readonly #filler: Filler;
  readonly #bin: Bin;
  readonly #counts: Map<number, number>;
  readonly #kinds: PodKinds;
  readonly #free: Float64Array;
  /** The same with what the leaving pods leave. */
  readonly #room: Float64Array;
  /** Kinds that may come. */
  readonly #coming: Int32Array;
  /** By place among those: how many more pods could be here, what one of them is worth, and, as a row, what it asks for. */
  readonly #most: Float64Array;
  readonly #worth: Float64Array;
  readonly #requests: Float64Array;

  constructor(filler: Filler, kinds: PodKinds, bin: Bin, counts: Map<number, number>) {
    const { model, remaining, values } = filler;
    const { width } = model;
    const { columns, groups } = model.spaces[bin.space]!;
    const types = columns.spotTypes[bin.column]!;
    this.#filler = filler;
    this.#bin = bin;
    this.#counts = counts;
    this.#kinds = kinds;
    this.#free = Float64Array.from(bin.load, (used, r) => columns.rooms[bin.column * width + r]! - used);
    this.#room = new Float64Array(width);
    const welcome = new Set<number>();
    for (const group of groups) if (remaining[group]! > 0) welcome.add(kinds.kindOfGroup[group]!);
    filler.visits += groups.length;
    const coming: number[] = [];
    for (const kind of welcome) if (kinds.isFree(kind) && model.spotTypesNeeded[kinds.members[kind]![0]!]! <= types) coming.push(kind);
    this.#coming = Int32Array.from(coming);
    this.#most = Float64Array.from(coming, (kind) => kinds.availableOf(kind, remaining) - (counts.get(kind) ?? 0));
    this.#worth = Float64Array.from(coming, (kind) => values[this.#groupOf(kind)]!);
    this.#requests = new Float64Array(coming.length * width);
    for (const [place, kind] of coming.entries()) {
      const group = this.#groupOf(kind);
      this.#requests.set(model.requests.subarray(group * width, (group + 1) * width), place * width);
    }
  }

  /** Changes the counts and the bin's load; says whether it did. */
  run(): boolean {
    const { width, requests } = this.#filler.model;
    const { load } = this.#bin;
    let isChanged = false;
    for (let pass = 0; pass < PASSES_MAX; pass++) {
      let isBetter = false;
      // Kinds that are new are met in the next pass.
      for (const from of [...this.#counts.keys()]) {
        const best = this.#bestSwap(from);
        if (best === undefined) continue;
        for (let r = 0; r < width; r++) {
          const more =
            requests[this.#groupOf(best.to) * width + r]! * best.coming - requests[this.#groupOf(from) * width + r]! * best.leaving;
          this.#free[r] = this.#free[r]! - more;
          load[r] = load[r]! + more;
        }
        this.#add(from, -best.leaving);
        this.#add(best.to, best.coming);
        isBetter = true;
      }
      if (!isBetter) break;
      isChanged = true;
    }
    return isChanged;
  }

  #add(kind: number, count: number): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + count);
    const place = this.#coming.indexOf(kind);
    if (place >= 0) this.#most[place] = this.#most[place]! - count;
  }

  #groupOf(kind: number): number {
    return this.#kinds.members[kind]![0]!;
  }

  #bestSwap(from: number): Swap | undefined {
    const { model, values } = this.#filler;
    const { width } = model;
    const room = this.#room;
    const own = this.#groupOf(from);
    let best: Swap | undefined;
    let gainMost = GAIN_MIN;
    const leavingMax = Math.min(LEAVING_MAX, this.#counts.get(from)!);
    this.#filler.visits += Math.round(VISITS_PER_CANDIDATE * this.#coming.length * leavingMax);
    for (let leaving = 1; leaving <= leavingMax; leaving++) {
      const lost = values[own]! * leaving;
      for (let r = 0; r < width; r++) room[r] = this.#free[r]! + model.requests[own * width + r]! * leaving;
      for (let place = 0; place < this.#coming.length; place++) {
        const coming = this.#countOf(place, (gainMost + lost) / this.#worth[place]!);
        const gain = this.#worth[place]! * coming - lost;
        if (gain <= gainMost || this.#coming[place] === from) continue;
        [best, gainMost] = [{ from, leaving, to: this.#coming[place]!, coming }, gain];
      }
    }
    return best;
  }

  /** How many pods may come; 0 where that is not more than so many. */
  #countOf(place: number, enough: number): number {
    const width = this.#room.length;
    let count = this.#most[place]!;
    for (let r = 0; r < width; r++) {
      if (count <= enough) return 0;
      const request = this.#requests[place * width + r]!;
      if (request > 0) count = Math.min(count, Math.floor(this.#room[r]! / request));
    }
    return Math.max(0, count);
  }
}
