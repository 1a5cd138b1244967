import fc from "fast-check";
import { expect, test } from "vitest";
import type { Plan } from "../plan.ts";
import type { Problem } from "../problem.ts";
import { Requirements } from "../requirements/requirements.ts";
import { type ModelPlan, modelSolve } from "../testing/model-solver.ts";
import { anyProblem, largeProblem, sociableProblem } from "../testing/random-problems.ts";
import { solve } from "./solve.ts";

const RUNS = 200;
const RESERVATION_ID = "karpenter.k8s.aws/capacity-reservation-id";

test("the plan is the slow solver's plan", () => {
  fc.assert(
    fc.property(anyProblem, (problem) => {
      expect(comparable(solve(problem))).toEqual(expected(problem));
    }),
    { numRuns: RUNS },
  );
});

test("the same with constraints between pods, ports, preferences and minValues", () => {
  fc.assert(
    fc.property(sociableProblem, (problem) => {
      expect(comparable(solve(problem))).toEqual(expected(problem));
    }),
    { numRuns: RUNS },
  );
});

test("the same with hundreds of pods", () => {
  fc.assert(
    fc.property(largeProblem, (problem) => {
      expect(comparable(solve(problem))).toEqual(expected(problem));
    }),
    { numRuns: RUNS / 20 },
  );
});

test("the order of the input is of no consequence (section 24)", () => {
  const shuffled = anyProblem.chain((problem) =>
    fc
      .tuple(permuted(problem.pods), permuted(problem.pools), permuted(problem.nodes), permuted(problem.daemonSets))
      .map(([pods, pools, nodes, daemonSets]): readonly [Problem, Problem] => [problem, { ...problem, pods, pools, nodes, daemonSets }]),
  );
  fc.assert(
    fc.property(shuffled, ([one, other]) => {
      expect(JSON.stringify(solve(other))).toBe(JSON.stringify(solve(one)));
    }),
    { numRuns: RUNS },
  );
});

function permuted<T>(list: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length });
}

function expected(problem: Problem): ModelPlan {
  const { newNodes, existingNodes, unschedulable } = modelSolve(problem);
  return { newNodes: newNodes.toSorted(byPods), existingNodes: existingNodes.toSorted(byPods), unschedulable };
}

function comparable(plan: Plan): ModelPlan {
  return {
    newNodes: plan.newNodes
      .map(({ nodePool, pods, instanceTypes, requirements }) => ({
        pool: nodePool.metadata!.name!,
        pods,
        reservations: (requirements.find(({ key }) => key === RESERVATION_ID)?.values ?? []).toSorted(),
        types: instanceTypes.map(({ name }) => name).sort(),
        requirements: Requirements.fromItems(requirements).without("karpenter.sh/capacity-type", RESERVATION_ID).canonicalText,
      }))
      .sort(byPods),
    existingNodes: plan.existingNodes.toSorted(byPods),
    unschedulable: plan.unschedulable.map(({ pod }) => pod),
  };
}

function byPods(one: { readonly pods: readonly string[] }, other: { readonly pods: readonly string[] }): number {
  return one.pods[0]! < other.pods[0]! ? -1 : 1;
}
