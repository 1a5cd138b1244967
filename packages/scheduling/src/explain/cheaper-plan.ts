/** What became of a pod when its plan was made cheaper than the greedy one. */
import { instancesUsdPerHour, roundedPrice } from "../plan/plan-price.ts";
import type { Plan } from "../plan.ts";
import type { Problem } from "../problem.ts";
import { solve } from "../solve/solve.ts";

export interface CheaperPlan {
  readonly nodes: number;
  readonly pricePerHour: number;
  readonly greedyNodes: number;
  readonly greedyPricePerHour: number;
  /** Where the greedy plan has the pod; absent where it has it beside the same pods on the same type, or on the same node that exists. */
  readonly movedFrom?: {
    /** Of a node that exists. */
    readonly node?: string;
    /** Of a new one. */
    readonly instanceType?: string;
    readonly pricePerHour: number;
    readonly otherPods: number;
  };
}

/** undefined where the plan is the greedy one. One greedy solve. */
export function cheaperPlan(problem: Problem, plan: Plan, key: string): CheaperPlan | undefined {
  const { improvement, newNodes } = plan;
  if (improvement === undefined || !improvement.isImproved) return undefined;
  const [before, now] = [placeOf(solve(problem), key), placeOf(plan, key)];
  const { greedyUsdPerHour: greedyPricePerHour, greedyNodes } = improvement;
  const pricePerHour = instancesUsdPerHour(plan);
  const prices = { pricePerHour: roundedPrice(pricePerHour), greedyPricePerHour: roundedPrice(greedyPricePerHour) };
  const facts = { nodes: newNodes.length, greedyNodes, ...prices };
  if (before === undefined || before.identity === now?.identity) return facts;
  const { identity: _, ...movedFrom } = before;
  return { ...facts, movedFrom };
}

function placeOf({ newNodes, existingNodes }: Plan, key: string) {
  const existing = existingNodes.find(({ pods }) => pods.includes(key));
  if (existing !== undefined) return { identity: existing.name, node: existing.name, pricePerHour: 0, otherPods: existing.pods.length - 1 };
  const found = newNodes.find(({ pods }) => pods.includes(key));
  if (found === undefined) return undefined;
  const { instanceType, priceUsdPerHour } = found.cheapest;
  return {
    identity: `${instanceType} ${found.pods.join()}`,
    instanceType,
    pricePerHour: roundedPrice(priceUsdPerHour),
    otherPods: found.pods.length - 1,
  };
}
