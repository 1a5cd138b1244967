/** The line of a pod: what its containers do, in one word. */
import { type ApiObject, type JsonObject, listAt, numberAt, objectAt, objectsAt, textAt } from "../objects/json.ts";
import type { TablePrinter } from "../registry/resource.ts";
import { age } from "./age.ts";
import { none, orNone, printer } from "./columns.ts";

export const podPrinter: TablePrinter = printer(
  ["Ready", "Status", "Restarts", "Age", "+IP", "+Node", "+Nominated Node", "+Readiness Gates"],
  (pod, nowMs) => {
    const life = lifeOf(pod);
    return [
      `${life.ready}/${life.total}`,
      life.reason,
      restartsText(life, nowMs),
      age(pod.metadata.creationTimestamp, nowMs),
      orNone(textAt(pod, "status", "podIP")),
      orNone(textAt(pod, "spec", "nodeName")),
      orNone(textAt(pod, "status", "nominatedNodeName")),
      readinessGates(pod),
    ];
  },
);

interface Life {
  readonly ready: number;
  readonly total: number;
  readonly reason: string;
  readonly restarts: number;
  readonly lastRestart?: string;
}

function lifeOf(pod: ApiObject): Life {
  const initContainers = objectsAt(pod, "spec", "initContainers");
  const sidecars = new Set(initContainers.filter((container) => container.restartPolicy === "Always").map((container) => container.name));
  const initStatuses = objectsAt(pod, "status", "initContainerStatuses");
  const statuses = objectsAt(pod, "status", "containerStatuses");
  const sidecarStatuses = initStatuses.filter((status) => sidecars.has(status.name ?? ""));
  const counted = [...sidecarStatuses, ...statuses];
  const restarted = counted.filter((status) => (numberAt(status, "restartCount") ?? 0) > 0);
  const lastRestart = restarted
    .map((status) => textAt(status, "lastState", "terminated", "finishedAt") ?? "")
    .sort()
    .at(-1);
  return {
    ready: counted.filter((status) => status.ready === true && objectAt(status, "state", "running") !== undefined).length,
    total: objectsAt(pod, "spec", "containers").length + sidecars.size,
    reason: reasonOf(pod, initContainers, initStatuses, sidecars, statuses),
    restarts: restarted.reduce((sum, status) => sum + (numberAt(status, "restartCount") ?? 0), 0),
    ...(lastRestart === undefined || lastRestart === "" ? {} : { lastRestart }),
  };
}

function reasonOf(
  pod: ApiObject,
  initContainers: readonly JsonObject[],
  initStatuses: readonly JsonObject[],
  sidecars: ReadonlySet<unknown>,
  statuses: readonly JsonObject[],
): string {
  const own = textAt(pod, "status", "reason");
  const phase = textAt(pod, "status", "phase") ?? "Unknown";
  const gated = objectsAt(pod, "status", "conditions").find(
    (condition) => condition.type === "PodScheduled" && condition.reason === "SchedulingGated",
  );
  let reason = own !== undefined && own !== "" ? own : gated === undefined ? phase : "SchedulingGated";
  const initial = initReason(initContainers, initStatuses, sidecars);
  if (initial !== undefined) reason = initial;
  else reason = mainReason(pod, statuses, reason);
  if (pod.metadata.deletionTimestamp === undefined) return reason;
  if (own === "NodeLost") return "Unknown";
  return phase === "Succeeded" || phase === "Failed" ? reason : "Terminating";
}

function initReason(
  containers: readonly JsonObject[],
  statuses: readonly JsonObject[],
  sidecars: ReadonlySet<unknown>,
): string | undefined {
  for (const [index, status] of statuses.entries()) {
    const terminated = objectAt(status, "state", "terminated");
    if (terminated !== undefined && terminated.exitCode === 0) continue;
    if (sidecars.has(status.name) && status.started === true) continue;
    if (terminated !== undefined) return `Init:${endOf(terminated)}`;
    const waiting = textAt(status, "state", "waiting", "reason");
    if (waiting !== undefined && waiting !== "" && waiting !== "PodInitializing") return `Init:${waiting}`;
    return `Init:${index}/${containers.length}`;
  }
  return undefined;
}

function endOf(terminated: JsonObject): string {
  const reason = textAt(terminated, "reason") ?? "";
  if (reason !== "") return reason;
  return numberAt(terminated, "signal") ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode}`;
}

function mainReason(pod: ApiObject, statuses: readonly JsonObject[], before: string): string {
  let reason = before;
  let isRunning = false;
  for (const status of [...statuses].reverse()) {
    const waiting = textAt(status, "state", "waiting", "reason") ?? "";
    const terminated = objectAt(status, "state", "terminated");
    if (waiting !== "") reason = waiting;
    else if (terminated !== undefined) reason = endOf(terminated);
    else if (status.ready === true && objectAt(status, "state", "running") !== undefined) isRunning = true;
  }
  if (reason !== "Completed" || !isRunning) return reason;
  const isReady = objectsAt(pod, "status", "conditions").some((condition) => condition.type === "Ready" && condition.status === "True");
  return isReady ? "Running" : "NotReady";
}

function restartsText({ restarts, lastRestart }: Life, nowMs: number): string {
  return restarts === 0 || lastRestart === undefined ? String(restarts) : `${restarts} (${age(lastRestart, nowMs)} ago)`;
}

function readinessGates(pod: ApiObject): string {
  const gates = listAt(pod, "spec", "readinessGates");
  if (gates.length === 0) return none;
  const conditions = objectsAt(pod, "status", "conditions");
  const passed = gates.filter((gate) =>
    conditions.some((condition) => condition.type === textAt(gate, "conditionType") && condition.status === "True"),
  );
  return `${passed.length}/${gates.length}`;
}
