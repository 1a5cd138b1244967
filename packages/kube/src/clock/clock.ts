/** Time and chance come in from outside (law 2). Implementations: `real-clock.ts`, `virtual-clock.ts`, `random.ts`. */

/** Milliseconds since 1970. */
export type EpochMs = number;

export interface Clock {
  /** For stamps that others read. May jump. */
  wallMs(): EpochMs;
  /** For spans and timeouts. Never goes back. */
  monotonicMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `action` once after `ms`. Returns what cancels it. */
  after(ms: number, action: () => void): () => void;
}

export interface Random {
  /** A whole number from 0 to bound − 1. */
  below(bound: number): number;
  /** From 0 up to, not including, 1. */
  fraction(): number;
}

/** A source that gives each component a stream of its own, so that one more draw here does not change what is drawn there. */
export interface RandomSource extends Random {
  /** The same name gives the same stream from the same source, however much was drawn from it before. */
  split(name: string): RandomSource;
}

/** `sleep` in terms of `after`: what every clock does. */
export function sleepOn(after: Clock["after"], ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
