/**
 * Chance from a seed, and chance from the machine. The seeded generator is sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of
 * state, passes the usual batteries, four additions and shifts a draw. Seeds and names become state through a hash.
 */
import type { Random, RandomSource } from "./clock.ts";
import { textHash } from "./text-hash.ts";

const TWO_32 = 2 ** 32;
/** sfc32 needs about this many draws before all bits of the seed have mixed. */
const WARM_UP_DRAWS = 12;

/** The same seed gives the same numbers on every machine. */
export function createRandom(seed: string | number): RandomSource {
  const label = String(seed);
  const draw = sfc32(textHash(`a:${label}`), textHash(`b:${label}`), textHash(`c:${label}`), 1);
  return fromDraw(draw, (name) => createRandom(`${label}/${name}`));
}

/** Chance of the operating system: never repeats. */
export function createSystemRandom(): RandomSource {
  const pool = new Uint32Array(256);
  let used = pool.length;
  const source: RandomSource = fromDraw(
    () => {
      if (used === pool.length) {
        crypto.getRandomValues(pool);
        used = 0;
      }
      return pool[used++]!;
    },
    () => source,
  );
  return source;
}

/** `length` lower-case figures of base 16. */
export function randomHex(random: Random, length: number): string {
  return Array.from({ length }, () => random.below(16).toString(16)).join("");
}

/** A version 4 UUID. */
export function randomUuid(random: Random): string {
  const hex = randomHex(random, 32);
  const variant = "89ab"[random.below(4)];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** `ms` made longer by up to `factor` of itself, so that many do not come back at the same instant. */
export function withJitter(random: Random, ms: number, factor: number): number {
  return ms * (1 + random.fraction() * factor);
}

function fromDraw(draw32: () => number, split: (name: string) => RandomSource): RandomSource {
  const fraction = () => ((draw32() >>> 5) * 2 ** 26 + (draw32() >>> 6)) / 2 ** 53;
  return {
    fraction,
    split,
    below(bound) {
      if (!Number.isSafeInteger(bound) || bound < 1) {
        throw new RangeError(`Cannot draw a number: bound is ${bound}, wanted a whole number from 1`);
      }
      if (bound > TWO_32) {
        return Math.floor(fraction() * bound);
      }
      // Draws beyond the last full multiple of the bound are thrown away, so that every number is equally likely.
      const fair = TWO_32 - (TWO_32 % bound);
      for (;;) {
        const drawn = draw32();
        if (drawn < fair) {
          return drawn % bound;
        }
      }
    },
  };
}

function sfc32(a: number, b: number, c: number, counter: number): () => number {
  const draw = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let n = 0; n < WARM_UP_DRAWS; n++) {
    draw();
  }
  return draw;
}
