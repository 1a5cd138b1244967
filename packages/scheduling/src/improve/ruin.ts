/**
 * Ruin and recreate: some nodes are given up, pods of others are taken out, and all of them are put together anew; what is not
 * dearer stays. Ends when the steps are used up.
 */
import { downsize, type Entry, entriesOf, fillBin, Opener } from "./construct.ts";
import type { Filler } from "./filler.ts";
import { type Bin, copyOf, isFullEnough, spotTypesNeeded } from "./packing.ts";
import type { PackingModel } from "./packing-model.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** Nodes that are ruined at once, as a rule. */
const RUINED_MAX = 3;
const LARGE_RUIN_CHANCE = 0.04;
const LARGE_RUIN_SHARE = 0.3;
/** How often pods of other nodes are moved too, and of how many. */
const THINNING_CHANCE = 0.5;
const THINNED_SHARE = 0.15;
/** Of their groups. */
const THINNED_GROUPS_SHARE = 0.1;
/** Kinds of nodes that are tried for what remains. */
const BEST_ENTRIES = 12;
const RANDOM_ENTRIES = 6;
/** Nodes among which the most wasteful is chosen. */
const CONTENDERS = 5;
/** What a node costs in a round beside its filling. */
const VISITS_PER_NODE = 5;
/** After so many rounds in which nothing was even tried, nothing will be. */
const IDLE_ROUNDS_MAX = 50;
/** Values are varied by up to this part, so that other pods are put together. */
const NOISE = 0.3;

export function ruinAndRecreate(model: PackingModel, filler: Filler, start: readonly Bin[], stepsMax: number, random: SeededRandom): Bin[] {
  return new Ruin(model, filler, start, random).run(stepsMax);
}

class Ruin {
  readonly #model: PackingModel;
  readonly #filler: Filler;
  readonly #opener: Opener;
  readonly #random: SeededRandom;
  readonly #entries: readonly Entry[];
  readonly #bins: Bin[];
  readonly #ratios: Float64Array;
  /** What pods are worth when nothing is varied. */
  readonly #values: Float64Array;
  /** Of a node that is being tried. */
  readonly #load: Float64Array;
  readonly #items: number[] = [];

  constructor(model: PackingModel, filler: Filler, start: readonly Bin[], random: SeededRandom) {
    this.#model = model;
    this.#filler = filler;
    this.#opener = new Opener(model, filler);
    this.#random = random;
    this.#entries = entriesOf(model);
    this.#bins = start.map(copyOf);
    this.#values = filler.values.slice();
    this.#ratios = new Float64Array(this.#entries.length);
    this.#load = new Float64Array(model.width);
  }

