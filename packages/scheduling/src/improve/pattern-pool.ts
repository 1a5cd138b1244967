/** Filled nodes that were good once, as columns of a linear program: what of each is still of use as pods become fewer. */
import { downsize, type Entry, type Opener } from "./construct.ts";
import type { Pattern } from "./cover-program.ts";
import type { Filler } from "./filler.ts";
import { type Bin, copyOf, spotTypesNeeded } from "./packing.ts";

export interface NodePattern extends Pattern {
  readonly bin: Bin;
}

/** The rows of a program: groups with pods left. */
export class PatternRows {
  readonly groups: readonly number[];
  readonly #rowOfGroup: Int32Array;

  constructor(remaining: Int32Array) {
    this.#rowOfGroup = new Int32Array(remaining.length).fill(-1);
    this.groups = [...remaining.keys()].filter((group) => remaining[group]! > 0);
    for (const [row, group] of this.groups.entries()) this.#rowOfGroup[group] = row;
  }

  patternOf(filler: Filler, bin: Bin): NodePattern {
    const price = filler.model.spaces[bin.space]!.columns.prices[bin.column]!;
    return { price, items: bin.items.map((entry, at) => (at % 2 === 0 ? this.#rowOfGroup[entry]! : entry)), bin };
  }
}

export class PatternPool {
  readonly #filler: Filler;
  readonly #bins = new Map<string, Bin>();
  /** By group: the cheapest node of its pods alone. */
  readonly #singles = new Map<number, Bin>();

  constructor(filler: Filler) {
    this.#filler = filler;
  }

  add(bin: Bin): void {
    this.#bins.set(`${bin.space} ${bin.column} ${bin.items.join()}`, copyOf(bin));
  }

  /** Without what is more than remains. */
  patterns(rows: PatternRows): NodePattern[] {
    return [...this.#bins.values()].flatMap((bin) => {
      const left = trimmed(this.#filler, bin);
      return left === undefined ? [] : [rows.patternOf(this.#filler, left)];
    });
  }

  /** One for each row; undefined where some pod has no new node. */
  singles(rows: PatternRows, opener: Opener, entries: readonly Entry[]): NodePattern[] | undefined {
    const patterns: NodePattern[] = [];
    for (const group of rows.groups) {
      const known = this.#singles.get(group) ?? this.#cheapestAlone(group, opener, entries);
      const left = known && trimmed(this.#filler, known);
      if (left === undefined) return undefined;
      this.#singles.set(group, known!);
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

/** A node of those of its pods that remain, as cheap as it then can be; undefined where none do, or it lists too few types without the others. */
export function trimmed({ model, remaining }: Filler, bin: Bin): Bin | undefined {
  const { width, requests, spaces } = model;
  const left = copyOf(bin);
  left.items = [];
  for (let at = 0; at < bin.items.length; at += 2) {
    const group = bin.items[at]!;
    const count = Math.min(bin.items[at + 1]!, remaining[group]!);
    if (count > 0) left.items.push(group, count);
    const gone = bin.items[at + 1]! - count;
    if (gone > 0) for (let r = 0; r < width; r++) left.load[r] = left.load[r]! - requests[group * width + r]! * gone;
  }
  if (left.items.length === 0) return undefined;
  downsize(model, left);
  return spaces[left.space]!.columns.spotTypes[left.column]! >= spotTypesNeeded(model, left.items) ? left : undefined;
}
