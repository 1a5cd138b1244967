/** Prints the plans of some random problems of a seed, for comparing processes: `node print-plans.ts SEED`. */
import { solve } from "@joinery/scheduling";
import fc from "fast-check";
import { sociableProblem } from "../../packages/scheduling/src/testing/random-problems.ts";
import { EFFORTS, withEffort } from "./efforts.ts";

const PROBLEMS = 40;
const seed = Number(process.argv[2]);
for (const problem of fc.sample(sociableProblem, { numRuns: PROBLEMS, seed })) {
  for (const effort of EFFORTS) console.log(JSON.stringify(solve(withEffort(problem, effort))));
}
