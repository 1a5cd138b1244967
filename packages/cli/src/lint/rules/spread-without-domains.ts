/** Spreads over a label that no node has. Rule S-135. */
import { HOSTNAME_LABEL } from "@joinery/api";
import { knownLabels } from "../known-labels.ts";
import type { Rule } from "../rule.ts";
import { spreadKeyOf, spreads } from "../spreads.ts";

export const spreadWithoutDomains: Rule = {
  name: "spread-without-domains",
  severity: "error",
  summary: "A topology spread is over a label that no pool and no node has, so it cannot be satisfied.",
  *check(facts) {
    if (facts.pools.length === 0) return;
    const labels = knownLabels(facts);
    for (const workload of facts.workloads) {
      for (const { constraint, path } of spreads(workload)) {
        const key = spreadKeyOf(constraint.topologyKey);
        if (key === HOSTNAME_LABEL || labels.hasKey(key)) continue;
        const isHard = constraint.whenUnsatisfiable === "DoNotSchedule";
        const intended = labels.findIntendedKey(key);
        yield {
          severity: isHard ? "error" : "warning",
          manifest: workload.manifest,
          path: [...path, "topologyKey"],
          message: `no pool and no node of the input has the label ${key}, so ${isHard ? "these pods are never placed" : "the spread never has an effect"}`,
          instead: intended === undefined ? "a label that pools give their nodes, or one of the well-known labels" : intended,
        };
      }
    }
  },
};
