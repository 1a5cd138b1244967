/** The `eviction` subresource: a delete that disruption budgets may refuse. */
import { type ApiObject, ensureObject, isObject, type JsonObject, numberAt, objectAt, objectsAt, textAt } from "../objects/json.ts";
import { labelTestOf } from "../objects/selectors.ts";
import { keyOfObject } from "../storage/store.ts";
import { ApiFailure, badRequest } from "../wire/status.ts";
import { type Backend, type Call, isDryRun } from "./backend.ts";
import { remove } from "./delete.ts";
import { getObject } from "./read.ts";
import { draftOf } from "./update.ts";

const budgetsId = "policy/poddisruptionbudgets";
/** More entries than this mean that the disruption controller does not keep up; evictions wait for it. */
const disruptedPodsMax = 2000;

export function evict(backend: Backend, call: Call): JsonObject {
  if (!isObject(call.body)) throw badRequest("the body of an eviction must be an Eviction");
  const pod = getObject(backend, call);
  if (!isExempt(pod)) chargeBudget(backend, call, pod);
  const options = objectAt(call.body, "deleteOptions");
  const dryRun = isDryRun(call) || isDryRun({ ...call, body: options });
  const { subresource: _, ...target } = call.target;
  remove(backend, { ...call, target, query: dryRun ? { ...call.query, dryRun: "All" } : call.query, body: options ?? {} });
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

/** Pods whose end disrupts nothing: ended, not yet running, or going already. */
function isExempt(pod: ApiObject): boolean {
  const phase = textAt(pod, "status", "phase");
  return phase === "Succeeded" || phase === "Failed" || phase === "Pending" || pod.metadata.deletionTimestamp !== undefined;
}

function chargeBudget(backend: Backend, call: Call, pod: ApiObject): void {
  const labels = objectAt(pod.metadata, "labels");
  const budgets = [...backend.values(budgetsId)].filter(
    (budget) => budget.metadata.namespace === pod.metadata.namespace && labelTestOf(objectAt(budget, "spec", "selector"))(labels),
  );
  const [budget] = budgets;
  if (budget === undefined) return;
  if (budgets.length > 1) {
    throw new ApiFailure(500, "", "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
  }
  const isReady = objectsAt(pod, "status", "conditions").some((condition) => condition.type === "Ready" && condition.status === "True");
  if (!isReady && isUnhealthyEvictable(budget)) return;
  charge(backend, call, pod, budget);
}

/** A pod that is not ready costs no availability: always under AlwaysAllow, else while the budget itself is healthy. */
function isUnhealthyEvictable(budget: ApiObject): boolean {
  if (textAt(budget, "spec", "unhealthyPodEvictionPolicy") === "AlwaysAllow") return true;
  const healthy = numberAt(budget, "status", "currentHealthy") ?? 0;
  const desired = numberAt(budget, "status", "desiredHealthy") ?? 0;
  return healthy >= desired && desired > 0;
}

function charge(backend: Backend, call: Call, pod: ApiObject, budget: ApiObject): void {
  const name = textAt(budget, "metadata", "name") ?? "";
  if ((numberAt(budget, "status", "observedGeneration") ?? 0) < Number(budget.metadata.generation ?? 0)) {
    throw tooManyRequests(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  const allowed = numberAt(budget, "status", "disruptionsAllowed") ?? 0;
  const disrupted = Object.keys(objectAt(budget, "status", "disruptedPods") ?? {}).length;
  if (disrupted > disruptedPodsMax) {
    throw tooManyRequests(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (allowed <= 0) {
    const needed = numberAt(budget, "status", "desiredHealthy") ?? 0;
    const healthy = numberAt(budget, "status", "currentHealthy") ?? 0;
    throw tooManyRequests(`The disruption budget ${name} needs ${needed} healthy pods and has ${healthy} currently`);
  }
  if (isDryRun(call)) return;
  const draft = draftOf(budget);
  const status = ensureObject(draft, "status");
  status.disruptionsAllowed = allowed - 1;
  ensureObject(status, "disruptedPods")[String(pod.metadata.name)] = backend.nowText();
  backend.store.put(budgetsId, keyOfObject(budget), draft);
}

function tooManyRequests(message: string, retryAfterSeconds?: number): ApiFailure {
  const causes: JsonObject[] = [{ reason: "DisruptionBudget", message }];
  return new ApiFailure(
    429,
    "TooManyRequests",
    "Cannot evict pod as it would violate the pod's disruption budget.",
    retryAfterSeconds === undefined ? { causes } : { causes, retryAfterSeconds },
    retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) },
  );
}
