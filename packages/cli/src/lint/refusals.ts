/** Sorts the workloads that nothing takes by what they should change, so that one rule speaks of each. */
import { podRequests } from "@joinery/api";
import type { Reason } from "@joinery/scheduling";
import type { Facts } from "./facts.ts";
import { knownLabels } from "./known-labels.ts";
import { needsLabel, nodeDemands } from "./node-demands.ts";
import { unknownValues } from "./unknown-values.ts";
import type { Workload } from "./workloads.ts";

export interface Refused {
  readonly workload: Workload;
  readonly reasons: readonly Reason[];
  /** `label`: it asks for a label or value that does not exist; `taint`: it only lacks tolerations; `size`: it only asks for too much. */
  readonly cause: "label" | "taint" | "size" | "other";
}

/** Workloads that run already have a place that the input does not show. */
export function refusedWorkloads(facts: Facts): readonly Refused[] {
  return facts.workloads.flatMap((workload) => {
    const { outcome, reasons } = facts.answers.of(workload);
    if (outcome !== "refused" || workload.isRunning || workload.replicas === 0 || asksOverlaid(workload, facts)) return [];
    return [{ workload, reasons, cause: causeOf(workload, reasons, facts) }];
  });
}

/** The solver was asked without overlays. */
function asksOverlaid({ spec }: Workload, { overlaidResources }: Facts): boolean {
  return overlaidResources.size > 0 && Object.keys(podRequests({ spec })).some((resource) => overlaidResources.has(resource));
}

function causeOf(workload: Workload, reasons: readonly Reason[], facts: Facts): Refused["cause"] {
  if (asksUnknownLabel(workload, facts)) return "label";
  if (reasons.length > 0 && reasons.every(({ kind }) => kind === "untolerated-taint")) return "taint";
  if (reasons.some(({ kind }) => kind === "insufficient-resources" || kind === "over-limit")) return "size";
  return "other";
}

function asksUnknownLabel(workload: Workload, facts: Facts): boolean {
  const labels = knownLabels(facts);
  return nodeDemands(workload).some(({ item, firmness }) => {
    if (firmness !== "required" || !needsLabel(item)) return false;
    return !labels.hasKey(item.key) || unknownValues(item, labels)?.isAll === true;
  });
}
