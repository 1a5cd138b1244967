/** What it costs to move pods and to end nodes before their time. No unit: an ordinary pod costs 1. Rules V-80, D-47…D-49. */
import { type NodeClaim, nanosToMs, parseNillableDuration, parseTime } from "@joinery/api";
import { isReschedulable, type PodRecord } from "./pod-record.ts";

export interface CostOptions {
  /** Gate PodDeletionCostManagement: then deletion costs are our own writing, and say nothing about what users wish. */
  readonly isDeletionCostManaged: boolean;
}

const COST_MAX = 10;
const DELETION_COST_UNIT = 2 ** 27;
const PRIORITY_UNIT = 2 ** 25;
const INT32_MAX = 2 ** 31 - 1;

/** V-85: what the pods of nodes that go get. */
export const LEAVING_COST = -INT32_MAX - 1;

/** V-80, D-47: -10 to 10. An annotation that is no int32 counts as absent. */
export function evictionCost(pod: PodRecord, options: CostOptions): number {
  const wished = parseInt32(costText(pod, options)) ?? 0;
  const cost = 1 + wished / DELETION_COST_UNIT + (pod.priority ?? 0) / PRIORITY_UNIT;
  return Math.max(-COST_MAX, Math.min(COST_MAX, cost));
}

/** V-80: what somebody wrote and nobody can read, worth telling. */
export function unreadableCost(pod: PodRecord, options: CostOptions): string | undefined {
  const text = costText(pod, options);
  return text !== undefined && parseInt32(text) === undefined ? text : undefined;
}

/** D-48: at least 1. */
export function reschedulingCost(pods: Iterable<PodRecord>, options: CostOptions): number {
  let cost = 1;
  for (const pod of pods) if (isReschedulable(pod)) cost += Math.max(0, evictionCost(pod, options));
  return cost;
}

/** D-47: 1 for what does not expire, 0 for what should have expired. */
export function lifetimeRemaining({ metadata, spec }: NodeClaim, nowMs: number): number {
  const expireAfter = parseNillableDuration(spec.expireAfter ?? "Never");
  const createdAtMs = parseTime(metadata?.creationTimestamp);
  if (expireAfter === undefined || expireAfter === "Never" || createdAtMs === undefined) return 1;
  const wholeMs = nanosToMs(expireAfter);
  return wholeMs <= 0 ? 0 : Math.max(0, Math.min(1, (createdAtMs + wholeMs - nowMs) / wholeMs));
}

function costText({ disruptionCost, deletionCost }: PodRecord, { isDeletionCostManaged }: CostOptions): string | undefined {
  if (disruptionCost !== undefined) return disruptionCost;
  // V-126: our own writing, left over from when the gate was on, would make nodes look empty.
  return isDeletionCostManaged || deletionCost === String(LEAVING_COST) ? undefined : deletionCost;
}

/** As Go reads an int32 in base 10: no fraction, no exponent. */
function parseInt32(text: string | undefined): number | undefined {
  if (text === undefined || !/^[+-]?\d+$/.test(text)) return undefined;
  const value = Number(text);
  return value >= -INT32_MAX - 1 && value <= INT32_MAX ? value : undefined;
}
