/** Requests to a view: writes are translated into requests to the stored version, answers back. */
import { copyJson, textAt } from "../objects/json.ts";
import type { Resource, View } from "../registry/resource.ts";
import { invalid } from "../wire/status.ts";
import type { Backend, Call } from "./backend.ts";
import { readDraft } from "./body.ts";
import { patchedBody } from "./patch.ts";
import { getObject } from "./read.ts";

export interface StoredCall {
  readonly method: string;
  readonly call: Call;
}

/** The same request to the stored version; reads and requests to what is no view stay as they are. */
export function toStoredCall(backend: Backend, method: string, call: Call): StoredCall {
  const { view } = call.resource;
  if (view === undefined || method === "GET" || (method === "DELETE" && call.target.name === undefined)) return { method, call };
  const stored: Call = { ...call, resource: storedResource(backend, call.resource, view) };
  if (method === "DELETE") return { method, call: stored };
  const sent =
    method === "PATCH" ? copyJson(patchedBody(call, call.contentType.split(";")[0]?.trim(), getObject(backend, call))) : call.body;
  const body = view.toStored(readDraft(call, sent));
  const old = method === "POST" ? undefined : getObject(backend, stored);
  const faults = view.validate(body, old);
  if (faults.length > 0) throw invalid("", call.resource.kind, textAt(body, "metadata", "name") ?? "", faults);
  return { method: method === "PATCH" ? "PUT" : method, call: { ...stored, body, contentType: "application/json" } };
}

function storedResource(backend: Backend, { group, resource }: Resource, { storedVersion }: View): Resource {
  const slash = storedVersion.indexOf("/");
  const found = backend.registry.find(slash < 0 ? "" : storedVersion.slice(0, slash), storedVersion.slice(slash + 1), resource);
  if (found === undefined) throw new Error(`${resource}.${group} is a view of ${storedVersion}, which is not served`);
  return found;
}
