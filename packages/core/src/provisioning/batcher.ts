/**
 * Collects pods that want capacity into one batch. The window opens with a trigger, closes when no new one came for a while, and
 * at the latest after its longest time. Rules S-3, S-4, V-91.
 */
import type { Clock } from "@joinery/kube";

export interface BatchWindow {
  readonly idleMs: number;
  readonly maxMs: number;
}

export interface Batcher {
  /** A UID that was seen in this window already is dropped; a trigger without one always counts (V-91). */
  trigger(uid?: string): void;
  /** Resolves when a window that had a trigger closes. Waits for the first trigger without a timer. */
  next(signal: AbortSignal): Promise<void>;
}

export function createBatcher(clock: Clock, { idleMs, maxMs }: BatchWindow): Batcher {
  const seen = new Set<string>();
  let isTriggered = false;
  let onTrigger: (() => void) | undefined;

  return {
    trigger(uid) {
      if (uid !== undefined) {
        if (seen.has(uid)) return;
        seen.add(uid);
      }
      isTriggered = true;
      onTrigger?.();
    },

    next(signal) {
      return new Promise((resolve, reject) => {
        let cancelIdle = () => {};
        let cancelMax: (() => void) | undefined;
        const end = (settle: () => void) => {
          cancelIdle();
          cancelMax?.();
          onTrigger = undefined;
          signal.removeEventListener("abort", abort);
          settle();
        };
        const close = () => {
          seen.clear();
          end(resolve);
        };
        const abort = () => end(() => reject(signal.reason));
        const take = () => {
          isTriggered = false;
          cancelIdle();
          cancelIdle = clock.after(idleMs, close);
          cancelMax ??= clock.after(maxMs, close);
        };
        if (signal.aborted) return abort();
        signal.addEventListener("abort", abort, { once: true });
        onTrigger = take;
        if (isTriggered) take();
      });
    },
  };
}
