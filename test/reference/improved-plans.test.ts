/** The same for plans that were made cheaper, with other seeds and wishes each time. */
import { type Improvement, improvementOf, solve } from "@joinery/scheduling";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyProblem, largeProblem, roomyProblem, sociableProblem } from "../../packages/scheduling/src/testing/random-problems.ts";
import { faultsOf } from "./check.ts";

const RUNS = Number(process.env.JOINERY_TEST_RUNS ?? 300);

const improvement = fc
  .record({ seed: fc.integer(), spotTypesMin: fc.constantFrom(1, 2, 15), nodeOverheadUsdPerHour: fc.constantFrom(0, 0.005, 1) })
  .map((wish): Improvement => ({ ...improvementOf("default")!, steps: 3000, stepsPerPod: 30, ...wish }));

test.each([
  { of: "pods by themselves", problems: anyProblem, runs: RUNS },
  { of: "pods that have to do with each other", problems: sociableProblem, runs: RUNS },
  { of: "pods among pods, with room for most", problems: roomyProblem, runs: RUNS },
  { of: "hundreds of pods", problems: largeProblem, runs: RUNS / 30 },
])("improved plans are sound: $of", { timeout: 3_600_000 }, ({ problems, runs }) => {
  fc.assert(
    fc.property(problems, improvement, (problem, wish) => {
      const improved = { ...problem, options: { ...problem.options, improvement: wish } };
      expect(faultsOf(solve(improved), problem)).toEqual([]);
    }),
    { numRuns: runs },
  );
});
