/**
 * The solve: pods in the order of the queue, and a second chance for those that are left out. Rules S-82, S-85.
 *
 * Whose turn comes early decides about rooms and domains without knowing what others need. So those that are left out are tried once more
 * before everybody else, and that plan is taken where nobody loses a place by it. Where one wants to be with others, one of these is
 * tried before it, on a node where it can be with that one; where others keep it away, it is tried in one domain after the other.
 */
import type { Plan } from "../plan.ts";
import type { PodShape, Problem } from "../problem.ts";
import type { Turn } from "./company.ts";
import { Solver } from "./solver.ts";
import type { SolverView } from "./solver-view.ts";

export { Solver } from "./solver.ts";
export type { SolverView } from "./solver-view.ts";

/** What a solve ended with. */
export interface Solution extends SolverView {
  readonly plan: Plan;
}

/** The greedy plan: one pod after the other, each where it goes first. What the options say about price changes nothing here. */
export function solve(problem: Problem): Plan {
  return solveInTurn(problem).plan;
}

/** The same solve, with what it asked its questions of. */
export function solveToExplain(problem: Problem): Solution {
  const { solver, plan } = solveInTurn(problem);
  return { ...solver.view, plan };
}

/** A solver whose run is over, and whose turns came first in it. */
export interface Run {
  readonly solver: Solver;
  readonly plan: Plan;
  readonly ahead: readonly Turn[];
}

/** @param onTurn called before a pod of the problem is tried, which may be several times */
export function repeat({ ahead }: Run, problem: Problem, onTurn: (pod: number, view: SolverView) => void): void {
  const solver = new Solver(problem);
  const { view } = solver;
  const onTurnOf = (pod: number) => onTurn(pod, view);
  solver.placeFirst(ahead, onTurnOf);
  solver.run(onTurnOf);
}

/** Runs that may follow the first; most problems need none, and one that needs more is one where few would gain by it. */
const SECOND_CHANCES_MAX = 16;
/** Pods and nodes that exist in all of these runs, so that the time of a solve is not that of several where there are many. */
const SIZE_AGAIN_MAX = 4000;

export function solveInTurn(problem: Problem): Run {
  const { options, pods, nodes } = problem;
  const solver = new Solver(problem);
  let best: Run = { solver, plan: solver.run(), ahead: [] };
  // S-169: simulations of a disruption are many, and most end with somebody left out, which is their answer.
  if (best.plan.unschedulable.length === 0 || options.reservedCapacity === "fallback") return best;
  let chances = Math.min(SECOND_CHANCES_MAX, Math.floor(SIZE_AGAIN_MAX / (pods.length + nodes.length)));
  const isOver = () => chances === 0 || options.isOverdue?.() === true;
  const tried = (turns: readonly Turn[]): Run | undefined => {
    if (isOver()) return undefined;
    chances--;
    return runWithFirst(problem, ahead(turns, best));
  };
  for (let found: Run | undefined = best; found !== undefined; ) {
    best = found;
    const late = best.plan.unschedulable.length > 0 ? best.solver.latePods() : [];
    const all = late.length > 0 ? tried(late.map((pod) => ({ pod }))) : undefined;
    found = all && isMore(all.plan, best.plan) ? all : undefined;
    if (found !== undefined || isOver()) continue;
    for (const turns of oneByOne(late, all, best, problem)) {
      if (isOver()) break;
      const one = tried(turns);
      if (one === undefined || !isMore(one.plan, best.plan)) continue;
      found = one;
      break;
    }
  }
  return best;
}

/** Those who gain when all are first, each alone; then each where others are, or are not. Of equal ones the first. */
function* oneByOne(late: readonly number[], all: Run | undefined, { solver }: Run, problem: Problem): Generator<readonly Turn[]> {
  const gaining = all !== undefined && late.length > 1 ? placedBy(all, late, problem) : [];
  for (const pod of oneOfEach(gaining, problem)) yield [{ pod }];
  yield* solver.pinnedTurns(oneOfEach(late, problem));
}

/** Before those who came first so far, who may have done so in vain. */
function ahead(turns: readonly Turn[], run: Run): readonly Turn[] {
  const now = new Set(turns.map(({ pod }) => pod));
  return [...turns, ...run.ahead.filter(({ pod }) => !now.has(pod))];
}

/** undefined where nobody gets a place by being first: then nothing changes. */
function runWithFirst(problem: Problem, first: readonly Turn[]): Run | undefined {
  const solver = new Solver(problem);
  return solver.placeFirst(first) === 0 ? undefined : { solver, plan: solver.run(), ahead: first };
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

/** Of equal pods the first. */
function oneOfEach(pods: readonly number[], problem: Problem): readonly number[] {
  const shapes = new Set<PodShape>();
  return pods.filter((pod) => {
    const { shape } = problem.pods[pod]!;
    return !shapes.has(shape) && shapes.add(shape);
  });
}
