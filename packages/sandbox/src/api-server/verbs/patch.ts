/** PATCH in its four kinds. */
import { type ApiObject, isObject, type Json, type JsonObject, textAt } from "../objects/json.ts";
import { appliedAsNew, applyTo } from "../patch/apply.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { strategicMerge } from "../patch/strategic.ts";
import { keyOf } from "../storage/store.ts";
import { badRequest, invalid, notAcceptedHere, notFound, unsupportedMediaType } from "../wire/status.ts";
import { type Backend, type Call, isTrue } from "./backend.ts";
import { readDraft, readWish } from "./body.ts";
import { createDraft } from "./create.ts";
import { getObject } from "./read.ts";
import { store } from "./update.ts";

const patchTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

export interface PatchAnswer {
  readonly object: ApiObject;
  readonly isNew: boolean;
}

export function patch(backend: Backend, call: Call): PatchAnswer {
  const type = call.contentType.split(";")[0]?.trim();
  if (type === patchTypes.apply || type === "application/apply-patch+json") return apply(backend, call);
  const old = getObject(backend, call);
  const patched = patchedBody(call, type, old);
  if (!isObject(patched)) throw badRequest("the patched value is no object");
  return { object: store(backend, call, old, readDraft(call, keepIdentity(patched, old))), isNew: false };
}

/** The JSON value after a patch; also for subresources that are no objects of the store, such as Scale. */
export function patchedBody(call: Call, type: string | undefined, old: ApiObject): Json {
  switch (type) {
    case patchTypes.json:
      return jsonPatch(old, call.body);
    case patchTypes.merge:
      return mergePatch(old, call.body as Json);
    case patchTypes.strategic:
      if (call.resource.isCustom) throw notAcceptedHere([patchTypes.json, patchTypes.merge, patchTypes.apply]);
      if (!isObject(call.body)) throw badRequest("the body of a strategic merge patch must be an object");
      return strategicMerge(old, call.body, call.resource.shape);
    default:
      throw unsupportedMediaType();
  }
}

/** A patch that does not speak of the version is not checked against it. */
function keepIdentity(patched: JsonObject, old: ApiObject): JsonObject {
  const name = textAt(patched, "metadata", "name");
  if (name !== old.metadata.name) {
    throw badRequest(`the name of the object (${name ?? ""}) does not match the name on the URL (${old.metadata.name})`);
  }
  return patched;
}

function apply(backend: Backend, call: Call): PatchAnswer {
  const { resource, target } = call;
  if (call.query.fieldManager === undefined || call.query.fieldManager === "") {
    throw invalid("meta.k8s.io", "PatchOptions", "", [{ kind: "required", field: "fieldManager", detail: "is required for apply patch" }]);
  }
  const wish = readWish(call, call.body);
  if (wish.metadata.managedFields !== undefined) throw badRequest("metadata.managedFields must be nil");
  const name = target.name as string;
  if ((textAt(wish, "metadata", "name") ?? name) !== name)
    throw badRequest(`the name of the object (${wish.metadata.name}) does not match the name on the URL (${name})`);
  wish.metadata.name = name;
  const live = backend.store.collection(resource.id).find(keyOf(target.namespace, name));
  const time = backend.nowText();
  const quiet: Call = { ...call, query: { ...call.query, fieldValidation: "Ignore" } };
  if (live === undefined) {
    if (target.subresource !== undefined) throw notFound(resource, name);
    return { object: createDraft(backend, call, readDraft(quiet, wish), appliedAsNew(wish, call, time)), isNew: true };
  }
  const { draft, managedFields } = applyTo(live, wish, call, time, isTrue(call.query.force ?? "false"));
  return {
    object: store(backend, call, live, readDraft(quiet, draft), managedFields),
    isNew: false,
  };
}
