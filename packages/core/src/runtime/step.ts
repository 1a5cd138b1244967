/** What one pass of a reconciler answers, and how answers combine. Rules L-15, L-16. */

/** Why an object waits for a person. */
interface StuckReason {
  readonly kind: string;
  readonly message: string;
}

export type Step =
  /** Until something watched changes. */
  | { readonly kind: "asleep" }
  /** Nothing failed; look again then. */
  | { readonly kind: "again"; readonly afterMs: number }
  /** A person must act: shown, not retried. */
  | { readonly kind: "stuck"; readonly reason: StuckReason };

export interface Reconciler<T> {
  /** Reads everything, moves one step. May die after any await and be repeated elsewhere. Throw = retry with back-off. */
  reconcile(object: T, signal: AbortSignal): Promise<Step>;
}

/** Thrown to be called again after the key's back-off, without anything to report: L-15's "Requeue". */
export class RetryLater extends Error {
  override readonly name = "RetryLater";
}

export const asleep: Step = { kind: "asleep" };

/** Nothing failed; the object is looked at again after `afterMs` unless a change wakes it before. */
export function again(afterMs: number): Step {
  return { kind: "again", afterMs: Math.max(0, afterMs) };
}

/** The soonest wake-up wins; without one, being stuck is worth more than sleeping. L-16. */
export function soonest(steps: Iterable<Step>): Step {
  let winner: Step = asleep;
  for (const step of steps) {
    if (step.kind === "again" && (winner.kind !== "again" || step.afterMs < winner.afterMs)) winner = step;
    else if (step.kind === "stuck" && winner.kind === "asleep") winner = step;
  }
  return winner;
}
