/** Chance that repeats: the same seed gives the same numbers on every machine. */

/** Bob Jenkins' small fast generator, in the variant of three words and a counter. */
export class SeededRandom {
  #a = 0;
  #b: number;
  #c = 1;
  #counter = 1;

  constructor(seed: number) {
    this.#b = seed | 0;
    for (let round = 0; round < 12; round++) this.word();
  }

  /** 32 bits. */
  word(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum;
  }

  /** From 0 to below 1. */
  unit(): number {
    return (this.word() >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to below `bound`. */
  below(bound: number): number {
    return Math.floor(this.unit() * bound);
  }
}
