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
/** Divisions take their time. */
const VISITS_PER_CANDIDATE = 2;

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
  /** Kinds that may come, how many pods of each could be here, and one of its groups. */
  readonly #coming: readonly { readonly kind: number; readonly most: number; readonly group: number }[];

  constructor(filler: Filler, kinds: PodKinds, bin: Bin, counts: Map<number, number>) {
    const { model, remaining } = filler;
    const { columns, groups } = model.spaces[bin.space]!;
    const types = columns.spotTypes[bin.column]!;
    this.#filler = filler;
    this.#bin = bin;
    this.#counts = counts;
    this.#kinds = kinds;
    this.#free = Float64Array.from(bin.load, (used, r) => columns.rooms[bin.column * model.width + r]! - used);
    this.#room = new Float64Array(model.width);
    const welcome = new Set<number>();
    for (const group of groups) if (remaining[group]! > 0) welcome.add(kinds.kindOfGroup[group]!);
    filler.visits += groups.length;
    this.#coming = [...welcome]
      .map((kind) => ({ kind, most: kinds.availableOf(kind, remaining), group: kinds.members[kind]![0]! }))
      .filter(({ kind, group }) => kinds.isFree(kind) && model.spotTypesNeeded[group]! <= types);
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
        this.#counts.set(from, this.#counts.get(from)! - best.leaving);
        this.#counts.set(best.to, (this.#counts.get(best.to) ?? 0) + best.coming);
        isBetter = true;
      }
      if (!isBetter) break;
      isChanged = true;
    }
    return isChanged;
  }

  #groupOf(kind: number): number {
    return this.#kinds.members[kind]![0]!;
  }

  #bestSwap(from: number): Swap | undefined {
    const { model, values } = this.#filler;
    const { width, requests } = model;
    const room = this.#room;
    const own = this.#groupOf(from);
    let best: Swap | undefined;
    let gainMost = GAIN_MIN;
    const leavingMax = Math.min(LEAVING_MAX, this.#counts.get(from)!);
    for (let leaving = 1; leaving <= leavingMax; leaving++) {
      const lost = values[own]! * leaving;
      for (let r = 0; r < width; r++) room[r] = this.#free[r]! + requests[own * width + r]! * leaving;
      this.#filler.visits += VISITS_PER_CANDIDATE * this.#coming.length;
      for (const { kind, most, group } of this.#coming) {
        if (kind === from) continue;
        let coming = most - (this.#counts.get(kind) ?? 0);
        for (let r = 0; r < width && coming > 0; r++) {
          const request = requests[group * width + r]!;
          if (request > 0) coming = Math.min(coming, Math.floor(room[r]! / request));
        }
        const gain = values[group]! * coming - lost;
        if (gain > gainMost) [best, gainMost] = [{ from, leaving, to: kind, coming }, gain];
      }
    }
    return best;
  }
}
