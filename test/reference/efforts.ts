/** The efforts for a cheap plan with which everything here is checked. */
import { type Effort, improvementOf, type Problem } from "@joinery/scheduling";

/** Steps enough for problems of a dozen pods, so that thousands of them can be tried. */
const SMALL = { steps: 3000, stepsPerPod: 30 };

export const EFFORTS: readonly Effort[] = ["off", "default"];

export function withEffort(problem: Problem, effort: Effort): Problem {
  const improvement = improvementOf(effort);
  return improvement === undefined ? problem : { ...problem, options: { ...problem.options, improvement: { ...improvement, ...SMALL } } };
}
