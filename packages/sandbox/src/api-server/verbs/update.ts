/** PUT, and what every change of an existing object goes through: preconditions, system fields, rules, storing or finishing a deletion. */
import { type ApiObject, copyJson, equalJson, type Json, type JsonObject, listAt, textAt } from "../objects/json.ts";
import { validateMetadata } from "../objects/validate-metadata.ts";
import { updatedFields } from "../patch/managed-fields.ts";
import type { Resource } from "../registry/resource.ts";
import { keyOfObject } from "../storage/store.ts";
import { badRequest, conflict, type FieldFault, invalid, staleObject } from "../wire/status.ts";
import { type Backend, type Call, isDryRun } from "./backend.ts";
import { readDraft } from "./body.ts";
import { getObject } from "./read.ts";

export function replace(backend: Backend, call: Call): ApiObject {
  const draft = readDraft(call, call.body);
  const name = textAt(draft, "metadata", "name");
  if (name !== undefined && name !== call.target.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${call.target.name})`);
  }
  if (name === undefined) draft.metadata.name = call.target.name as Json;
  const namespace = textAt(draft, "metadata", "namespace");
  if (call.target.namespace !== undefined) {
    if (namespace !== undefined && namespace !== "" && namespace !== call.target.namespace) {
      throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
    }
    draft.metadata.namespace = call.target.namespace;
  }
  const old = getObject(backend, call);
  if (call.resource.isCustom && (textAt(draft, "metadata", "resourceVersion") ?? "") === "") {
    const fault: FieldFault = { kind: "invalid", field: "metadata.resourceVersion", value: 0, detail: "must be specified for an update" };
    throw invalid(call.resource.group, call.resource.resource, call.target.name ?? "", [fault]);
  }
  return store(backend, call, old, draft);
}

/** Brings a draft into the place of `old`. `managedFields` says who owns what when the caller (an apply) has worked it out. */
export function store(backend: Backend, call: Call, old: ApiObject, draft: ApiObject, managedFields?: JsonObject[]): ApiObject {
  const { resource, target } = call;
  const name = textAt(old, "metadata", "name") ?? "";
  const version = textAt(draft, "metadata", "resourceVersion") ?? "";
  if (version !== "" && version !== old.metadata.resourceVersion) throw conflict(resource, name, staleObject);
  const uid = textAt(draft, "metadata", "uid") ?? "";
  if (uid !== "" && uid !== old.metadata.uid) {
    throw conflict(resource, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`);
  }
  keepSystemFields(resource, target.subresource, old, draft);
  resource.strategy.defaults?.(draft, backend);
  if (target.subresource === undefined) resource.strategy.beforeUpdate?.(draft, old);
  const faults = [
    ...validateMetadata(draft, resource),
    ...finalizerFaults(old, draft),
    ...(resource.strategy.validate?.(draft, old) ?? []),
    ...(resource.custom?.validate(draft, old) ?? []),
  ];
  if (faults.length > 0) throw invalid(resource.group, resource.kind, name, faults);
  return commit(backend, call, old, draft, managedFields);
}

/** The last step: generation, owners of fields, and no write at all when nothing changed. */
export function commit(backend: Backend, call: Call, old: ApiObject, draft: ApiObject, managedFields?: JsonObject[]): ApiObject {
  const { resource } = call;
  // A binding is the scheduler's word, not the user's: it is no new generation.
  const mayCount = resource.hasGeneration && call.target.subresource !== "binding";
  if (mayCount && isNewGeneration(old, draft)) draft.metadata.generation = Number(old.metadata.generation ?? 0) + 1;
  draft.metadata.resourceVersion = old.metadata.resourceVersion as Json;
  if (managedFields !== undefined) draft.metadata.managedFields = managedFields;
  else if (call.tracksFields || old.metadata.managedFields !== undefined) {
    const fields = updatedFields(old, draft, call, backend.nowText());
    if (fields.length > 0) draft.metadata.managedFields = fields;
  }
  if (isSameButForTimes(old, draft)) return old;
  if (isDryRun(call)) return draft;
  const key = keyOfObject(old);
  if (isFinished(draft, resource)) return backend.store.remove(resource.id, key, draft) ?? draft;
  return backend.store.put(resource.id, key, draft);
}