  run(stepsMax: number): Bin[] {
    const { remaining } = this.#filler;
    remaining.fill(0);
    if (this.#entries.length === 0) return this.#bins;
    let idle = 0;
    while (this.#filler.visits < stepsMax && idle < IDLE_ROUNDS_MAX) {
      const before = this.#filler.visits;
      this.#round();
      idle = this.#filler.visits === before ? idle + 1 : 0;
    }
    return this.#bins;
  }

  /** One try; leaves the packing as it was, or not dearer. */
  #round(): void {
    const bins = this.#bins;
    this.#vary();
    // Each node is looked at and copied at least once.
    this.#filler.visits += VISITS_PER_NODE * bins.length;
    const changed = new Map<number, Bin>();
    const ruined = new Set<number>();
    let freed = 0;
    for (const index of this.#victims()) {
      ruined.add(index);
      freed += this.#priceOf(bins[index]!);
      this.#opener.giveBack(bins[index]!);
    }
    if (ruined.size === 0) return;
    if (this.#random.unit() < THINNING_CHANCE) this.#thin(ruined, changed);
    this.#filler.narrow();
    this.#refill(ruined, changed);
    for (const [index, bin] of changed) {
      downsize(this.#model, bin);
      freed += this.#priceOf(bins[index]!) - this.#priceOf(bin);
    }
    const opened = this.#reopen(freed);
    const isSound = opened !== undefined && [...changed.values()].every((bin) => this.#isSound(bin));
    if (!isSound) {
      this.#filler.remaining.fill(0);
      return;
    }
    for (const [index, bin] of changed) bins[index] = bin;
    const kept = bins.filter((_, index) => !ruined.has(index));
    bins.length = 0;
    bins.push(...kept.filter(({ items, space }) => items.length > 0 || this.#model.spaces[space]!.site.kind !== "pool"), ...opened);
  }

  /** Other values put other pods together. */
  #vary(): void {
    const { values, buckets } = this.#filler;
    for (let bucket = 0; bucket < buckets.count; bucket++) {
      const factor = 1 + NOISE * (2 * this.#random.unit() - 1);
      for (let at = buckets.starts[bucket]!; at < buckets.starts[bucket + 1]!; at++) {
        const group = buckets.order[at]!;
        values[group] = this.#values[group]! * factor;
      }
    }
  }

  #priceOf({ space, column, items }: Bin): number {
    return items.length === 0 ? 0 : this.#model.spaces[space]!.columns.prices[column]!;
  }

  #isSound(bin: Bin): boolean {
    const { space, column, items } = bin;
    if (!isFullEnough(this.#model, bin)) return false;
    return items.length === 0 || this.#model.spaces[space]!.columns.spotTypes[column]! >= spotTypesNeeded(this.#model, items);
  }

  /** Nodes to give up: those that cost more than their pods are worth, by chance. */
  #victims(): readonly number[] {
    const count = this.#bins.length;
    const isLarge = this.#random.unit() < LARGE_RUIN_CHANCE;
    const wanted = isLarge ? 1 + this.#random.below(Math.ceil(count * LARGE_RUIN_SHARE)) : 1 + this.#random.below(RUINED_MAX);
    const victims = new Set<number>();
    for (let draw = 0; draw < wanted; draw++) {
      let worst = -1;
      let most = Number.NEGATIVE_INFINITY;
      for (let contender = 0; contender < CONTENDERS; contender++) {
        const index = this.#random.below(count);
        const bin = this.#bins[index]!;
        if (this.#model.spaces[bin.space]!.site.kind !== "pool") continue;
        const waste = this.#opener.ratioOf(bin);
        if (waste > most) [worst, most] = [index, waste];
      }
      if (worst >= 0) victims.add(worst);
    }
    return [...victims];
  }

  /** Takes some pods out of other nodes. */
  #thin(ruined: ReadonlySet<number>, changed: Map<number, Bin>): void {
    const { width, requests } = this.#model;
    const { remaining } = this.#filler;
    for (let index = 0; index < this.#bins.length; index++) {
      if (ruined.has(index) || this.#random.unit() >= THINNED_SHARE) continue;
      const bin = copyOf(this.#bins[index]!);
      const left = bin.items.slice(0, bin.residents);
      for (let at = bin.residents; at < bin.items.length; at += 2) {
        const group = bin.items[at]!;
        const count = bin.items[at + 1]!;
        const taken = this.#random.unit() < THINNED_GROUPS_SHARE ? this.#random.below(count + 1) : 0;
        remaining[group] = remaining[group]! + taken;
        if (taken < count) left.push(group, count - taken);
        for (let r = 0; r < width; r++) bin.load[r] = bin.load[r]! - requests[group * width + r]! * taken;
      }
      bin.items = left;
      changed.set(index, bin);
    }
  }

  /** The nodes that stay take what they can, in random order. */
  #refill(ruined: ReadonlySet<number>, changed: Map<number, Bin>): void {
    const order: number[] = [];
    for (let index = 0; index < this.#bins.length; index++) if (!ruined.has(index)) order.push(index);
    for (let last = order.length - 1; last > 0; last--) {
      const other = this.#random.below(last + 1);
      [order[last], order[other]] = [order[other]!, order[last]!];
    }
    for (const index of order) {
      const known = changed.get(index);
      if (known !== undefined) {
        if (known.column >= 0) fillBin(this.#filler, known);
        continue;
      }
      const { space, column, load, items, residents } = this.#bins[index]!;
      if (column < 0) continue;
      // Most nodes take nothing, and a copy of each of them would cost more than the try.
      this.#load.set(load);
      this.#items.length = 0;
      for (let at = 0; at < items.length; at++) this.#items.push(items[at]!);
      this.#filler.fill(space, column, this.#load, this.#items);
      const isSame = this.#items.length === items.length && this.#load.every((used, r) => used === load[r]);
      if (!isSame) changed.set(index, { space, column, load: this.#load.slice(), items: this.#items.slice(), residents });
    }
  }

  /** New nodes for the rest; undefined, where they would cost more than was freed. */
  #reopen(budget: number): Bin[] | undefined {
    const opened: Bin[] = [];
    let price = 0;
    while (this.#filler.hasRest) {
      const bin = this.#opener.finishWith(this.#entries);
      let best = bin !== undefined && price + this.#priceOf(bin) <= budget ? bin : undefined;
      if (best !== undefined) this.#opener.take(best);
      else best = this.#bestOf(this.#candidates());
      if (best === undefined) return undefined;
      downsize(this.#model, best);
      price += this.#priceOf(best);
      if (price > budget) return undefined;
      opened.push(best);
    }
    return opened;
  }

  #bestOf(candidates: readonly number[]): Bin | undefined {
    let best: Bin | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const entry of candidates) {
      const bin = this.#opener.open(this.#entries[entry]!);
      if (bin === undefined) continue;
      const ratio = this.#opener.ratioOf(bin);
      this.#ratios[entry] = this.#ratios[entry] === 0 ? ratio : 0.9 * this.#ratios[entry]! + 0.1 * ratio;
      this.#opener.giveBack(bin);
      if (ratio < least) [best, least] = [bin, ratio];
    }
    if (best !== undefined) this.#opener.take(best);
    return best;
  }

  /** Entries whose nodes were good so far, and some by chance. */
  #candidates(): readonly number[] {
    const candidates: number[] = [];
    this.#filler.visits += this.#entries.length;
    const usable: number[] = [];
    for (let entry = 0; entry < this.#entries.length; entry++) {
      if (!this.#isAsked(entry)) continue;
      usable.push(entry);
      let at = candidates.length;
      while (at > 0 && this.#ratios[entry]! < this.#ratios[candidates[at - 1]!]!) at--;
      if (at < BEST_ENTRIES) candidates.splice(at, 0, entry);
      if (candidates.length > BEST_ENTRIES) candidates.pop();
    }
    for (let draw = 0; draw < RANDOM_ENTRIES && usable.length > 0; draw++) candidates.push(usable[this.#random.below(usable.length)]!);
    return candidates;
  }

  /** Does any pod that remains go there? */
  #isAsked(entry: number): boolean {
    const { groups } = this.#model.spaces[this.#entries[entry]!.space]!;
    for (const group of groups) if (this.#filler.remaining[group]! > 0) return true;
    return false;
  }
}
