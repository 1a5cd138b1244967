/** When budgets act, for all time and not only now. Rules …A-148. */
import { type DisruptionBudget, nanosToMs, parseDuration, parseSchedule, type Schedule } from "@joinery/api";

export type Activity =
  | { readonly kind: "always" }
  /** The schedule cannot be read, which blocks the whole pool. */
  | { readonly kind: "unreadable"; readonly error: string }
  /** The schedule has no hit, which makes the budget act always. */
  | { readonly kind: "no-hit" }
  /** The next hit comes before the duration is over, always. */
  | { readonly kind: "gapless" }
  /** The duration is zero. */
  | { readonly kind: "never" }
  | { readonly kind: "sometimes" };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Enough for every minute of a day; longer patterns show at the daily samples. */
const HITS_MAX = 1_500;
const DAYS_SAMPLED = 2 * 366;

export function activityOf({ schedule, duration }: DisruptionBudget, nowMs: number): Activity {
  if (schedule === undefined || duration === undefined) return { kind: "always" };
  const result = parseSchedule(schedule);
  if ("error" in result) return { kind: "unreadable", error: result.error };
  const durationMs = nanosToMs(parseDuration(duration) ?? 0n);
  if (result.schedule.next(nowMs) === undefined) return { kind: "no-hit" };
  if (durationMs === 0) return { kind: "never" };
  return { kind: hasGap(result.schedule, durationMs, nowMs) ? "sometimes" : "gapless" };
}

export function actsAlways({ kind }: Activity): boolean {
  return kind === "always" || kind === "no-hit" || kind === "gapless";
}

/** Is there a time with no hit in the `durationMs` before it? */
function hasGap(schedule: Schedule, durationMs: number, nowMs: number): boolean {
  const isFollowedByGap = (timeMs: number) => {
    const next = schedule.next(timeMs);
    return next === undefined || next - timeMs > durationMs;
  };
  if (durationMs >= 366 * DAY_MS) return false;
  let hit = schedule.next(nowMs)!;
  for (let count = 0; count < HITS_MAX; count++) {
    const next = schedule.next(hit);
    if (next === undefined || next - hit > durationMs) return true;
    hit = next;
  }
  for (let day = 0; day < DAYS_SAMPLED; day++) if (isFollowedByGap(nowMs + day * DAY_MS)) return true;
  return false;
}
