/** GET of one object and of lists: selectors, paging, and which version of the past is meant. */
import { matchesFields } from "@joinery/kube";
import { type ApiObject, isObject, type JsonObject, objectAt } from "../objects/json.ts";
import { type LabelTest, parseFieldSelector, parseLabelSelector } from "../objects/selectors.ts";
import { apiVersionOf, type Resource } from "../registry/resource.ts";
import { type Collection, keyOf, keyOfObject } from "../storage/store.ts";
import { ApiFailure, badRequest, expired, type FieldFault, invalid, notFound } from "../wire/status.ts";
import type { Backend, Call } from "./backend.ts";

export interface Selection {
  readonly matches: (object: ApiObject) => boolean;
  /** True when everything matches. */
  readonly isAll: boolean;
  /** One field that must have one value, for dispatch without asking every watcher. */
  readonly pin?: { readonly field: string; readonly value: string };
}

export function getObject(backend: Backend, call: Call): ApiObject {
  const { resource, target } = call;
  const object = backend.store.collection(resource.id).find(keyOf(target.namespace, target.name ?? ""));
  if (object === undefined) throw notFound(resource, target.name ?? "");
  return served(resource, object);
}

/** A custom resource is stored under one version and served under others; a view is served in another form. */
export function served(resource: Resource, object: ApiObject): ApiObject {
  const apiVersion = apiVersionOf(resource);
  if (object.apiVersion === apiVersion) return object;
  return resource.view?.toServed(object) ?? { ...object, apiVersion };
}

export interface ListAnswer {
  readonly items: readonly ApiObject[];
  readonly metadata: JsonObject;
}

export function listObjects(backend: Backend, call: Call): ListAnswer {
  const { resource, query, target } = call;
  const collection = backend.store.collection(resource.id);
  const selection = selectionOf(call);
  const token = query.continue ? readToken(query.continue) : undefined;
  const at = token?.version ?? exactVersion(backend, query);
  const everything = at === undefined ? collection.list(target.namespace) : pastList(collection, at, target.namespace, token);
  const version = at ?? backend.store.version;
  const chosen = selection.isAll ? everything : everything.filter(selection.matches);
  return page(chosen, query, token, version, selection.isAll, resource);
}

function page(
  chosen: readonly ApiObject[],
  query: Call["query"],
  token: Token | undefined,
  version: number,
  isAll: boolean,
  resource: Resource,
): ListAnswer {
  const limit = Number(query.limit ?? 0);
  const from = token === undefined ? 0 : chosen.findIndex((object) => keyOfObject(object) > token.after);
  const rest = from < 0 ? [] : from === 0 ? chosen : chosen.slice(from);
  const items = limit > 0 && rest.length > limit ? rest.slice(0, limit) : rest;
  const metadata: JsonObject = { resourceVersion: String(version) };
  const left = rest.length - items.length;
  if (left > 0) {
    metadata.continue = writeToken({ version, after: keyOfObject(items[items.length - 1] as ApiObject) });
    if (isAll) metadata.remainingItemCount = left;
  }
  const apiVersion = apiVersionOf(resource);
  return { items: items.every((item) => item.apiVersion === apiVersion) ? items : items.map((item) => served(resource, item)), metadata };
}

interface Token {
  readonly version: number;
  readonly after: string;
}

function writeToken(token: Token): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: token.version, start: token.after })).toString("base64url");
}

function readToken(text: string): Token {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (isObject(value) && typeof value.rv === "number" && typeof value.start === "string")
      return { version: value.rv, after: value.start };
  } catch {
    // Falls through to the refusal.
  }
  throw badRequest("invalid continue token: continue key is not valid");
}

function pastList(collection: Collection, version: number, namespace: string | undefined, token: Token | undefined): ApiObject[] {
  const items = collection.listAt(version, namespace);
  if (items !== undefined) return items;
  throw expired(
    token === undefined
      ? `The resourceVersion for the provided list is too old.`
      : "The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.",
  );
}

