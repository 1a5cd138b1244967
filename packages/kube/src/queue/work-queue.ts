/**
 * Keys that wait for work. A key is queued at most once and worked on by at most one worker; a key that is added while it is
 * worked on is worked on again afterwards, so no change goes unseen. Driven by additions and clock timers, never by polling.
 * Rules L-15, L-18.
 */
import type { Clock } from "../clock/clock.ts";
import { type BackoffOptions, createRateLimiter } from "./rate-limiter.ts";

/** What a worker wants next for its key. Nothing: rest until the key is added again. */
export type WorkResult =
  | undefined
  /** Again after this span; nothing failed, so the back-off starts anew (L-15 "RequeueAfter"). */
  | { readonly afterMs: number }
  /** Again after the back-off, without an error to report, e.g. after a conflict (L-15 "Requeue"). */
  | { readonly retry: true };

export type Worker = (key: string, signal: AbortSignal) => Promise<WorkResult> | WorkResult;

export interface WorkQueueOptions extends BackoffOptions {
  readonly clock: Clock;
  readonly work: Worker;
  /** How many keys are worked on at once. */
  readonly concurrency?: number;
  /** A worker threw; the key comes back after the back-off. */
  readonly onError?: (key: string, error: unknown) => void;
  readonly metrics?: WorkQueueMetrics;
}

/** Called as things happen; must not throw. */
export interface WorkQueueMetrics {
  /** A key was queued that had not been. */
  readonly onAdded?: (depth: number) => void;
  /** A worker took a key that was queued for this long. */
  readonly onStarted?: (queuedMs: number, depth: number) => void;
  readonly onDone?: (workedMs: number, outcome: "done" | "again" | "retry" | "error") => void;
  readonly onRetried?: () => void;
}

export interface WorkQueue {
  /** Queues the key now. */
  add(key: string): void;
  /** Queues the key after a span; of several spans of a key the one that ends first counts. */
  addAfter(key: string, ms: number): void;
  /** Queues the key after its back-off. */
  addRetry(key: string): void;
  /** The key no longer waits for a span to end; where it is queued or worked on it stays. */
  cancelAfter(key: string): void;
  /** Starts the back-off of the key anew. */
  forget(key: string): void;
  /**
   * Works until the signal aborts; keys may be added before. Resolves when the last worker has returned. Workers get the signal.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Keys that are queued now. */
  readonly depth: number;
  /** Keys that wait for a span to end. */
  readonly waitingCount: number;
  /** Keys that are worked on now. */
  readonly workingCount: number;
  /** Resolves when nothing is queued or worked on; keys that wait for a span do not count. */
  whenIdle(): Promise<void>;
}

interface Waiting {
  readonly dueMs: number;
  readonly cancel: () => void;
}

/** A key is worked on by one worker at a time; what is added meanwhile is worked on once more afterwards. */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { clock, work, concurrency = 1, onError, metrics } = options;
  const limiter = createRateLimiter(clock, options);
  /** Insertion order is the order of work; the value says since when the key is queued. */
  const queued = new Map<string, number>();
  const working = new Set<string>();
  /** Keys that were added while they are worked on. */
  const dirty = new Map<string, number>();
  const waiting = new Map<string, Waiting>();
  let running: AbortSignal | undefined;
  let onDrained: (() => void) | undefined;
  let onIdle: (() => void)[] = [];

  function add(key: string): void {
    if (queued.has(key) || dirty.has(key)) {
      return;
    }
    (working.has(key) ? dirty : queued).set(key, clock.monotonicMs());
    metrics?.onAdded?.(queued.size);
    startWorkers();
  }

  function addAfter(key: string, ms: number): void {
    if (ms <= 0) {
      add(key);
      return;
    }
    const dueMs = clock.monotonicMs() + ms;
    const before = waiting.get(key);
    if (before !== undefined && before.dueMs <= dueMs) {
      return;
    }
    before?.cancel();
    const cancel = clock.after(ms, () => {
      waiting.delete(key);
      add(key);
    });
    waiting.set(key, { dueMs, cancel });
  }

  function addRetry(key: string): void {
    metrics?.onRetried?.();
    addAfter(key, limiter.next(key));
  }

  function startWorkers(): void {
    while (running !== undefined && !running.aborted && working.size < concurrency) {
      const next = queued.entries().next();
      if (next.done) {
        return;
      }
      const [key, sinceMs] = next.value;
      queued.delete(key);
      working.add(key);
      metrics?.onStarted?.(clock.monotonicMs() - sinceMs, queued.size);
      void workOn(key, running);
    }
  }

  async function workOn(key: string, signal: AbortSignal): Promise<void> {
    const startedMs = clock.monotonicMs();
    let outcome: "done" | "again" | "retry" | "error" = "done";
    try {
      await undefined; // Whoever adds a key goes on before its worker starts.
      const result = await work(key, signal);
      if (result !== undefined && "afterMs" in result) {
        outcome = "again";
        limiter.forget(key);
        addAfter(key, result.afterMs);
      } else if (result?.retry) {
        outcome = "retry";
        addRetry(key);
      } else {
        limiter.forget(key);
      }
    } catch (error) {
      outcome = "error";
      if (!signal.aborted) {
        onError?.(key, error);
        addRetry(key);
      }
    }
    metrics?.onDone?.(clock.monotonicMs() - startedMs, outcome);
    release(key);
  }

  function release(key: string): void {
    working.delete(key);
    const sinceMs = dirty.get(key);
    if (sinceMs !== undefined) {
      dirty.delete(key);
      queued.set(key, sinceMs);
    }
    startWorkers();
    if (working.size === 0) {
      onDrained?.();
      if (queued.size === 0) {
        for (const resolve of onIdle.splice(0)) resolve();
      }
    }
  }

  return {
    add,
    addAfter,
    addRetry,
    cancelAfter(key) {
      waiting.get(key)?.cancel();
      waiting.delete(key);
    },
    forget: (key) => limiter.forget(key),
    async run(signal) {
      if (running !== undefined) {
        throw new Error("Cannot run the work queue: it is running already");
      }
      running = signal;
      startWorkers();
      await whenAborted(signal);
      if (working.size > 0) {
        await new Promise<void>((resolve) => {
          onDrained = resolve;
        });
      }
      for (const { cancel } of waiting.values()) cancel();
      waiting.clear();
    },
    get depth() {
      return queued.size;
    },
    get waitingCount() {
      return waiting.size;
    },
    get workingCount() {
      return working.size;
    },
    whenIdle: () =>
      new Promise((resolve) => {
        if (queued.size === 0 && working.size === 0) {
          resolve();
        } else {
          onIdle = [...onIdle, resolve];
        }
      }),
  };
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
    } else {
      signal.addEventListener("abort", () => resolve(), { once: true });
    }
  });
}
