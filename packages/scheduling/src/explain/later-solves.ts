/**
 * What becomes of pods that a plan leaves to later solves: planned nodes run in their cheapest offering, placed pods are bound, and
 * the next solve knows where they are. Rules S-87, S-141, S-151, S-169.
 */
import { afterwards } from "../plan/next-solve.ts";
import type { Plan } from "../plan.ts";
import type { Problem } from "../problem.ts";
import { solve } from "../solve/solve.ts";

export interface LaterSolves {
  /** That placed some pod. */
  readonly count: number;
  /** Keys of pods that have no place after them. */
  readonly unplaced: ReadonlySet<string>;
}

/** Pods that keep apart by zone are placed one a solve, and regions have no more zones than this. */
const SOLVES_MAX = 8;

export function laterSolves(problem: Problem, plan: Plan): LaterSolves {
  let [now, left, count] = [problem, plan, 0];
  while (count < SOLVES_MAX && left.unschedulable.some(waits)) {
    now = afterwards(now, left);
    const next = solve(now);
    if (next.unschedulable.length === left.unschedulable.length) break;
    left = next;
    count++;
  }
  return { count, unplaced: new Set(left.unschedulable.map(({ pod }) => pod)) };
}

export function waits({ reasons }: Pick<Plan["unschedulable"][number], "reasons">): boolean {
  return reasons.some(({ kind }) => kind === "next-solve");
}
