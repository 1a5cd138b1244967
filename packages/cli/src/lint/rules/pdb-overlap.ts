/** Several PodDisruptionBudgets on one pod. Rules S-16, D-46c. */
import { nameOf } from "../located.ts";
import { pdbFacts } from "../pdb-facts.ts";
import type { Rule } from "../rule.ts";
import { listText } from "../words.ts";

export const pdbOverlap: Rule = {
  name: "pdb-overlap",
  severity: "error",
  summary: "Several PodDisruptionBudgets select the same pods, which can then never be evicted.",
  *check(facts) {
    const budgets = pdbFacts(facts);
    for (const [index, { manifest, workloads }] of budgets.entries()) {
      // Said once per pair, at the later one.
      for (const earlier of budgets.slice(0, index)) {
        const both = workloads.filter((workload) => earlier.workloads.includes(workload));
        if (both.length === 0) continue;
        const names = listText(both.map(({ kind, name }) => `${kind}/${name}`));
        yield {
          severity: "error",
          manifest,
          path: ["spec", "selector"],
          message: `pods of ${names} are also selected by PodDisruptionBudget ${nameOf(earlier.pdb)}: the API server refuses every eviction of a pod under two budgets, whatever they allow`,
          instead: `one budget for these pods, or a selector that leaves out what ${nameOf(earlier.pdb)} selects`,
        };
      }
    }
  },
};
