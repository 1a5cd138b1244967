/** Pods that no instance type holds. Rules S-49, S-101, S-102. */
import { formatAmount, maxResources, parseResources, podRequests, withDefaultedRequests } from "@joinery/api";
import { nearWord, type Reason } from "@joinery/scheduling";
import type { Facts } from "../facts.ts";
import type { Remark } from "../finding.ts";
import { poolReasons } from "../reason-text.ts";
import { type Refused, refusedWorkloads } from "../refusals.ts";
import type { Rule } from "../rule.ts";
import { listText } from "../words.ts";
import type { Workload } from "../workloads.ts";

export const requestTooLarge: Rule = {
  name: "request-too-large",
  severity: "error",
  summary: "A pod asks for more than any instance type, or any type of the pools that it may use, can give.",
  *check(facts) {
    for (const refused of refusedWorkloads(facts)) if (refused.cause === "size") yield remarkOf(refused, facts);
  },
};

function remarkOf({ workload, reasons }: Refused, { catalogue, pools, answers }: Facts): Remark {
  const requests = podRequests({ spec: withDefaultedRequests(workload.spec) });
  const near = pools.filter(({ name }) => reasons.some((reason) => isAboutSize(reason) && reason.nodePool === name));
  const ofPools = maxResources(...near.flatMap(({ types }) => types.map(({ allocatable }) => allocatable)));
  for (const [resource, amount] of Object.entries(requests).sort()) {
    const most = catalogue.greatest[resource] ?? 0;
    const mostOfPools = ofPools[resource] ?? 0;
    const asked = `the pods ask for ${formatAmount(resource, amount)} ${resource}`;
    if (amount > most && most === 0) {
      const message = `${asked}, which no instance type of the catalogue has: they are never placed`;
      const intended = nearWord(resource, Object.keys(catalogue.greatest));
      return remarkAt(workload, resource, message, intended ?? "a resource that some instance type has");
    }
    if (amount > most) {
      const message = `${asked}, and the largest instance type has ${formatAmount(resource, most)} for pods: they are never placed`;
      const less = `${resource}: less than ${formatAmount(resource, most)}, since DaemonSets take their part`;
      return remarkAt(workload, resource, message, insteadOf(resource, amount) ?? less);
    }
    if (amount > mostOfPools && near.length > 0) {
      const names = `NodePool${near.length === 1 ? "" : "s"} ${listText(near.map(({ name }) => name))}`;
      const offered = mostOfPools === 0 ? "none" : `${formatAmount(resource, mostOfPools)} at most`;
      const message = `${asked}, and the types of ${names}, which they may use, have ${offered}: they are never placed`;
      return remarkAt(workload, resource, message, answers.helpFor(workload) ?? LARGER);
    }
  }
  const message = `no instance type of the pools that the pods may use has room for one with its DaemonSets, so they are never placed: ${poolReasons(reasons)}`;
  return remarkAt(workload, undefined, message, answers.helpFor(workload) ?? LARGER);
}

/** Cores that were meant to be millicores, and room that follows from the node class rather than from the type. */
function insteadOf(resource: string, amount: number): string | undefined {
  if (resource === "cpu" && amount % MILLIS === 0 && amount >= CORES_MEANT_MAX * MILLIS) return `cpu: ${amount / MILLIS}m`;
  return resource === "ephemeral-storage"
    ? "a smaller request, or a larger root volume (blockDeviceMappings of the node class)"
    : undefined;
}

const MILLIS = 1000;
/** Who asks for so many cores has left out the m. */
const CORES_MEANT_MAX = 100;

const LARGER = "a smaller request, or larger instance types in a pool that these pods may use";

function isAboutSize(reason: Reason): reason is Extract<Reason, { kind: "insufficient-resources" | "over-limit" }> {
  return reason.kind === "insufficient-resources" || reason.kind === "over-limit";
}

/** At the container that asks for most of it; a limit without a request is the request too (S-51). */
function remarkAt({ spec, path, manifest }: Workload, resource: string | undefined, message: string, instead: string): Remark {
  const amounts = withDefaultedRequests(spec).containers.map(
    ({ resources }) => parseResources(resources?.requests)[resource ?? "cpu"] ?? 0,
  );
  const container = Math.max(0, amounts.indexOf(Math.max(...amounts)));
  const { requests = {}, limits = {} } = spec.containers[container]?.resources ?? {};
  const isLimit = resource !== undefined && requests[resource] === undefined && limits[resource] !== undefined;
  const field = [
    "spec",
    "containers",
    container,
    "resources",
    isLimit ? "limits" : "requests",
    ...(resource === undefined ? [] : [resource]),
  ];
  return { severity: "error", manifest, path: [...path, ...field], message, instead };
}
