/** Workloads that no pool takes, in the solver's own words. Rules S-100, S-18. */
import type { Reason } from "@joinery/scheduling";
import { poolReasons } from "../reason-text.ts";
import { refusedWorkloads } from "../refusals.ts";
import type { Rule } from "../rule.ts";

export const unschedulableWorkload: Rule = {
  name: "unschedulable-workload",
  severity: "error",
  summary: "No pool and no node of the input takes the pods of a workload.",
  *check(facts) {
    for (const { workload, reasons, cause } of refusedWorkloads(facts)) {
      if (cause !== "other") continue;
      yield {
        severity: "error",
        manifest: workload.manifest,
        path: [...workload.path, "spec"],
        message: `no pool takes these pods, so they are never placed: ${poolReasons(reasons)}`,
        instead: facts.answers.helpFor(workload) ?? insteadOf(reasons),
      };
    }
  },
};

/** By the pool that came nearest: what is checked later stands further down. */
const INSTEAD: readonly (readonly [Reason["kind"], string])[] = [
  ["untolerated-taint", "a toleration for one of these taints, or a pool that the pods may use"],
  ["undefined-label", "a label that some pool gives its nodes, or that label among the labels or requirements of a pool"],
  ["incompatible-requirements", "a node selector or affinity that some pool can meet, or a pool with these values"],
  ["no-offering", "zones and capacity types in which the pool's types are offered"],
  ["min-values", "fewer minValues in the pool, or pods that more types can hold"],
  ["volume-limit", "fewer volumes, or types that attach more of them"],
  ["volume-topology", "pods and pools that may be where the volumes are"],
  ["host-port", "another host port, or none"],
  ["invalid-requirement", "a label, operator and values that scheduling supports"],
];

function insteadOf(reasons: readonly Reason[]): string {
  const nearest = INSTEAD.findLast(([kind]) => reasons.some((reason) => reason.kind === kind));
  return nearest?.[1] ?? "what the reasons ask for, in the pods or in a pool";
}
