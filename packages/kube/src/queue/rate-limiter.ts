/** How long a failed item waits before its next try. Rule L-18: per item exponential, and a token bucket over all items. */
import type { Clock } from "../clock/clock.ts";

export interface BackoffOptions {
  /** After the first failure. L-18: 5 ms unless the controller says otherwise. */
  readonly baseMs?: number;
  /** L-18: 1000 s. */
  readonly maxMs?: number;
  /** Shared by all items; none when absent. */
  readonly bucket?: BucketOptions;
}

export interface BucketOptions {
  readonly perSecond: number;
  readonly burst: number;
}

export interface RateLimiter {
  /** Counts a failure of `key` and says how many milliseconds to wait. */
  next(key: string): number;
  /** Forgets the failures of `key`. */
  forget(key: string): void;
  failureCount(key: string): number;
}

export interface TokenBucket {
  /** Takes a token now if there is one. */
  tryTake(): boolean;
  /** Takes a token that may lie in the future; gives the milliseconds until it is there. */
  reserve(): number;
}

/** Waits double from `baseMs` to `maxMs` with each failure of a key; `bucket` slows down all keys together. Defaults: client-go. */
export function createRateLimiter(clock: Clock, { baseMs = 5, maxMs = 1_000_000, bucket }: BackoffOptions = {}): RateLimiter {
  const failures = new Map<string, number>();
  const tokens = bucket === undefined ? undefined : createTokenBucket(clock, bucket);
  return {
    next(key) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      return Math.max(Math.min(maxMs, baseMs * 2 ** count), tokens?.reserve() ?? 0);
    },
    forget: (key) => void failures.delete(key),
    failureCount: (key) => failures.get(key) ?? 0,
  };
}

/** Starts full. Reckoned from the clock when asked: no timer runs. */
export function createTokenBucket(clock: Clock, { perSecond, burst }: BucketOptions): TokenBucket {
  if (!(perSecond > 0 && burst >= 1)) {
    throw new RangeError(`Cannot make a token bucket: perSecond is ${perSecond} and burst ${burst}, wanted above 0 and at least 1`);
  }
  let tokens = burst;
  let asOfMs = clock.monotonicMs();
  const refill = () => {
    const nowMs = clock.monotonicMs();
    tokens = Math.min(burst, tokens + ((nowMs - asOfMs) * perSecond) / 1000);
    asOfMs = nowMs;
  };
  return {
    tryTake() {
      refill();
      if (tokens < 1) {
        return false;
      }
      tokens -= 1;
      return true;
    },
    reserve() {
      refill();
      tokens -= 1;
      return tokens >= 0 ? 0 : (-tokens / perSecond) * 1000;
    },
  };
}