/** The version that must be served exactly; undefined for the newest. Throws when a version of the future is asked for. */
function exactVersion(backend: Backend, query: Call["query"]): number | undefined {
  const text = query.resourceVersion;
  const match = query.resourceVersionMatch;
  if (match !== undefined && match !== "" && (text === undefined || text === "")) {
    throw forbiddenOption("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  if (text === undefined || text === "" || text === "0") {
    if (match === "Exact" && text === "0")
      throw forbiddenOption("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    return undefined;
  }
  const version = parseVersion(text);
  if (version > backend.store.version) throw tooLarge(version, backend.store.version);
  const isExact = match === "Exact" || (match === undefined && query.limit !== undefined && query.limit !== "0");
  return isExact ? version : undefined;
}

function parseVersion(text: string): number {
  if (!IS_VERSION.test(text)) throw badRequest(`invalid resource version: ${noVersion(text)}`);
  return Number(text);
}

const IS_VERSION = /^\d+$/;
const noVersion = (text: string) =>
  `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;

/** The version after which a watch begins; undefined for "now". Throws for what a watch cannot be asked. */
export function watchedVersion({ query }: Call): number | undefined {
  const { sendInitialEvents, resourceVersionMatch: match = "", resourceVersion = "" } = query;
  const faults: FieldFault[] = [];
  const refuse = (detail: string) => faults.push({ kind: "forbidden", field: "resourceVersionMatch", detail });
  if (sendInitialEvents !== undefined && match !== "NotOlderThan")
    refuse("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  if (sendInitialEvents === undefined && match !== "")
    refuse("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  if (match !== "" && match !== "NotOlderThan")
    faults.push({ kind: "unsupported", field: "resourceVersionMatch", value: match, supported: ["NotOlderThan"] });
  if (faults.length > 0) throw invalid("meta.k8s.io", "ListOptions", "", faults);
  if (resourceVersion === "" || resourceVersion === "0") return undefined;
  if (!IS_VERSION.test(resourceVersion)) throw new ApiFailure(500, "", noVersion(resourceVersion));
  return Number(resourceVersion);
}

function tooLarge(version: number, current: number): ApiFailure {
  return new ApiFailure(504, "Timeout", `Too large resource version: ${version}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

function forbiddenOption(field: string, detail: string): ApiFailure {
  return invalid("meta.k8s.io", "ListOptions", "", [{ kind: "forbidden", field, detail }]);
}

/** What the selectors of a request choose. Throws 400 for a field that the kind does not offer. */
export function selectionOf({ resource, query, target }: Call): Selection {
  const labelTest: LabelTest | undefined = query.labelSelector ? parseLabelSelector(query.labelSelector) : undefined;
  const fields = query.fieldSelector ? parseFieldSelector(query.fieldSelector) : [];
  const pinned = target.name === undefined ? fields : [...fields, { field: "metadata.name", value: target.name, isEqual: true }];
  const probe = { apiVersion: "", kind: "", metadata: {} } satisfies ApiObject;
  const offered = new Set(["metadata.name", "metadata.namespace", ...Object.keys(resource.strategy.selectableFields?.(probe) ?? {})]);
  for (const { field } of pinned) {
    if (!offered.has(field)) throw badRequest(unknownField(resource, field));
  }
  const test = (object: ApiObject): boolean => {
    if (labelTest !== undefined && !labelTest(objectAt(object.metadata, "labels"))) return false;
    return matchesFields(pinned, (field) => fieldValue(resource, object, field));
  };
  const pin = pinned.find(({ isEqual }) => isEqual);
  return {
    matches: test,
    isAll: labelTest === undefined && pinned.length === 0,
    ...(pin === undefined ? {} : { pin: { field: pin.field, value: pin.value } }),
  };
}

/** Built-in kinds that bring field names of their own to selectors; all others know `metadata` alone, and say it in other words. */
const WITH_OWN_FIELDS: ReadonlySet<string> = new Set([
  "pods",
  "nodes",
  "namespaces",
  "secrets",
  "events",
  "services",
  "replicationcontrollers",
]);

function unknownField({ id, kind, custom }: Resource, field: string): string {
  if (custom !== undefined || WITH_OWN_FIELDS.has(id)) return `field label not supported: ${field}`;
  if (id === "batch/jobs") return `field label "${field}" not supported for ${kind}`;
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

export function fieldValue(resource: Resource, object: ApiObject, field: string): string {
  if (field === "metadata.name") return String(object.metadata.name ?? "");
  if (field === "metadata.namespace") return String(object.metadata.namespace ?? "");
  return resource.strategy.selectableFields?.(object)[field] ?? "";
}
