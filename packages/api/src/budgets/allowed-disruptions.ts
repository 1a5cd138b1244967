/** How many nodes of a NodePool may be disrupted at a time, by its budgets. Rules A-135…A-150, V-1. */
import { nanosToMs, parseDuration } from "../duration.ts";
import type { DisruptionReason } from "../owned/choices.ts";
import type { DisruptionBudget } from "../owned/node-pool.ts";
import { parseSchedule } from "./cron.ts";

/** A budget that limits nothing now. */
export const UNBOUNDED = 2 ** 31 - 1;

const DEFAULT_BUDGETS: readonly DisruptionBudget[] = [{ nodes: "10%" }];

export interface BudgetQuestion {
  /** As in the NodePool; absent means the default of 10% (A-150). */
  readonly budgets: readonly DisruptionBudget[] | undefined;
  readonly reason: DisruptionReason;
  /** Nodes of the pool that count. */
  readonly nodeCount: number;
  readonly nowMs: number;
}

export interface BudgetAnswer {
  /** 0 to `UNBOUNDED`; nodes that are being disrupted already are not taken off. */
  readonly allowed: number;
  /** Budgets that cannot be read. While there is one, nothing is allowed for any reason. */
  readonly errors: readonly BudgetError[];
}

export interface BudgetError {
  /** Index in the list of budgets. */
  readonly budget: number;
  readonly field: "nodes" | "schedule" | "duration";
  readonly message: string;
}

/** The strictest budget that applies to the reason and acts now. */
export function allowedDisruptions({ budgets = DEFAULT_BUDGETS, reason, nodeCount, nowMs }: BudgetQuestion): BudgetAnswer {
  const verdicts = budgets.map((budget, at) => ({ budget, verdict: limitOf(budget, at, nodeCount, nowMs) }));
  const errors = verdicts.flatMap(({ verdict }) => (typeof verdict === "number" ? [] : [verdict]));
  if (errors.length > 0) return { allowed: 0, errors };
  const limits = verdicts.flatMap(({ budget, verdict }) => (appliesTo(budget, reason) && typeof verdict === "number" ? [verdict] : []));
  return { allowed: Math.min(UNBOUNDED, ...limits), errors };
}

/** an empty list of reasons names none. */
function appliesTo({ reasons }: DisruptionBudget, reason: DisruptionReason): boolean {
  return reasons?.includes(reason) ?? true;
}

function limitOf(budget: DisruptionBudget, at: number, nodeCount: number, nowMs: number): number | BudgetError {
  const active = isActive(budget, at, nowMs);
  if (typeof active !== "boolean") return active;
  return active ? nodesOf(budget, at, nodeCount) : UNBOUNDED;
}

/** A-137…A-140: percentages are rounded up, numbers stand as they are. */
function nodesOf({ nodes = "10%" }: Partial<DisruptionBudget>, at: number, nodeCount: number): number | BudgetError {
  const [, digits, percent] = /^(\d+)(%?)$/.exec(nodes) ?? [];
  if (digits === undefined) return { budget: at, field: "nodes", message: `cannot read nodes "${nodes}": want a number or a percentage` };
  const count = percent === "%" ? Math.ceil((nodeCount * Number(digits)) / 100) : Number(digits);
  return Math.min(count, UNBOUNDED);
}

/** active in [hit, hit + duration). */
function isActive({ schedule, duration }: DisruptionBudget, at: number, nowMs: number): boolean | BudgetError {
  if (schedule === undefined && duration === undefined) return true;
  const durationNanos = duration === undefined ? undefined : parseDuration(duration);
  if (durationNanos === undefined) return { budget: at, field: "duration", message: `cannot read duration "${duration ?? ""}"` };
  const result = parseSchedule(schedule ?? "");
  if ("error" in result) return { budget: at, field: "schedule", message: `cannot read schedule "${schedule ?? ""}": ${result.error}` };
  const hit = result.schedule.next(nowMs - nanosToMs(durationNanos));
  return hit === undefined || hit <= nowMs;
}
