/** Who owns which fields (`metadata.managedFields`), kept for writes that are no apply. */
import { type ApiObject, equalJson, type Json, type JsonObject, objectsAt } from "../objects/json.ts";
import { apiVersionOf, type Resource } from "../registry/resource.ts";
import { type Call, fieldManagerOf } from "../verbs/backend.ts";
import { fromFieldsV1, leavesOfObject, type Path, toFieldsV1 } from "./field-set.ts";

export interface Manager {
  readonly name: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string;
  readonly paths: Set<Path>;
}

export function managersOf(object: ApiObject): Manager[] {
  return objectsAt(object.metadata, "managedFields").map((entry) => ({
    name: String(entry.manager ?? ""),
    operation: entry.operation === "Apply" ? "Apply" : "Update",
    apiVersion: String(entry.apiVersion ?? ""),
    subresource: String(entry.subresource ?? ""),
    time: String(entry.time ?? ""),
    paths: fromFieldsV1(entry.fieldsV1),
  }));
}

export function entriesOf(managers: readonly Manager[]): JsonObject[] {
  return managers
    .filter((manager) => manager.paths.size > 0)
    .map((manager) => ({
      manager: manager.name,
      operation: manager.operation,
      apiVersion: manager.apiVersion,
      time: manager.time,
      fieldsType: "FieldsV1",
      fieldsV1: toFieldsV1(manager.paths),
      ...(manager.subresource === "" ? {} : { subresource: manager.subresource }),
    }));
}

export function createdFields(draft: ApiObject, resource: Resource, call: Call, time: string): JsonObject[] {
  const paths = new Set(leavesOfObject(draft, resource.shape).keys());
  return entriesOf([{ name: fieldManagerOf(call), operation: "Update", apiVersion: apiVersionOf(resource), subresource: "", time, paths }]);
}

/** The entries after an update: the writer gains what it changed, everybody loses what is gone and what another one changed. */
export function updatedFields(old: ApiObject, draft: ApiObject, call: Call, time: string): JsonObject[] {
  const before = leavesOfObject(old, call.resource.shape);
  const after = leavesOfObject(draft, call.resource.shape);
  const changed = new Set([...after].filter(([path, value]) => !equalJson(before.get(path) as Json, value)).map(([path]) => path));
  const removed = new Set([...before.keys()].filter((path) => !after.has(path)));
  // A writer may clear the record with `managedFields: []` or one empty entry; here it cannot replace it.
  if (changed.size === 0 && removed.size === 0) return objectsAt(old.metadata, "managedFields");
  const name = fieldManagerOf(call);
  const subresource = call.target.subresource ?? "";
  const apiVersion = apiVersionOf(call.resource);
  const isWriter = (manager: Manager) => manager.name === name && manager.operation === "Update" && manager.subresource === subresource;
  const managers = managersOf(old);
  const kept = managers.map((manager) =>
    isWriter(manager) ? manager : { ...manager, paths: without(without(manager.paths, changed), removed) },
  );
  const own = managers.find(isWriter);
  const paths = new Set([...without(own?.paths ?? new Set<Path>(), removed), ...changed]);
  const others = kept.filter((manager) => !isWriter(manager));
  return entriesOf([...others, { name, operation: "Update", apiVersion, subresource, time, paths }]);
}

export function without(paths: ReadonlySet<Path>, dropped: ReadonlySet<Path>): Set<Path> {
  return new Set([...paths].filter((path) => !dropped.has(path)));
}
