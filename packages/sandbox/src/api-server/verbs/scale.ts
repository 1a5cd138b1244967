/** The `scale` subresource: one view on the replica counts of workloads and of custom resources that declare it. */
import { type ApiObject, ensureObject, isObject, type Json, type JsonObject, numberAt, textAt, valueAt } from "../objects/json.ts";
import { labelSelectorText } from "../objects/selectors.ts";
import type { ScalePaths } from "../registry/resource.ts";
import { badRequest, conflict, invalid, noSuchPath, staleObject } from "../wire/status.ts";
import type { Backend, Call } from "./backend.ts";
import { patchedBody } from "./patch.ts";
import { getObject } from "./read.ts";
import { draftOf, store } from "./update.ts";

export function getScale(backend: Backend, call: Call): JsonObject {
  return scaleOf(getObject(backend, call), pathsOf(call));
}

export function replaceScale(backend: Backend, call: Call): JsonObject {
  return setScale(backend, call, call.body);
}

export function patchScale(backend: Backend, call: Call): JsonObject {
  const scale = scaleOf(getObject(backend, call), pathsOf(call)) as ApiObject;
  const type = call.contentType.split(";")[0]?.trim();
  const asMerge = type === "application/strategic-merge-patch+json" ? "application/merge-patch+json" : type;
  return setScale(backend, call, patchedBody(call, asMerge, scale));
}

function pathsOf(call: Call): ScalePaths {
  if (call.resource.scale === undefined) throw noSuchPath();
  return call.resource.scale;
}

function scaleOf(object: ApiObject, paths: ScalePaths): JsonObject {
  const selector = paths.selector === undefined ? undefined : valueAt(object, ...paths.selector);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = numberAt(object, ...paths.specReplicas) ?? 0;
  const text = typeof selector === "string" ? selector : labelSelectorText(selector);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as JsonObject,
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(object, ...paths.statusReplicas) ?? 0, ...(text === "" ? {} : { selector: text }) },
  };
}

function setScale(backend: Backend, call: Call, scale: unknown): JsonObject {
  const paths = pathsOf(call);
  if (!isObject(scale)) throw badRequest("the body of a scale must be a Scale");
  const old = getObject(backend, call);
  const name = textAt(old, "metadata", "name") ?? "";
  const version = textAt(scale, "metadata", "resourceVersion") ?? "";
  if (version !== "" && version !== old.metadata.resourceVersion) throw conflict(call.resource, name, staleObject);
  const replicas = numberAt(scale, "spec", "replicas") ?? 0;
  if (replicas < 0) {
    throw invalid("autoscaling", "Scale", name, [
      { kind: "invalid", field: "spec.replicas", value: replicas, detail: "must be greater than or equal to 0" },
    ]);
  }
  const draft = draftOf(old);
  setAt(draft, paths.specReplicas, replicas);
  const { subresource: _, ...target } = call.target;
  return scaleOf(store(backend, { ...call, target }, old, draft), paths);
}

function setAt(draft: JsonObject, path: readonly string[], value: Json): void {
  const parents = path.slice(0, -1);
  const last = path[path.length - 1];
  let at = draft;
  for (const key of parents) at = ensureObject(at, key);
  if (last !== undefined) at[last] = value;
}
