/** Filled nodes that were good once, as columns of a linear program: what of each is still of use as pods become fewer. */
import { downsize, type Entry, type Opener } from "./construct.ts";
import type { Pattern } from "./cover-program.ts";
import type { Filler } from "./filler.ts";
import { addItem, type Bin, copyOf, spotTypesNeeded } from "./packing.ts";
import type { PodKinds } from "./pod-kinds.ts";

export interface NodePattern extends Pattern {
  readonly bin: Bin;
}

/** The rows of a program: kinds with pods left. */
export class PatternRows {
  readonly kinds: readonly number[];
  /** By row: how many pods. */
  readonly sizes: Int32Array;
  readonly #all: PodKinds;
  readonly #rowOfKind: Int32Array;

  constructor(all: PodKinds, remaining: Int32Array) {
    this.#all = all;
    const sizes = all.members.map((members) => members.reduce((sum, group) => sum + remaining[group]!, 0));
    this.kinds = [...sizes.keys()].filter((kind) => sizes[kind]! > 0);
    this.sizes = Int32Array.from(this.kinds, (kind) => sizes[kind]!);
    this.#rowOfKind = new Int32Array(all.count).fill(-1);
    for (const [row, kind] of this.kinds.entries()) this.#rowOfKind[kind] = row;
  }

  patternOf(filler: Filler, bin: Bin): NodePattern {
    const price = filler.model.spaces[bin.space]!.columns.prices[bin.column]!;
    const items: number[] = [];
    for (let at = 0; at < bin.items.length; at += 2)
      addItem(items, this.#rowOfKind[this.#all.kindOfGroup[bin.items[at]!]!]!, bin.items[at + 1]!);
    return { price, items, bin };
  }

  /** Pods are worth what the program says of their row, times a factor for each group. */
  setValues(values: Float64Array, worth: Float64Array, factor: () => number): void {
    for (const [row, kind] of this.kinds.entries())
      for (const group of this.#all.members[kind]!) values[group] = Math.max(0, worth[row]!) * factor();
  }
}

export class PatternPool {
  readonly #filler: Filler;
  readonly #kinds: PodKinds;
  readonly #bins = new Map<string, Bin>();
  /** By kind: the cheapest node of pods of one of its groups alone. */
  readonly #singles = new Map<number, Bin>();

  constructor(filler: Filler, kinds: PodKinds) {
    this.#filler = filler;
    this.#kinds = kinds;
  }

  add(bin: Bin): void {
    this.#bins.set(`${bin.space} ${bin.column} ${bin.items.join()}`, copyOf(bin));
  }

  /** Without what is more than remains. */
  patterns(rows: PatternRows): NodePattern[] {
    return [...this.#bins.values()].flatMap((bin) => {
      const left = trimmed(this.#filler, this.#kinds, bin);
      return left === undefined ? [] : [rows.patternOf(this.#filler, left)];
    });
  }

  /** One for each row; undefined where some pod has no new node. */
  singles(rows: PatternRows, opener: Opener, entries: readonly Entry[]): NodePattern[] | undefined {
    const { remaining } = this.#filler;
    const patterns: NodePattern[] = [];
    for (const kind of rows.kinds) {
      const group = this.#kinds.members[kind]!.find((member) => remaining[member]! > 0)!;
      const known = this.#singles.get(kind) ?? this.#cheapestAlone(group, opener, entries);
      const left = known && trimmed(this.#filler, this.#kinds, known);
      if (left === undefined) return undefined;
      this.#singles.set(kind, known!);
      patterns.push(rows.patternOf(this.#filler, left));
    }
    return patterns;
  }

  #cheapestAlone(group: number, opener: Opener, entries: readonly Entry[]): Bin | undefined {
    const { remaining, model, values } = this.#filler;
    const all = remaining.slice();
    remaining.fill(0);
    remaining[group] = all[group]!;
    values[group] = 1;
    this.#filler.narrow();
    let best: Bin | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const entry of entries) {
      const bin = opener.open(entry);
      if (bin === undefined) continue;
      opener.giveBack(bin);
      downsize(model, bin);
      const ratio = opener.ratioOf(bin);
      if (ratio < least) [best, least] = [bin, ratio];
    }
    remaining.set(all);
    this.#filler.narrow();
    return best;
  }
}

/** A node of pods like those of the given one, as far as there are, as cheap as it then can be; undefined where none are, or it lists too few types without the others. */
export function trimmed({ model, remaining }: Filler, kinds: PodKinds, bin: Bin): Bin | undefined {
  const left = kinds.like(bin, remaining);
  if (left.items.length === 0) return undefined;
  downsize(model, left);
  return model.spaces[left.space]!.columns.spotTypes[left.column]! >= spotTypesNeeded(model, left.items) ? left : undefined;
}
