/** Spreads whose selector does not match the pods that carry them. Rule S-147. */
import { matchesLabelSelector } from "@joinery/kube";
import type { Rule } from "../rule.ts";
import { spreads } from "../spreads.ts";

export const spreadIgnoresItself: Rule = {
  name: "spread-ignores-itself",
  severity: "warning",
  summary: "A topology spread's selector does not match the pods themselves, so they are not spread.",
  *check({ workloads }) {
    for (const workload of workloads) {
      for (const { constraint, path } of spreads(workload)) {
        const { labelSelector } = constraint;
        if (labelSelector !== undefined && matchesLabelSelector(labelSelector, workload.labels)) continue;
        const what =
          labelSelector === undefined
            ? "there is no labelSelector, so the pods"
            : "the labelSelector does not match the pods' own labels, so they";
        yield {
          severity: "warning",
          manifest: workload.manifest,
          path: labelSelector === undefined ? path : [...path, "labelSelector"],
          message: `${what} do not count themselves and may all end up in one place`,
          instead: "a labelSelector with labels of this pod template",
        };
      }
    }
  },
};
