/**
 * Sets of instance-type variants as bits: bit i is variant i. 800 variants are 25 words. Signed words, because code that is not
 * compiled yet allocates for each unsigned one with its highest bit set. Model: type-set.test.ts.
 */

export type TypeSet = Int32Array;

export function emptySet(variantCount: number): TypeSet {
  return new Int32Array((variantCount + 31) >>> 5);
}

export function fullSet(variantCount: number): TypeSet {
  const set = emptySet(variantCount).fill(-1);
  if ((variantCount & 31) !== 0) set[set.length - 1] = (1 << (variantCount & 31)) - 1;
  return set;
}

export function addTo(set: TypeSet, index: number): void {
  set[index >>> 5] = set[index >>> 5]! | (1 << (index & 31));
}

export function isIn(set: TypeSet, index: number): boolean {
  return (set[index >>> 5]! & (1 << (index & 31))) !== 0;
}

/** A new set. */
export function intersection(one: TypeSet, other: TypeSet): TypeSet {
  const both = new Int32Array(one.length);
  for (let word = 0; word < one.length; word++) both[word] = one[word]! & other[word]!;
  return both;
}

/** into := into ∪ by. */
export function addAll(into: TypeSet, by: TypeSet): void {
  for (let word = 0; word < into.length; word++) into[word] = into[word]! | by[word]!;
}

export function isEmpty(set: TypeSet): boolean {
  for (let word = 0; word < set.length; word++) if (set[word] !== 0) return false;
  return true;
}

export function hasCommon(one: TypeSet, other: TypeSet): boolean {
  for (let word = 0; word < one.length; word++) if ((one[word]! & other[word]!) !== 0) return true;
  return false;
}
