/** PodDisruptionBudgets that protect nobody. Rule D-46a. */
import { nearWord } from "@joinery/scheduling";
import { pdbFacts } from "../pdb-facts.ts";
import type { Rule } from "../rule.ts";

export const pdbSelectsNothing: Rule = {
  name: "pdb-selects-nothing",
  severity: "warning",
  summary: "A PodDisruptionBudget selects no pods of the input.",
  *check(facts) {
    const labels = facts.workloads.flatMap((workload) => Object.values(workload.labels));
    for (const { pdb, manifest, workloads, neighbours } of pdbFacts(facts)) {
      const { selector } = pdb.spec;
      if (workloads.length > 0 || (selector !== undefined && neighbours === 0)) continue;
      const wanted = Object.values(selector?.matchLabels ?? {}).find((value) => !labels.includes(value));
      const intended = wanted === undefined ? undefined : nearWord(wanted, labels);
      yield {
        severity: "warning",
        manifest,
        path: ["spec", "selector"],
        message:
          selector === undefined
            ? "a budget without a selector selects nothing, so it protects nothing"
            : "the selector matches no pod or pod template of its namespace in the input, so the budget protects nothing",
        instead:
          intended === undefined
            ? "the labels of the pods that are meant, in the budget's own namespace"
            : `${intended} instead of ${wanted}`,
      };
    }
  },
};
