/** Which events were said a moment ago. Rules L-21, O-243. */
import type { Clock } from "../clock/clock.ts";

export interface Deduper {
  /** True the first time within the window, and remembers it. Without values everything is new. */
  isNew(reason: string, values: readonly string[], windowMs: number): boolean;
}

/** Expired keys are swept out when the memory has doubled since the last sweep, so each costs O(1). */
const SWEEP_FROM = 256;

export function createDeduper(clock: Clock): Deduper {
  const expiresMs = new Map<string, number>();
  let sweepAt = SWEEP_FROM;
  return {
    isNew(reason, values, windowMs) {
      if (values.length === 0) {
        return true;
      }
      const nowMs = clock.monotonicMs();
      const key = `${reason.toLowerCase()}-${values.join("-")}`;
      const until = expiresMs.get(key);
      if (until !== undefined && nowMs < until) {
        return false;
      }
      expiresMs.set(key, nowMs + windowMs);
      if (expiresMs.size > sweepAt) {
        for (const [other, end] of expiresMs) {
          if (end <= nowMs) expiresMs.delete(other);
        }
        sweepAt = Math.max(SWEEP_FROM, expiresMs.size * 2);
      }
      return true;
    },
  };
}
