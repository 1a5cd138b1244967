/** Ordinary conditions of Kubernetes (`metav1.Condition`): the transition time moves only when the status does. Rule L-9. */
import { type Condition, formatTime } from "@joinery/api";
import type { EpochMs } from "../clock/clock.ts";

/** Sets one condition: a reason or message that is not wished goes, other fields stay. The very same list when nothing but the time would change. */
export function withCondition<C extends Condition = Condition>(
  conditions: readonly C[] | undefined,
  wished: NoInfer<C>,
  nowMs: EpochMs,
): readonly C[] {
  const list = conditions ?? [];
  const held = list.find(({ type }) => type === wished.type);
  if (held !== undefined && saysTheSame(held, wished)) return list;
  const lastTransitionTime = held?.status === wished.status ? held.lastTransitionTime : (wished.lastTransitionTime ?? formatTime(nowMs));
  const next = { ...withoutReason(held), ...present(wished), lastTransitionTime } as C;
  return held === undefined ? [...list, next] : list.map((condition) => (condition === held ? next : condition));
}

/** The very same list when there is no such condition. */
export function withoutCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): readonly C[] {
  const list = conditions ?? [];
  return list.some((condition) => condition.type === type) ? list.filter((condition) => condition.type !== type) : list;
}

function saysTheSame(held: Condition, wished: Condition): boolean {
  return (
    held.status === wished.status &&
    (held.reason ?? "") === (wished.reason ?? "") &&
    (held.message ?? "") === (wished.message ?? "") &&
    held.observedGeneration === (wished.observedGeneration ?? held.observedGeneration)
  );
}

function withoutReason(condition: Condition | undefined): Partial<Condition> {
  const { reason: _, message: __, ...kept } = condition ?? {};
  return kept;
}

function present(condition: Condition): Partial<Condition> {
  return Object.fromEntries(Object.entries(condition).filter(([, value]) => value !== undefined));
}
