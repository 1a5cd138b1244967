/** What one phase of a NodeClaim's life answers. Rules L-16, L-77, L-78. */
import type { NodeClaim } from "@joinery/api";
import { asleep, type Step } from "../runtime/step.ts";

export interface PhaseResult {
  /** The NodeClaim as the phase wants it; the same object when nothing is to be changed. */
  readonly claim: NodeClaim;
  readonly step: Step;
  /** Makes the pass fail after what it learned has been written (L-78). */
  readonly error?: unknown;
  /** The NodeClaim was deleted: later phases have nothing to do. */
  readonly isDeleted?: boolean;
}

export function done(claim: NodeClaim): PhaseResult {
  return { claim, step: asleep };
}
