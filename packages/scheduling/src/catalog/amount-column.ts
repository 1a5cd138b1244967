/** For one resource: which variants have at least so much of it. Built once, then each question is a binary search. */
import { hasCommon, isIn, type TypeSet } from "./type-set.ts";

export class AmountColumn {
  /** Distinct amounts, ascending. */
  readonly amounts: Float64Array;
  readonly wordCount: number;
  /**
   * Row i, `wordCount` words long, is the set of variants with at least `amounts[i]`; one more row at the end is empty, so that
   * "more than anyone has" is an ordinary answer.
   */
  readonly rows: Int32Array;

  /** `amountOf` is called for the variants of `members` alone; the others are in no row. */
  constructor(variantCount: number, members: TypeSet, amountOf: (variant: number) => number) {
    const amountOfVariant = new Float64Array(variantCount);
    const present = new Float64Array(variantCount);
    let count = 0;
    for (let variant = 0; variant < variantCount; variant++) {
      if (!isIn(members, variant)) continue;
      const amount = amountOf(variant);
      amountOfVariant[variant] = amount;
      present[count++] = amount;
    }
    this.amounts = distinct(present.subarray(0, count).sort());
    this.wordCount = members.length;
    this.rows = new Int32Array((this.amounts.length + 1) * this.wordCount);
    for (let variant = 0; variant < variantCount; variant++) {
      if (!isIn(members, variant)) continue;
      const word = this.rowAtLeast(amountOfVariant[variant]!) * this.wordCount + (variant >>> 5);
      this.rows[word] = this.rows[word]! | (1 << (variant & 31));
    }
    for (let word = (this.amounts.length - 1) * this.wordCount - 1; word >= 0; word--) {
      this.rows[word] = this.rows[word]! | this.rows[word + this.wordCount]!;
    }
  }

  /** Row of the variants that have at least `amount`. */
  rowAtLeast(amount: number): number {
    const { amounts } = this;
    let low = 0;
    let high = amounts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (amounts[middle]! < amount) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Row of the variants that have more than `amount`. */
  rowAbove(amount: number): number {
    const row = this.rowAtLeast(amount);
    return row < this.amounts.length && this.amounts[row] === amount ? row + 1 : row;
  }

  /** A view, not to be written to. */
  setOf(row: number): TypeSet {
    return this.rows.subarray(row * this.wordCount, (row + 1) * this.wordCount);
  }

  /** The least amount among `set`; +∞ when it is empty. For explanations: every row is looked at. */
  leastIn(set: TypeSet): number {
    for (let row = 0; row < this.amounts.length; row++) {
      const here = this.setOf(row);
      const above = this.setOf(row + 1);
      if (set.some((word, index) => (word & here[index]! & ~above[index]!) !== 0)) return this.amounts[row]!;
    }
    return Number.POSITIVE_INFINITY;
  }

  /** The greatest amount among `set`; −∞ when it is empty. Rows shrink upwards, so the search halves. */
  greatestIn(set: TypeSet): number {
    let low = 0;
    let high = this.amounts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (hasCommon(this.setOf(middle), set)) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? Number.NEGATIVE_INFINITY : this.amounts[low - 1]!;
  }
}

/** Of sorted amounts. */
function distinct(sorted: Float64Array): Float64Array {
  let length = 0;
  for (let index = 0; index < sorted.length; index++) {
    if (index > 0 && sorted[index] === sorted[index - 1]) continue;
    sorted[length++] = sorted[index]!;
  }
  return sorted.slice(0, length);
}
