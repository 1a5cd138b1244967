/** A signal that aborts with the caller's, or at the end of a span. By hand, for `AbortSignal.any` keeps its sources' followers alive. */
import type { Clock } from "./clock.ts";

export interface Deadline {
  readonly signal: AbortSignal;
  /** Why the signal aborted; undefined while it has not. */
  reason(): unknown;
  /** Stops the span, and still follows the caller's signal. */
  disarm(): void;
  /** Stops the span and forgets the caller's signal. */
  cancel(): void;
}

/** @param overdue what the signal aborts with at the end of the span */
export function startDeadline(clock: Clock, ms: number, signal: AbortSignal | undefined, overdue: () => Error): Deadline {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  const disarm = clock.after(ms, () => controller.abort(overdue()));
  if (signal?.aborted) {
    onAbort();
  } else {
    signal?.addEventListener("abort", onAbort, { once: true });
  }
  return {
    signal: controller.signal,
    reason: () => (controller.signal.aborted ? controller.signal.reason : undefined),
    disarm,
    cancel() {
      disarm();
      signal?.removeEventListener("abort", onAbort);
    },
  };
}