/** A deleted object without finalizers goes with the write that took the last one; a pod also waits for its kubelet. */
export function isFinished(object: ApiObject, resource: Resource): boolean {
  if (object.metadata.deletionTimestamp === undefined || listAt(object.metadata, "finalizers").length > 0) return false;
  if (Number(object.metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  return resource.kind !== "Namespace" || listAt(object, "spec", "finalizers").length === 0;
}

const systemFields = [
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "selfLink",
  "managedFields",
  "name",
  "namespace",
];

function keepSystemFields(resource: Resource, subresource: string | undefined, old: ApiObject, draft: ApiObject): void {
  if (subresource === "status") {
    keepAllButStatus(resource, old, draft);
    return;
  }
  for (const key of systemFields) copyMember(old.metadata, draft.metadata, key);
  if (resource.subresources.has("status") && subresource === undefined) copyMember(old, draft, "status");
}

/** Kinds whose status writer may also change labels, annotations and finalizers. Custom resources keep their metadata. */
const statusWritesMetadata = new Set(["Pod", "Node", "Namespace", "PersistentVolume", "PersistentVolumeClaim", "Service"]);

function keepAllButStatus(resource: Resource, old: ApiObject, draft: ApiObject): void {
  const status = draft.status;
  const given = draft.metadata;
  for (const key of Object.keys(draft)) if (!Object.hasOwn(old, key)) delete draft[key];
  Object.assign(draft, old);
  draft.metadata = { ...old.metadata };
  if (statusWritesMetadata.has(resource.kind)) {
    for (const key of ["labels", "annotations", "finalizers"]) copyMember(given, draft.metadata, key);
  }
  if (status === undefined) delete draft.status;
  else draft.status = status;
}

function copyMember(from: JsonObject, to: JsonObject, key: string): void {
  const value = from[key];
  if (value === undefined) delete to[key];
  else to[key] = value;
}

function finalizerFaults(old: ApiObject, draft: ApiObject): FieldFault[] {
  if (old.metadata.deletionTimestamp === undefined) return [];
  const before = listAt(old.metadata, "finalizers");
  const added = listAt(draft.metadata, "finalizers").filter((finalizer) => !before.includes(finalizer));
  if (added.length === 0) return [];
  const shown = added.map((finalizer) => JSON.stringify(finalizer)).join(", ");
  return [
    {
      kind: "forbidden",
      field: "metadata.finalizers",
      detail: `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown}}`,
    },
  ];
}

function isNewGeneration(old: ApiObject, draft: ApiObject): boolean {
  const keys = new Set([...Object.keys(old), ...Object.keys(draft)]);
  for (const key of ["apiVersion", "kind", "metadata", "status"]) keys.delete(key);
  return [...keys].some((key) => !equalJson(old[key], draft[key]));
}

function isSameButForTimes(old: ApiObject, draft: ApiObject): boolean {
  if (!equalJson({ ...old, metadata: null }, { ...draft, metadata: null })) return false;
  return equalJson(withoutTimes(old.metadata), withoutTimes(draft.metadata));
}

function withoutTimes(metadata: JsonObject): JsonObject {
  const fields = listAt(metadata, "managedFields");
  if (fields.length === 0) return metadata.managedFields === undefined ? metadata : { ...metadata, managedFields: null };
  return { ...metadata, managedFields: fields.map((entry) => ({ ...(entry as JsonObject), time: null })) };
}

/** A draft that shares nothing with the stored object. */
export function draftOf(object: ApiObject): ApiObject {
  return copyJson(object);
}
