/**
 * The least price of patterns that hold every pod, where a pattern may be bought in parts: a linear program, solved by the primal simplex
 * method with a dense inverse. Its rows are groups of pods, its columns patterns, of which more may come at any time. The multiplier of a
 * row is what one pod of the group is worth.
 */

export interface Pattern {
  readonly price: number;
  /** Row, count, row, count … */
  readonly items: readonly number[];
}

/** What counts as nothing in a column of the inverse, and in what a pattern saves by its price. */
const DUST = 1e-9;

export class CoverProgram<P extends Pattern = Pattern> {
  readonly #rows: number;
  readonly #inverse: Float64Array;
  readonly #amounts: Float64Array;
  /** By place in the basis; undefined = more pods than needed of some row. */
  readonly #patterns: (P | undefined)[];
  readonly #worth: Float64Array;
  readonly #direction: Float64Array;
  readonly #columns: Int32Array;
  /** Multiplications, roughly. */
  work = 0;

  /** @param singles one for each row, that holds pods of this row alone */
  constructor(sizes: ArrayLike<number>, singles: readonly P[]) {
    const rows = sizes.length;
    this.#rows = rows;
    this.#inverse = new Float64Array(rows * rows);
    this.#amounts = new Float64Array(rows);
    this.#worth = new Float64Array(rows);
    this.#direction = new Float64Array(rows);
    this.#columns = new Int32Array(rows);
    this.#patterns = [...singles];
    for (const [row, { price, items }] of singles.entries()) {
      this.#inverse[row * rows + row] = 1 / items[1]!;
      this.#amounts[row] = sizes[row]! / items[1]!;
      this.#worth[row] = price / items[1]!;
    }
  }

  /** USD per hour and pod, by row; changes with each pattern that comes in. */
  get worth(): Float64Array {
    return this.#worth;
  }

  get price(): number {
    let sum = 0;
    for (const [place, pattern] of this.#patterns.entries()) sum += (pattern?.price ?? 0) * this.#amounts[place]!;
    return sum;
  }

  /** Patterns and how much is bought of each. */
  get bought(): readonly { readonly pattern: P; readonly amount: number }[] {
    return this.#patterns.flatMap((pattern, place) => (pattern === undefined ? [] : [{ pattern, amount: this.#amounts[place]! }]));
  }

  /** Takes the pattern in where that makes the whole cheaper by at least this part of its price; says whether it does. */
  offer(pattern: P, leastSaving: number): boolean {
    let saving = -pattern.price;
    for (let at = 0; at < pattern.items.length; at += 2) saving += this.#worth[pattern.items[at]!]! * pattern.items[at + 1]!;
    this.work += pattern.items.length;
    if (saving <= leastSaving * pattern.price + DUST) return false;
    this.#direction.fill(0);
    for (let at = 0; at < pattern.items.length; at += 2) this.#head(pattern.items[at]!, pattern.items[at + 1]!);
    this.#enter(pattern, saving);
    this.#settle();
    return true;
  }

  /** Pods that are worth less than nothing: more of them are held than there are. */
  #settle(): void {
    for (let pass = 0; pass < this.#rows; pass++) {
      let least = -DUST;
      let row = -1;
      for (let r = 0; r < this.#rows; r++) if (this.#worth[r]! < least) [row, least] = [r, this.#worth[r]!];
      if (row < 0) return;
      this.#direction.fill(0);
      this.#head(row, -1);
      this.#enter(undefined, -least);
    }
  }

  #head(row: number, count: number): void {
    const rows = this.#rows;
    for (let place = 0; place < rows; place++) {
      this.#direction[place] = this.#direction[place]! + this.#inverse[place * rows + row]! * count;
    }
    this.work += rows;
  }

  #enter(pattern: P | undefined, saving: number): void {
    const rows = this.#rows;
    const direction = this.#direction;
    const inverse = this.#inverse;
    let leaving = -1;
    let most = Number.POSITIVE_INFINITY;
    for (let place = 0; place < rows; place++) {
      if (direction[place]! <= DUST) continue;
      const amount = this.#amounts[place]! / direction[place]!;
      if (amount < most || (amount === most && direction[place]! > direction[leaving]!)) [leaving, most] = [place, amount];
    }
    if (leaving < 0) return;
    const pivot = direction[leaving]!;
    const from = leaving * rows;
    // Most of the inverse is 0 for long.
    const columns = this.#columns;
    let count = 0;
    for (let column = 0; column < rows; column++) {
      if (inverse[from + column] === 0) continue;
      columns[count++] = column;
      inverse[from + column] = inverse[from + column]! / pivot;
    }
    this.work += 3 * rows;
    for (let place = 0; place < rows; place++) {
      const factor = direction[place]!;
      if (place === leaving || factor === 0) continue;
      this.#amounts[place] = Math.max(0, this.#amounts[place]! - factor * most);
      const at = place * rows;
      for (let index = 0; index < count; index++) {
        const column = columns[index]!;
        inverse[at + column] = inverse[at + column]! - factor * inverse[from + column]!;
      }
      this.work += count;
    }
    this.#amounts[leaving] = most;
    this.#patterns[leaving] = pattern;
    for (let index = 0; index < count; index++) {
      const row = columns[index]!;
      this.#worth[row] = this.#worth[row]! - saving * inverse[from + row]!;
    }
  }
}
