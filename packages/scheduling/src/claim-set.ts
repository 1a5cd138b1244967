/**
 * A set of claims as bits, in blocks of 1,024. Each block begins with two words that sum up the 32 that follow: which of them have
 * any bit, and which have all, so that a search passes over what is empty or full without reading it. The first of 32 is the highest
 * bit, where `Math.clz32` finds it without arithmetic that leaves 32 bits; words are signed, as in `catalog/type-set.ts`.
 * Model: claim-set.test.ts.
 */

/** Words per block: two of the summary, 32 of bits. */
export const BLOCK_WORDS = 34;
/** In a block: the bit of word i is set when the word has any bit. */
export const ANY = 0;
/** In a block: the bit of word i is set when the word has all bits. */
export const ALL = 1;
/** In a block: where the bits begin. */
export const BITS = 2;

/** The bit of number `index` of 32; more than 31 count from the start again. */
export function bitOf(index: number): number {
  return 1 << (31 - (index & 31));
}

export class ClaimSet {
  /** Read by searches as it is; grows in place of the old one. Empty at first, since many sets stay so. */
  blocks: Int32Array = NO_BLOCKS;

  /** Room for so many blocks, so that a search need not ask for bounds. */
  ensure(blockCount: number): Int32Array {
    if (this.blocks.length < blockCount * BLOCK_WORDS) this.#grow(blockCount);
    return this.blocks;
  }

  add(claim: number): void {
    const base = (claim >>> 10) * BLOCK_WORDS;
    if (base >= this.blocks.length) this.#grow((claim >>> 10) + 1);
    const { blocks } = this;
    const at = base + BITS + ((claim >>> 5) & 31);
    const place = bitOf(claim >>> 5);
    const word = blocks[at]! | bitOf(claim);
    blocks[at] = word;
    blocks[base + ANY] = blocks[base + ANY]! | place;
    if (word === -1) blocks[base + ALL] = blocks[base + ALL]! | place;
  }

  delete(claim: number): void {
    const base = (claim >>> 10) * BLOCK_WORDS;
    const { blocks } = this;
    if (base >= blocks.length) return;
    const at = base + BITS + ((claim >>> 5) & 31);
    const place = bitOf(claim >>> 5);
    const word = blocks[at]! & ~bitOf(claim);
    blocks[at] = word;
    blocks[base + ALL] = blocks[base + ALL]! & ~place;
    if (word === 0) blocks[base + ANY] = blocks[base + ANY]! & ~place;
  }

  has(claim: number): boolean {
    const at = (claim >>> 10) * BLOCK_WORDS + BITS + ((claim >>> 5) & 31);
    return at < this.blocks.length && (this.blocks[at]! & bitOf(claim)) !== 0;
  }

  /** this := this ∪ (`others` without `but`), word by word. */
  addAllBut(others: ClaimSet, but: ClaimSet): void {
    const blockCount = others.blocks.length / BLOCK_WORDS;
    const into = this.ensure(blockCount);
    const without = but.ensure(blockCount);
    for (let base = 0; base < others.blocks.length; base += BLOCK_WORDS) {
      for (let place = 0; place < 32; place++) {
        const at = base + BITS + place;
        const word = into[at]! | (others.blocks[at]! & ~without[at]!);
        into[at] = word;
        if (word !== 0) into[base + ANY] = into[base + ANY]! | bitOf(place);
        if (word === -1) into[base + ALL] = into[base + ALL]! | bitOf(place);
      }
    }
  }

  #grow(blockCount: number): void {
    const grown = new Int32Array(Math.max(blockCount, (this.blocks.length / BLOCK_WORDS) * 2) * BLOCK_WORDS);
    grown.set(this.blocks);
    this.blocks = grown;
  }
}

const NO_BLOCKS = new Int32Array(0);
