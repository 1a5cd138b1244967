/** Turns a request's body into a draft of the resource: the right kind, known fields, defaults. */
import { type ApiObject, ensureObject, isObject, type JsonObject, textAt } from "../objects/json.ts";
import { apiVersionOf, type Resource } from "../registry/resource.ts";
import { decode } from "../schema/decode.ts";
import { shapeOfType } from "../schema/shape.ts";
import { badRequest } from "../wire/status.ts";
import type { Call } from "./backend.ts";

const metadataShape = shapeOfType("meta.v1.ObjectMeta");

/** As `readDraft`, without the defaults of a custom resource's schema: what an applier says itself. */
export function readWish(call: Call, body: unknown): ApiObject {
  return read(call, body, false);
}

/** A draft made from a body, with its unknown fields dealt with as `fieldValidation` says (Warn when it says nothing). */
export function readDraft(call: Call, body: unknown): ApiObject {
  return read(call, body, true);
}

function read(call: Call, body: unknown, isDefaulted: boolean): ApiObject {
  const { resource } = call;
  if (!isObject(body)) throw badRequest("the body of the request must be one JSON object");
  requireKind(resource, body);
  const unknown: string[] = [];
  const draft = resource.isCustom ? readCustom(resource, body, unknown, isDefaulted) : readBuiltIn(resource, body, unknown);
  draft.apiVersion = apiVersionOf(resource);
  draft.kind = resource.kind;
  ensureObject(draft, "metadata");
  reportUnknown(call, [...new Set(unknown)]);
  return draft as ApiObject;
}

/** A body without kind is one of the kind that the path names, for built-in kinds only: custom resources must say what they are. */
function requireKind(resource: Resource, body: JsonObject): void {
  const apiVersion = textAt(body, "apiVersion");
  const kind = textAt(body, "kind");
  const wanted = apiVersionOf(resource);
  if (resource.isCustom && (kind === undefined || kind === "" || apiVersion === undefined || apiVersion === "")) {
    const missing = kind === undefined || kind === "" ? "Kind" : "apiVersion";
    throw badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): Object '${missing}' is missing in '${JSON.stringify(body)}'`,
    );
  }
  if (kind !== undefined && kind !== "" && kind !== resource.kind) {
    const [group, version] = splitApiVersion(apiVersion ?? wanted);
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${resource.kind}: no kind "${kind}" is registered for version "${group === "" ? "" : `${group}/`}${version}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  if (apiVersion !== undefined && apiVersion !== "" && apiVersion !== wanted) {
    throw badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${wanted})`);
  }
}

function splitApiVersion(apiVersion: string): [string, string] {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

function readBuiltIn(resource: Resource, body: JsonObject, unknown: string[]): JsonObject {
  const report: { unknown: string[]; mistyped?: string } = { unknown };
  const draft = decode(resource.shape, body, report) as JsonObject;
  if (report.mistyped !== undefined) {
    throw badRequest(`${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: ${report.mistyped}`);
  }
  return draft;
}

function readCustom(resource: Resource, body: JsonObject, unknown: string[], isDefaulted: boolean): JsonObject {
  const pruned = resource.custom?.prune(body, unknown) ?? { ...body };
  const draft = isDefaulted ? (resource.custom?.withDefaults(pruned) ?? pruned) : pruned;
  const report: { unknown: string[]; mistyped?: string } = { unknown: [] };
  draft.metadata = decode(metadataShape, body.metadata ?? {}, report);
  for (const path of report.unknown) unknown.push(`metadata.${path}`);
  if (report.mistyped !== undefined)
    throw badRequest(`${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: ${report.mistyped}`);
  return draft;
}

function reportUnknown(call: Call, unknown: readonly string[]): void {
  const mode = call.query.fieldValidation ?? "Warn";
  if (unknown.length === 0 || mode === "Ignore") return;
  const problems = unknown.map((path) => `unknown field "${path}"`);
  if (mode !== "Strict") {
    call.warnings.push(...problems);
    return;
  }
  const { kind, version } = call.resource;
  throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${problems.join(", ")}`);
}
