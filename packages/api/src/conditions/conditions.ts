/**
 * Status conditions: how one is set, and how the root follows from its dependents. Everything here takes lists and gives new ones; the
 * same list comes back when nothing changes. Rules A-108…A-114, L-6…L-14.
 */
import type { Condition, KubeObject } from "../kubernetes/meta.ts";
import { formatTime, parseTime } from "../timestamps.ts";
import type { ConditionKind } from "./condition-kinds.ts";

/** What conditions are read from. */
export interface Conditioned extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export interface ConditionChange {
  readonly type: string;
  readonly status: Condition["status"];
  /** Default: the type's name when True (L-11). */
  readonly reason?: string;
  readonly message?: string;
}

/** The conditions with root and dependents that are missing so far as Unknown, since the object's creation (A-109, L-7, L-8). */
export function openConditions(kind: ConditionKind, object: Conditioned): readonly Condition[] {
  const present = object.status?.conditions ?? [];
  const missing = [kind.root, ...kind.dependents].filter((type) => !present.some((condition) => condition.type === type));
  if (missing.length === 0) return present;
  const added = missing.map(
    (type): Condition => ({
      type,
      status: "Unknown",
      reason: "AwaitingReconciliation",
      message: "object is awaiting reconciliation",
      lastTransitionTime: object.metadata?.creationTimestamp,
      ...observed(object),
    }),
  );
  return inOrder(kind, [...present, ...added]);
}

/**
 * The conditions after one was set. Same status: the transition time stays, whatever the reason says (L-9). An effective change of a
 * condition that is not the root makes the root anew.
 */
export function setCondition(kind: ConditionKind, object: Conditioned, change: ConditionChange, nowMs: number): readonly Condition[] {
  const opened = openConditions(kind, object);
  const set = replaced(opened, object, change, nowMs);
  if (set === opened) return opened;
  const all = change.type === kind.root ? set : replaced(set, object, rootOf(kind, set, object), nowMs);
  return inOrder(kind, all);
}

/** As `setCondition`, one after the other. */
export function setConditions(
  kind: ConditionKind,
  object: Conditioned,
  changes: readonly ConditionChange[],
  nowMs: number,
): readonly Condition[] {
  const start = openConditions(kind, object);
  return changes.reduce((conditions, change) => setCondition(kind, withConditions(object, conditions), change, nowMs), start);
}

/** removes an independent condition; the root stays as it is. Throws for root and dependents. */
export function clearCondition(kind: ConditionKind, object: Conditioned, type: string): readonly Condition[] {
  if (type === kind.root || kind.dependents.includes(type)) throw new Error(`Cannot clear condition ${type}: Ready depends on it`);
  const opened = openConditions(kind, object);
  return opened.some((condition) => condition.type === type) ? opened.filter((condition) => condition.type !== type) : opened;
}

/** What stands in the status; nothing is filled in. */
export function findCondition({ status }: Pick<Conditioned, "status">, type: string): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** L-14: an absent condition is Unknown. */
export function conditionStatus(object: Pick<Conditioned, "status">, type: string): Condition["status"] {
  return findCondition(object, type)?.status ?? "Unknown";
}

export const isConditionTrue = (object: Pick<Conditioned, "status">, type: string): boolean => conditionStatus(object, type) === "True";
export const isConditionFalse = (object: Pick<Conditioned, "status">, type: string): boolean => conditionStatus(object, type) === "False";

/** A copy of the object with other conditions; its other status fields stay. */
export function withConditions<Object extends Conditioned>(object: Object, conditions: readonly Condition[]): Object {
  return { ...object, status: { ...object.status, conditions } };
}

function replaced(conditions: readonly Condition[], object: Conditioned, change: ConditionChange, nowMs: number): readonly Condition[] {
  const { type, status, reason = status === "True" ? type : "", message = "" } = change;
  const before = conditions.find((condition) => condition.type === type);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(nowMs);
  const after: Condition = { type, status, reason, message, lastTransitionTime, ...observed(object) };
  if (before !== undefined && isSame(before, after)) return conditions;
  const others = conditions.filter((condition) => condition !== before);
  const isLeaving = object.metadata?.deletionTimestamp !== undefined;
  return [...(isLeaving ? others.map((condition) => ({ ...condition, ...observed(object) })) : others), after];
}

function isSame(one: Condition, other: Condition): boolean {
  return (
    one.status === other.status &&
    (one.reason ?? "") === (other.reason ?? "") &&
    (one.message ?? "") === (other.message ?? "") &&
    (one.observedGeneration ?? 0) === (other.observedGeneration ?? 0)
  );
}

/** A-111, L-12: what the root must be, given its dependents. */
function rootOf({ root, dependents }: ConditionKind, conditions: readonly Condition[], object: Conditioned): ConditionChange {
  const generation = object.metadata?.generation ?? 0;
  const isCurrent = ({ observedGeneration = 0 }: Condition) => observedGeneration === generation;
  const unhealthy = conditions.filter(
    (condition) => dependents.includes(condition.type) && (condition.status !== "True" || !isCurrent(condition)),
  );
  if (unhealthy.length === 0) return { type: root, status: "True", reason: root };
  const newestFirst = unhealthy.toSorted((one, other) => timeOf(other) - timeOf(one));
  const message = newestFirst.map(({ type, status }) => `${type}=${status}`).join(", ");
  const hasFailed = unhealthy.some((condition) => condition.status === "False" && isCurrent(condition));
  return hasFailed
    ? { type: root, status: "False", reason: "UnhealthyDependents", message }
    : { type: root, status: "Unknown", reason: "ReconcilingDependents", message };
}

/** ascending transition time, the root last. */
function inOrder({ root }: ConditionKind, conditions: readonly Condition[]): readonly Condition[] {
  return conditions.toSorted((one, other) => Number(one.type === root) - Number(other.type === root) || timeOf(one) - timeOf(other));
}

function timeOf({ lastTransitionTime }: Condition): number {
  return parseTime(lastTransitionTime) ?? 0;
}

function observed({ metadata }: Conditioned): Pick<Condition, "observedGeneration"> {
  return metadata?.generation === undefined ? {} : { observedGeneration: metadata.generation };
}
