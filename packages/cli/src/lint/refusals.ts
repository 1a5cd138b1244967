/** Sorts the workloads that nothing takes by what they should change, so that one rule speaks of each. */
import { maxResources, podRequests, withDefaultedRequests } from "@joinery/api";
import type { Reason } from "@joinery/scheduling";
import type { Facts } from "./facts.ts";
import { knownLabels } from "./known-labels.ts";
import { needsLabel, nodeDemands } from "./node-demands.ts";
import { unknownValues } from "./unknown-values.ts";
import type { Workload } from "./workloads.ts";

export interface Refused {
  readonly workload: Workload;
  readonly reasons: readonly Reason[];
  /** Where the cause is `taint` and other pools lack a device that it asks for: the device, and the tainted pools that have it. */
  readonly device?: Device;
  /** `label`: it asks for a label or value that does not exist; `taint`: it only lacks tolerations; `size`: it only asks for too much. */
  readonly cause: "label" | "taint" | "size" | "other";
}

interface Device {
  readonly resource: string;
  readonly pools: readonly string[];
}

/** Workloads that run already have a place that the input does not show. */
export function refusedWorkloads(facts: Facts): readonly Refused[] {
  return facts.workloads.flatMap((workload) => {
    const { outcome, reasons } = facts.answers.of(workload);
    if (outcome !== "refused" || workload.isRunning || workload.replicas === 0 || asksOverlaid(workload, facts)) return [];
    const cause = causeOf(workload, reasons, facts);
    const device = cause === "size" ? taintedDevice(workload, reasons, facts) : undefined;
    return [device === undefined ? { workload, reasons, cause } : { workload, reasons, cause: "taint", device }];
  });
}

/** The solver was asked without overlays. */
function asksOverlaid({ spec }: Workload, { overlaidResources }: Facts): boolean {
  return overlaidResources.size > 0 && Object.keys(requestsOf(spec)).some((resource) => overlaidResources.has(resource));
}

function causeOf(workload: Workload, reasons: readonly Reason[], facts: Facts): Refused["cause"] {
  if (asksUnknownLabel(workload, facts)) return "label";
  if (reasons.length > 0 && reasons.every(({ kind }) => kind === "untolerated-taint")) return "taint";
  if (reasons.some(({ kind }) => kind === "insufficient-resources" || kind === "over-limit")) return "size";
  return "other";
}

function requestsOf(spec: Workload["spec"]): ReturnType<typeof podRequests> {
  return podRequests({ spec: withDefaultedRequests(spec) });
}

/** What pods ask for that only tainted pools have, and enough of it; elsewhere a toleration would not be all that is missing. */
function taintedDevice({ spec }: Workload, reasons: readonly Reason[], { pools }: Facts): Device | undefined {
  const greatestOf = (kind: Reason["kind"]) => {
    const names = reasons.flatMap((reason) => (reason.kind === kind && "nodePool" in reason ? [reason.nodePool] : []));
    return pools
      .filter(({ name }) => names.includes(name))
      .map(({ name, types }) => ({ name, most: maxResources(...types.map(({ allocatable }) => allocatable)) }));
  };
  const [tainted, small] = [greatestOf("untolerated-taint"), greatestOf("insufficient-resources")];
  const requests = Object.entries(requestsOf(spec)).filter(([, amount]) => amount > 0);
  const holding = tainted.filter(({ most }) => requests.every(([resource, amount]) => (most[resource] ?? 0) >= amount));
  const missing = requests.find(([resource]) => small.length > 0 && small.every(({ most }) => (most[resource] ?? 0) === 0));
  return missing === undefined || holding.length === 0 ? undefined : { resource: missing[0], pools: holding.map(({ name }) => name) };
}

function asksUnknownLabel(workload: Workload, facts: Facts): boolean {
  const labels = knownLabels(facts);
  return nodeDemands(workload).some(({ item, firmness }) => {
    if (firmness !== "required" || !needsLabel(item)) return false;
    return !labels.hasKey(item.key) || unknownValues(item, labels)?.isAll === true;
  });
}
