/** Chance from a seed (mulberry32), so that a corpus is the same on every machine. */
export interface Chance {
  /** From 0 up to, not including, 1. */
  fraction(): number;
  pick<T>(list: readonly T[]): T;
  /** Standard normal. */
  gauss(): number;
}

export function chance(seed: number): Chance {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    fraction,
    pick: (list) => list[Math.floor(fraction() * list.length)]!,
    gauss: () => Math.sqrt(-2 * Math.log(1 - fraction())) * Math.cos(2 * Math.PI * fraction()),
  };
}
