/** What it costs that spot nodes keep enough types to choose from. */
import { instancesUsdPerHour } from "../plan/plan-price.ts";
import type { Plan } from "../plan.ts";
import type { Problem } from "../problem.ts";
import { solve } from "./improved-solve.ts";

/**
 * How much less the instances would cost, USD per hour, if spot nodes could list as few types as they liked: the same search once more
 * without that wish. 0 where there is no spot node, undefined where no cheaper plan is looked for. For people who ask; no plan needs it.
 */
export function flexibilityUsdPerHour(problem: Problem, plan: Plan): number | undefined {
  const { improvement } = problem.options;
  if (improvement === undefined) return undefined;
  if (!plan.newNodes.some(({ cheapest }) => cheapest.capacityType === "spot")) return 0;
  const free = solve({ ...problem, options: { ...problem.options, improvement: { ...improvement, spotTypesMin: 1 } } });
  return Math.max(0, instancesUsdPerHour(plan) - instancesUsdPerHour(free));
}
