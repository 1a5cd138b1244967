/** All pools of a problem, asked about one pod. */
import type { PodToPlace, Problem } from "../problem.ts";
import type { Reason } from "../reason.ts";
import type { Solution } from "../solve/solve.ts";
import type { AskedPool } from "./candidate-edits.ts";
import { askPool, compareFurthest } from "./funnel.ts";

/** In the order of the pools, as the plan leaves them. */
export function askPools(problem: Problem, solution: Solution, pod: PodToPlace, reasons: readonly Reason[]): readonly AskedPool[] {
  const { templates, classes, plan } = solution;
  const podClass = classes.list[classes.classOfPod[problem.pods.indexOf(pod)]!];
  const dropped = new Map(plan.droppedPools.map(({ nodePool, reason }) => [nodePool, reason]));
  const asked = { problem, view: solution, plan, podClass, dropped, reasons };
  return templates.map((template) => ({
    template,
    answer: askPool(template, pod.shape, asked),
    dropped: dropped.get(template.name),
    reasons: reasons.filter((reason) => !("nodePool" in reason) || reason.nodePool === template.name),
  }));
}

/** Those in which the pod comes furthest first; equals stay in their order. */
export function furthestFirst(pools: readonly AskedPool[]): readonly AskedPool[] {
  return pools.toSorted((one, other) => compareFurthest(one.answer.funnel, other.answer.funnel));
}
