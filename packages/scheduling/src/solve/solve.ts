/**
 * The solve: pods in the order of the queue, and a second chance for those that are left out. Rules S-82, S-85.
 *
 * Whose turn comes early decides about rooms and domains without knowing what others need. So those that are left out are tried once more
 * before everybody else, and that plan is taken where nobody loses a place by it.
 */
import type { Plan } from "../plan.ts";
import type { Problem } from "../problem.ts";
import { Solver, type SolverView } from "./solver.ts";

export { Solver, type SolverView } from "./solver.ts";

/** What a solve ended with. */
export interface Solution extends SolverView {
  readonly plan: Plan;
}

/** The greedy plan: one pod after the other, each where it goes first. What the options say about price changes nothing here. */
export function solve(problem: Problem): Plan {
  return solveInTurn(problem).plan;
}

/**
 * The same solve, with what it asked its questions of.
 * @param onTurn called before a pod of the problem is tried, which may be several times
 */
export function solveToExplain(problem: Problem, onTurn?: (pod: number, view: SolverView) => void): Solution {
  const { solver, plan, ahead } = solveInTurn(problem);
  if (onTurn === undefined) return { ...solver.view, plan };
  const again = new Solver(problem, ahead);
  const { view } = again;
  return { ...view, plan: again.run((pod) => onTurn(pod, view)) };
}

/** A solver whose run is over, and whose turns came first in it. */
export interface Run {
  readonly solver: Solver;
  readonly plan: Plan;
  readonly ahead: readonly number[];
}

/** Runs that may follow the first; most problems need none, and one that needs more is one where few would gain by it. */
const SECOND_CHANCES_MAX = 8;
/** Pods in all of these runs, so that the time of a solve is not that of several where there are many. */
const PODS_AGAIN_MAX = 4000;

export function solveInTurn(problem: Problem): Run {
  let best = run(problem, []);
  // S-169: simulations of a disruption are many, and most end with somebody left out, which is their answer.
  if (best.plan.unschedulable.length === 0 || problem.options.reservedCapacity === "fallback") return best;
  let chances = Math.min(SECOND_CHANCES_MAX, Math.floor(PODS_AGAIN_MAX / problem.pods.length));
  for (let late = lateIn(best, chances); late.length > 0; late = lateIn(best, chances)) {
    const { ahead } = best;
    const all = run(problem, [...late, ...ahead]);
    chances--;
    let better = isMore(all.plan, best.plan) ? all : undefined;
    const gaining = better === undefined && late.length > 1 ? placedBy(all, late, problem) : [];
    for (let index = 0; index < gaining.length && better === undefined && chances > 0; index++) {
      const one = run(problem, [gaining[index]!, ...ahead]);
      chances--;
      if (isMore(one.plan, best.plan)) better = one;
    }
    if (better === undefined || problem.options.isOverdue?.()) break;
    best = better;
  }
  return best;
}

function run(problem: Problem, ahead: readonly number[]): Run {
  const solver = new Solver(problem, ahead);
  return { solver, plan: solver.run(), ahead };
}

function lateIn({ solver, plan }: Run, chances: number): readonly number[] {
  return chances > 0 && plan.unschedulable.length > 0 ? solver.latePods() : [];
}

/** Somebody has a place who had none, and everybody else has one still. */
function isMore({ unschedulable: now }: Plan, { unschedulable: before }: Plan): boolean {
  if (now.length >= before.length) return false;
  const leftOut = new Set(before.map(({ pod }) => pod));
  return now.every(({ pod }) => leftOut.has(pod));
}

function placedBy({ plan }: Run, pods: readonly number[], problem: Problem): readonly number[] {
  const leftOut = new Set(plan.unschedulable.map(({ pod }) => pod));
  return pods.filter((pod) => !leftOut.has(problem.pods[pod]!.key));
}
