/** What admission adds to a new pod: tolerations, priority, service account, limits of the namespace, runtime class overhead, quality of service. */
import {
  type ApiObject,
  copyJson,
  ensureObject,
  equalJson,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  setDefault,
  textAt,
} from "../objects/json.ts";
import type { RuleContext } from "../registry/resource.ts";
import { forbidden } from "../wire/status.ts";
import { applyLimitRanges } from "./limit-range.ts";
import { labelTopology } from "./pod-topology-labels.ts";

const pods = { group: "", resource: "pods" };
const tolerationSeconds = 300;

export function admitPod(pod: ApiObject, context: RuleContext): void {
  const spec = ensureObject(pod, "spec");
  setDefault(spec, "serviceAccountName", "default");
  setDefault(spec, "serviceAccount", spec.serviceAccountName ?? "default");
  applyLimitRanges(pod, context);
  setPriority(pod, spec, context);
  setOverhead(pod, spec, context);
  tolerateUnreachable(spec);
  labelTopology(pod, context);
  pod.status = newStatus(pod, spec);
}

function setPriority(pod: ApiObject, spec: JsonObject, context: RuleContext): void {
  const name = textAt(spec, "priorityClassName") ?? "";
  const podName = textAt(pod, "metadata", "name") ?? "";
  let found = name === "" ? undefined : context.find("scheduling.k8s.io/priorityclasses", name);
  if (name !== "" && found === undefined) throw forbidden(pods, podName, `no PriorityClass with name ${name} was found`);
  if (name === "") found = [...context.values("scheduling.k8s.io/priorityclasses")].find((candidate) => candidate.globalDefault === true);
  const value = typeof found?.value === "number" ? found.value : 0;
  if (typeof spec.priority === "number" && spec.priority !== value) {
    throw forbidden(
      pods,
      podName,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  if (found !== undefined) spec.priorityClassName = found.metadata.name as Json;
  spec.priority = value;
  setDefault(spec, "preemptionPolicy", textAt(found, "preemptionPolicy") ?? "PreemptLowerPriority");
}

function setOverhead(pod: ApiObject, spec: JsonObject, context: RuleContext): void {
  const name = textAt(spec, "runtimeClassName") ?? "";
  const podName = textAt(pod, "metadata", "name") ?? "";
  const found = name === "" ? undefined : context.find("node.k8s.io/runtimeclasses", name);
  if (name !== "" && found === undefined) throw forbidden(pods, podName, `pod rejected: RuntimeClass "${name}" not found`);
  const overhead = objectAt(found, "overhead", "podFixed");
  const given = objectAt(spec, "overhead") ?? {};
  if (Object.keys(given).length > 0 && !equalJson(given, overhead ?? {})) {
    const why =
      overhead === undefined
        ? "Pod Overhead set without corresponding RuntimeClass defined Overhead"
        : "Pod's Overhead doesn't match RuntimeClass's defined Overhead";
    throw forbidden(pods, podName, `pod rejected: ${why}`);
  }
  if (overhead !== undefined) spec.overhead = copyJson(overhead);
  const selector = objectAt(found, "scheduling", "nodeSelector");
  if (selector !== undefined) spec.nodeSelector = { ...objectAt(spec, "nodeSelector"), ...selector };
  const tolerations = objectsAt(found, "scheduling", "tolerations");
  if (tolerations.length > 0) spec.tolerations = [...objectsAt(spec, "tolerations"), ...copyJson(tolerations)];
}

/** A node that is not ready or not reachable keeps its pods for five minutes, unless the pod says something else. */
function tolerateUnreachable(spec: JsonObject): void {
  const tolerations = objectsAt(spec, "tolerations");
  const added = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    .filter((key) => !tolerations.some((toleration) => toleratesEviction(toleration, key)))
    .map((key): JsonObject => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds }));
  if (added.length > 0) spec.tolerations = [...tolerations, ...added];
}

function toleratesEviction(toleration: JsonObject, key: string): boolean {
  const effect = textAt(toleration, "effect") ?? "";
  const own = textAt(toleration, "key") ?? "";
  return (effect === "" || effect === "NoExecute") && (own === key || own === "");
}

function newStatus(pod: ApiObject, spec: JsonObject): JsonObject {
  const status: JsonObject = { phase: "Pending", qosClass: qosClass(spec) };
  if (objectsAt(spec, "schedulingGates").length > 0) {
    status.conditions = [
      {
        type: "PodScheduled",
        status: "False",
        reason: "SchedulingGated",
        message: "Scheduling is blocked due to non-empty scheduling gates",
        lastProbeTime: null,
        lastTransitionTime: pod.metadata.creationTimestamp ?? null,
      },
    ];
  }
  return status;
}

/**
 * Guaranteed when every container (or the pod as a whole, where it says so itself) limits cpu and memory and requests the same;
 * BestEffort when none asks for anything.
 */
function qosClass(spec: JsonObject): string {
  const whole = objectAt(spec, "resources");
  const isWhole = Object.keys(objectAt(whole, "requests") ?? {}).length > 0 || Object.keys(objectAt(whole, "limits") ?? {}).length > 0;
  const askers = isWhole ? [spec] : [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")];
  const measured = ["cpu", "memory"];
  const amount = (asker: JsonObject, list: string, name: string) => objectAt(asker, "resources", list)?.[name];
  const isZero = (quantity: Json | undefined) => quantity === undefined || quantity === "0";
  const asks = askers.some((asker) =>
    measured.some((name) => !isZero(amount(asker, "requests", name)) || !isZero(amount(asker, "limits", name))),
  );
  if (!asks) return "BestEffort";
  const isExact = askers.every((asker) =>
    measured.every((name) => !isZero(amount(asker, "limits", name)) && amount(asker, "limits", name) === amount(asker, "requests", name)),
  );
  return isExact ? "Guaranteed" : "Burstable";
}
