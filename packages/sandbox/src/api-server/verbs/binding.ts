/** The `binding` subresource of a pod: the scheduler's word, given once. */
import { type ApiObject, ensureObject, isObject, type JsonObject, objectAt, objectsAt, textAt } from "../objects/json.ts";
import { labelTopology } from "../rules/pod-topology-labels.ts";
import { badRequest, conflict, invalid } from "../wire/status.ts";
import { type Backend, type Call, isDryRun } from "./backend.ts";
import { getObject } from "./read.ts";
import { commit, draftOf } from "./update.ts";

export function bind(backend: Backend, call: Call): JsonObject {
  const pod = getObject(backend, call);
  const name = call.target.name ?? "";
  const node = textAt(call.body, "target", "name") ?? "";
  if (!isObject(call.body)) throw badRequest("the body of a binding must be a Binding");
  if (node === "") throw invalid("", "Binding", name, [{ kind: "required", field: "target.name" }]);
  refuse(call, pod, name);
  const draft = draftOf(pod);
  ensureObject(draft, "spec").nodeName = node;
  for (const key of ["labels", "annotations"]) {
    const given = objectAt(call.body, "metadata", key) ?? {};
    if (Object.keys(given).length > 0) Object.assign(ensureObject(draft.metadata, key), given);
  }
  labelTopology(draft, backend);
  const status = ensureObject(draft, "status");
  const others = objectsAt(status, "conditions").filter((condition) => condition.type !== "PodScheduled");
  status.conditions = [...others, { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: backend.nowText() }];
  if (!isDryRun(call)) commit(backend, call, pod, draft);
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

function refuse(call: Call, pod: ApiObject, name: string): void {
  const { resource } = call;
  const given = textAt(call.body, "metadata", "name") ?? "";
  if (given !== name) throw badRequest("name in URL does not match name in Binding object");
  const uid = textAt(call.body, "metadata", "uid") ?? "";
  if (uid !== "" && uid !== pod.metadata.uid) {
    throw conflict(resource, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid}`);
  }
  const bound = textAt(pod, "spec", "nodeName") ?? "";
  if (bound !== "") throw conflict(resource, name, `pod ${name} is already assigned to node "${bound}"`);
  if (pod.metadata.deletionTimestamp !== undefined)
    throw conflict(resource, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  if (objectsAt(pod, "spec", "schedulingGates").length > 0)
    throw conflict(resource, name, `pod ${name} has non-empty .spec.schedulingGates`);
}
