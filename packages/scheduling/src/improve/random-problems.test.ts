import fc from "fast-check";
import { expect, test } from "vitest";
import type { Plan } from "../plan.ts";
import type { Problem } from "../problem.ts";
import { anyProblem, largeProblem, sociableProblem } from "../testing/random-problems.ts";
import { solve } from "./improved-solve.ts";
import { type Improvement, improvementOf } from "./improvement.ts";

const RUNS = 150;
/** Enough for problems of this size to find what there is. */
const STEPS: Partial<Improvement> = { steps: 3000, stepsPerPod: 30 };

const improvement = fc
  .record({
    seed: fc.integer(),
    spotTypesMin: fc.constantFrom(1, 2, 15),
    nodeOverheadUsdPerHour: fc.constantFrom(0, 0.005, 1),
  })
  .map((more): Improvement => ({ ...improvementOf("default")!, ...STEPS, ...more }));

test.each([
  { name: "of all kinds", problems: anyProblem, runs: RUNS },
  { name: "whose pods have to do with each other", problems: sociableProblem, runs: RUNS },
  { name: "with hundreds of pods", problems: largeProblem, runs: RUNS / 10 },
])("problems $name: never dearer than the greedy plan, nobody left out for it", ({ problems, runs }) => {
  fc.assert(
    fc.property(problems, improvement, (problem, wish) => {
      const greedy = solve(problem);
      const plan = solve(withImprovement(problem, wish));
      expect(plan.unschedulable.length).toBeLessThanOrEqual(greedy.unschedulable.length);
      expect(instances(plan)).toBeLessThanOrEqual(instances(greedy) + DUST);
      expect(objective(plan, wish)).toBeLessThanOrEqual(objective(greedy, wish) + DUST);
    }),
    { numRuns: runs },
  );
});

test("equal problems give equal bytes, in whatever order they are listed", () => {
  const shuffled = fc
    .oneof(anyProblem, sociableProblem)
    .chain((problem) =>
      fc
        .tuple(permuted(problem.pods), permuted(problem.pools), permuted(problem.nodes), permuted(problem.daemonSets))
        .map(([pods, pools, nodes, daemonSets]): readonly [Problem, Problem] => [problem, { ...problem, pods, pools, nodes, daemonSets }]),
    );
  fc.assert(
    fc.property(shuffled, improvement, ([one, other], wish) => {
      expect(JSON.stringify(solve(withImprovement(other, wish)))).toBe(JSON.stringify(solve(withImprovement(one, wish))));
    }),
    { numRuns: RUNS },
  );
});

/** Sums of prices in another order. */
const DUST = 1e-9;

function withImprovement(problem: Problem, wish: Improvement): Problem {
  return { ...problem, options: { ...problem.options, improvement: wish } };
}

function instances({ newNodes }: Plan): number {
  return newNodes.reduce((sum, { cheapest }) => sum + cheapest.priceUsdPerHour, 0);
}

function objective(plan: Plan, { nodeOverheadUsdPerHour, rootVolumeUsdPerHour }: Improvement): number {
  return instances(plan) + plan.newNodes.length * (nodeOverheadUsdPerHour + rootVolumeUsdPerHour);
}

function permuted<T>(list: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length });
}
