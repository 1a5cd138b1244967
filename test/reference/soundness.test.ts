/**
 * Random problems of all features: the reference checker finds nothing wrong with the solver's plans. JOINERY_TEST_RUNS sets how many problems of each kind are tried.
 */
import { solve } from "@joinery/scheduling";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyProblem, largeProblem, roomyProblem, sociableProblem } from "../../packages/scheduling/src/testing/random-problems.ts";
import { faultsOf } from "./check.ts";

const RUNS = Number(process.env.JOINERY_TEST_RUNS ?? 200);

test.each([
  { of: "pods by themselves", problems: anyProblem, runs: RUNS },
  { of: "pods that have to do with each other", problems: sociableProblem, runs: RUNS },
  { of: "pods among pods, with room for most", problems: roomyProblem, runs: RUNS },
  { of: "hundreds of pods", problems: largeProblem, runs: Math.ceil(RUNS / 40) },
])("plans are sound: $of", { timeout: 3_600_000 }, ({ problems, runs }) => {
  fc.assert(
    fc.property(problems, (problem) => {
      expect(faultsOf(solve(problem), problem)).toEqual([]);
    }),
    { numRuns: runs },
  );
});
