/**
 * New nodes from patterns. A linear program buys patterns, whole filled nodes, in parts; what it says a pod is worth asks for better
 * patterns, which come in until none is found (column generation). Then what it buys of a pattern is rounded to whole nodes, and the
 * same is done with the pods that are left. Ruin and recreate makes small changes; this one sees all nodes at once.
 */
import { downsize, type Entry, entriesOf, fillBin, Opener } from "./construct.ts";
import { CoverProgram } from "./cover-program.ts";
import { EntryQueue } from "./entry-queue.ts";
import type { Filler } from "./filler.ts";
import { type Bin, priceOf } from "./packing.ts";
import type { PackingModel } from "./packing-model.ts";
import { type NodePattern, PatternPool, PatternRows, trimmed } from "./pattern-pool.ts";
import { PodKinds } from "./pod-kinds.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { swapUp } from "./swap.ts";

/** The inverse has the square of so many numbers. */
const ROWS_MAX = 300;
/** Of the steps that are left: most of what is won is won here. */
const STEPS_SHARE = 0.95;
/** Of these for the first program, and for each later one of what is left then. */
const FIRST_SHARE = 0.5;
const LATER_SHARE = 0.3;
/** A pattern that saves less of its price is not worth its place. */
const SAVING_MIN = 5e-4;
/** After so many turns with varied values that found nothing, none is looked for. */
const DRY_TURNS_MAX = 4;
const NOISE = 0.3;
/** Price by value up to which a node may become good by exchanging pods. */
const NEAR_RATIO = 1.05;
/** Kinds of nodes beyond it are left alone for some turns. */
const FAR_RATIO = 1.3;
const NAP_TURNS = 3;
/** From this part of a node on, it is bought whole, of half of those that are bought in part. */
const ROUND_UP_FROM = 0.6;
const ROUND_UP_SHARE = 0.5;
/** What parts are wrong by. */
const DUST = 1e-6;
/** Multiplications that take as long as a visit. */
const WORK_PER_VISIT = 12;

/** The packing with other new nodes for the same pods, where those are cheaper. `filler.values` stay as they are. */
export function repack(model: PackingModel, filler: Filler, bins: readonly Bin[], stepsMax: number, random: SeededRandom): readonly Bin[] {
  const isNew = ({ space, items }: Bin) => model.spaces[space]!.site.kind === "pool" && items.length > 0;
  const old = bins.filter(isNew);
  const kinds = new PodKinds(model);
  const rows = new Set(old.flatMap(({ items }) => items.filter((_, at) => at % 2 === 0).map((group) => kinds.kindOfGroup[group]!)));
  const steps = (stepsMax - filler.visits) * STEPS_SHARE;
  if (rows.size === 0 || rows.size > ROWS_MAX || steps <= 0) return bins;
  const values = filler.values.slice();
  const fresh = new Repacking(model, filler, random, steps, kinds).run(old);
  filler.values.set(values);
  filler.remaining.fill(0);
  if (fresh === undefined || priceOf(model, fresh) >= priceOf(model, old)) return bins;
  return [...bins.filter((bin) => !isNew(bin)), ...fresh];
}

class Repacking {
  readonly #model: PackingModel;
  readonly #filler: Filler;
  readonly #random: SeededRandom;
  readonly #opener: Opener;
  readonly #entries: readonly Entry[];
  readonly #pool: PatternPool;
  readonly #kinds: PodKinds;
  readonly #end: number;

  constructor(model: PackingModel, filler: Filler, random: SeededRandom, steps: number, kinds: PodKinds) {
    this.#model = model;
    this.#filler = filler;
    this.#random = random;
    this.#opener = new Opener(model, filler);
    this.#entries = entriesOf(model);
    this.#pool = new PatternPool(filler, kinds);
    this.#kinds = kinds;
    this.#end = filler.visits + steps;
  }

