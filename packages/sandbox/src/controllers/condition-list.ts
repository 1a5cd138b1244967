/** Conditions of a status, set as kube sets them, with the fields that some kinds add to theirs. */
import type { Condition } from "@joinery/api";
import { withCondition as setCondition } from "@joinery/kube";

export interface ConditionWish extends Condition {
  readonly [extra: string]: unknown;
}

/** The list with `wish` in it; the very same list when nothing changes. */
export function withCondition<C extends Condition>(conditions: readonly C[] | undefined, wish: ConditionWish, nowMs: number): readonly C[] {
  return setCondition(conditions, wish as Condition as C, nowMs);
}
