/** Growing waits between tries at one thing, with jitter so that many clients do not come back together. */

import type { Random } from "./clock.ts";
import { withJitter } from "./random.ts";

export interface Backoff {
  /** The wait before the next try, in milliseconds; each is twice the one before. */
  next(): number;
  /** After a success. */
  reset(): void;
}

export function createBackoff(random: Random, { baseMs, maxMs, jitter = 1 }: { baseMs: number; maxMs: number; jitter?: number }): Backoff {
  let count = 0;
  return {
    next: () => withJitter(random, Math.min(maxMs, baseMs * 2 ** count++), jitter),
    reset() {
      count = 0;
    },
  };
}