  /** undefined where the model has no new node for some pod by itself. */
  run(old: readonly Bin[]): Bin[] | undefined {
    const { remaining } = this.#filler;
    remaining.fill(0);
    for (const bin of old) {
      this.#opener.giveBack(bin);
      this.#pool.add(bin);
    }
    const bins: Bin[] = [];
    for (let share = FIRST_SHARE; ; share = LATER_SHARE) {
      this.#filler.narrow();
      if (!this.#filler.hasRest) return bins;
      const program = this.#solved(this.#filler.visits + (this.#end - this.#filler.visits) * share);
      if (program === undefined) return undefined;
      const last = this.#opener.finishWith(this.#entries);
      if (last !== undefined && this.#priceOf(last) <= program.price * (1 + SAVING_MIN)) return [...bins, last];
      if (!this.#buy(program.bought, bins)) return undefined;
      if (this.#filler.visits >= this.#end) return this.#withRest(bins);
    }
  }

  /** What is left when the steps are used up is opened one by one, the least price by value first; values are those of the last program. */
  #withRest(bins: Bin[]): Bin[] | undefined {
    const filler = this.#filler;
    const opener = this.#opener;
    const stale = new Float64Array(this.#entries.length);
    const queue = new EntryQueue(stale);
    let price = 0;
    let finish: Bin[] | undefined;
    let finishPrice = Number.POSITIVE_INFINITY;
    filler.narrow();
    while (filler.hasRest) {
      const last = opener.finishWith(this.#entries);
      if (last !== undefined && price + this.#priceOf(last) < finishPrice) {
        finishPrice = price + this.#priceOf(last);
        finish = [...bins, last];
      }
      const next = opener.cheapest(this.#entries, stale, queue, () => {});
      if (next === undefined) return finish;
      downsize(this.#model, next);
      price += this.#priceOf(next);
      bins.push(next);
    }
    return price < finishPrice ? bins : finish;
  }

  #priceOf({ space, column }: Bin): number {
    return this.#model.spaces[space]!.columns.prices[column]!;
  }

  /** The program of what remains, with all patterns that were found until then. */
  #solved(end: number): CoverProgram<NodePattern> | undefined {
    const filler = this.#filler;
    const rows = new PatternRows(this.#kinds, filler.remaining);
    const singles = this.#pool.singles(rows, this.#opener, this.#entries);
    if (singles === undefined) return undefined;
    const program = new CoverProgram<NodePattern>(rows.sizes, singles);
    const patterns = this.#pool.patterns(rows);
    const wakesAt = new Int32Array(this.#entries.length);
    this.#offerAgain(program, patterns);
    let dry = 0;
    for (let turn = 0; dry <= DRY_TURNS_MAX && filler.visits < end; turn++) {
      const found = this.#turn(program, rows, { turn, end, wakesAt, noise: dry === 0 ? 0 : NOISE });
      patterns.push(...found);
      dry = found.length === 0 ? dry + 1 : 0;
      if (found.length > 0) this.#offerAgain(program, patterns);
    }
    this.#setValues(program, rows, 0);
    return program;
  }

  /** Those that were of no use before may be now. */
  #offerAgain(program: CoverProgram<NodePattern>, patterns: readonly NodePattern[]): void {
    for (let isCheaper = true; isCheaper; ) {
      isCheaper = false;
      for (const pattern of patterns) if (this.#offer(program, pattern)) isCheaper = true;
    }
  }

  #offer(program: CoverProgram<NodePattern>, pattern: NodePattern): boolean {
    const before = program.work;
    const isTaken = program.offer(pattern, SAVING_MIN);
    this.#filler.visits += Math.round((program.work - before) / WORK_PER_VISIT);
    return isTaken;
  }

  /** Looks at every kind of node once; patterns that were taken. */
  #turn(
    program: CoverProgram<NodePattern>,
    rows: PatternRows,
    { turn, end, wakesAt, noise }: { readonly turn: number; readonly end: number; readonly wakesAt: Int32Array; readonly noise: number },
  ): NodePattern[] {
    const filler = this.#filler;
    const found: NodePattern[] = [];
    for (let index = 0; index < this.#entries.length && filler.visits < end; index++) {
      if (wakesAt[index]! > turn) continue;
      this.#setValues(program, rows, noise);
      const bin = this.#opener.open(this.#entries[index]!);
      if (bin === undefined) continue;
      this.#opener.giveBack(bin);
      if (noise > 0) this.#setValues(program, rows, 0);
      if (this.#opener.ratioOf(bin) < NEAR_RATIO) swapUp(filler, this.#kinds, bin);
      downsize(this.#model, bin);
      const ratio = this.#opener.ratioOf(bin);
      if (ratio > FAR_RATIO) wakesAt[index] = turn + NAP_TURNS;
      if (ratio >= 1 - SAVING_MIN) continue;
      const pattern = rows.patternOf(filler, bin);
      if (!this.#offer(program, pattern)) continue;
      this.#pool.add(bin);
      found.push(pattern);
    }
    return found;
  }

  /** Pods are worth what the program says, or about that. */
  #setValues({ worth }: CoverProgram<NodePattern>, rows: PatternRows, noise: number): void {
    rows.setValues(this.#filler.values, worth, () => (noise > 0 ? 1 + noise * (2 * this.#random.unit() - 1) : 1));
  }

  /** Whole nodes, and the largest parts of nodes; false where there is nothing to buy. */
  #buy(bought: readonly { readonly pattern: NodePattern; readonly amount: number }[], bins: Bin[]): boolean {
    const before = bins.length;
    for (const { pattern, amount } of bought)
      for (let count = Math.floor(amount + DUST); count > 0; count--) this.#place(pattern.bin, bins);
    const parts = bought
      .map(({ pattern, amount }) => ({ pattern, part: amount - Math.floor(amount + DUST) }))
      .filter(({ part }) => part > DUST)
      .sort((one, other) => other.part - one.part);
    const large = parts.filter(({ part }, index) => part >= ROUND_UP_FROM && index <= parts.length * ROUND_UP_SHARE);
    for (const { pattern } of large) this.#place(pattern.bin, bins);
    // Something has to be bought, or it would never end.
    for (const { pattern } of parts) if (bins.length === before) this.#place(pattern.bin, bins);
    return bins.length > before;
  }

  /** A node of the pattern; for pods of it that have their place already, others come. */
  #place(pattern: Bin, bins: Bin[]): void {
    const bin = trimmed(this.#filler, this.#kinds, pattern);
    if (bin === undefined) return;
    this.#opener.take(bin);
    if (bin.items.join() !== pattern.items.join()) {
      bin.column = pattern.column;
      this.#filler.narrow();
      fillBin(this.#filler, bin);
      downsize(this.#model, bin);
    }
    bins.push(bin);
  }
}
