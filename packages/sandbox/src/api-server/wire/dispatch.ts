/** From a request to its answer: finds the resource, runs the verb, and gives the result the form that was asked for. */
import type { ApiRequest, ApiResponse } from "@joinery/kube";
import type { ApiObject, JsonObject } from "../objects/json.ts";
import { apiVersionOf, type Resource } from "../registry/resource.ts";
import { isTable, tableOf, tableOfWatch } from "../table/table.ts";
import { scalePrinter } from "../table/workload-printers.ts";
import { type Backend, type Call, isTrue } from "../verbs/backend.ts";
import { bind } from "../verbs/binding.ts";
import { create } from "../verbs/create.ts";
import { remove, removeCollection } from "../verbs/delete.ts";
import { evict } from "../verbs/eviction.ts";
import { finalizeNamespace } from "../verbs/finalize.ts";
import { readLog, refuseStream } from "../verbs/log.ts";
import { patch } from "../verbs/patch.ts";
import { getObject, type ListAnswer, listObjects, served } from "../verbs/read.ts";
import { issueToken, review } from "../verbs/reviews.ts";
import { getScale, patchScale, replaceScale } from "../verbs/scale.ts";
import { replace } from "../verbs/update.ts";
import { toStoredCall } from "../verbs/view.ts";
import type { Watches, WatchValue } from "../verbs/watch.ts";
import { answerDocument } from "./documents.ts";
import { ApiFailure, methodNotAllowed, noSuchPath } from "./status.ts";
import { parseTarget } from "./target.ts";

export interface Server {
  readonly backend: Backend;
  readonly watches: Watches;
  readonly version: string;
}

export function isWatch(request: ApiRequest): boolean {
  return request.method === "GET" && isTrue(request.query?.watch ?? "false");
}

/** The answer to anything but a watch. Never throws for a request that is wrong. */
export function answer(server: Server, request: ApiRequest, tracksFields: boolean): ApiResponse {
  try {
    const reply = review(server.backend, request) ?? answerDocument(server, request);
    if (reply !== undefined) return reply;
    const call = callOf(server, request, tracksFields);
    const response = run(server, request, call);
    if (call.warnings.length === 0) return response;
    return {
      ...response,
      headers: { ...response.headers, Warning: call.warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(", ") },
    };
  } catch (error) {
    return failureResponse(error);
  }
}

export function failureResponse(error: unknown): ApiResponse {
  if (error instanceof ApiFailure) return { status: error.code, headers: error.headers, body: error.status };
  const message = `Internal error occurred: ${error instanceof Error ? error.message : String(error)}`;
  return { status: 500, body: new ApiFailure(500, "InternalError", message, { causes: [{ message }] }).status };
}

/** The values of a watch in the form that was asked for. Throws `ApiFailure` when there can be none. */
export function openWatch(server: Server, request: ApiRequest, signal: AbortSignal): AsyncIterable<WatchValue> {
  const call = callOf(server, request, false);
  const watcher = server.watches.open(call, signal);
  return isTable(request.accept) ? tableOfWatch(watcher, call, () => server.backend.clock.wallMs()) : watcher;
}

function callOf({ backend }: Server, request: ApiRequest, tracksFields: boolean): Call {
  const target = parseTarget(request.path);
  const resource = target === undefined ? undefined : backend.registry.find(target.group, target.version, target.resource);
  if (target === undefined || resource === undefined) throw noSuchPath();
  if (target.namespace !== undefined && !resource.isNamespaced) throw noSuchPath();
  if (target.subresource !== undefined && !resource.subresources.has(target.subresource)) throw noSuchPath();
  if (resource.isNamespaced && target.name !== undefined && target.namespace === undefined) throw noSuchPath();
  const query = request.query ?? {};
  return {
    resource,
    target,
    query,
    userAgent: request.userAgent ?? "",
    contentType: request.contentType ?? "application/json",
    body: request.body,
    warnings: [],
    tracksFields,
  };
}

function run(server: Server, request: ApiRequest, asked: Call): ApiResponse {
  const { backend } = server;
  const { method, call } = toStoredCall(backend, request.method, asked);
  const show = (object: JsonObject, status = 200): ApiResponse => ({
    status,
    body: shown(server, request, asked, asked.resource.view === undefined ? object : served(asked.resource, object as ApiObject)),
  });
  const showList = (list: ListAnswer): ApiResponse => ({ status: 200, body: shownList(server, request, asked, list) });
  if (call.target.subresource !== undefined && call.target.subresource !== "status") return runSubresource(server, request, call);
  const isCollection = call.target.name === undefined;
  if (method === "GET") backend.beforeRead?.(call.resource.id, call.target);
  switch (method) {
    case "GET":
      return isCollection ? showList(listObjects(backend, call)) : show(getObject(backend, call));
    case "POST":
      if (!isCollection) throw methodNotAllowed();
      return show(create(backend, call), 201);
    case "PUT":
      if (isCollection) throw methodNotAllowed();
      return show(replace(backend, call));
    case "PATCH": {
      if (isCollection) throw methodNotAllowed();
      const { object, isNew } = patch(backend, call);
      return show(object, isNew ? 201 : 200);
    }
    case "DELETE":
      if (call.target.subresource !== undefined) throw methodNotAllowed();
      return isCollection ? showList(removeCollection(backend, call)) : { status: 200, body: remove(backend, call) };
    default:
      throw methodNotAllowed();
  }
}

/** What would need a process inside the pod. */
const streams = new Set(["exec", "attach", "portforward"]);

function runSubresource({ backend }: Server, { method, accept }: ApiRequest, call: Call): ApiResponse {
  if (streams.has(call.target.subresource ?? "") || (call.target.subresource === "ephemeralcontainers" && method !== "GET")) {
    refuseStream(backend, call);
  }
  switch (`${method} ${call.target.subresource}`) {
    case "GET scale": {
      const scale = getScale(backend, call);
      if (!isTable(accept)) return { status: 200, body: scale };
      return { status: 200, body: tableOf([scale], {}, { ...call.resource, printer: scalePrinter }, backend.clock.wallMs()) };
    }
    case "PUT scale":
      return { status: 200, body: replaceScale(backend, call) };
    case "PATCH scale":
      return { status: 200, body: patchScale(backend, call) };
    case "POST eviction":
      return { status: 201, body: evict(backend, call) };
    case "POST binding":
      return { status: 201, body: bind(backend, call) };
    case "POST token":
      return { status: 201, body: issueToken(backend, call) };
    case "GET log":
      return { status: 200, headers: { "Content-Type": "text/plain" }, body: readLog(backend, call) };
    case "PUT finalize":
      return { status: 200, body: finalizeNamespace(backend, call) };
    case "GET ephemeralcontainers":
    case "GET resize":
      return { status: 200, body: getObject(backend, call) };
    case "PATCH resize":
      return { status: 200, body: patch(backend, call).object };
    case "PUT resize":
      return { status: 200, body: replace(backend, call) };
    default:
      throw methodNotAllowed();
  }
}

function shown(server: Server, { accept, query }: ApiRequest, call: Call, object: JsonObject): JsonObject {
  if (!isTable(accept)) return isMetadataOnly(accept) ? metadataOnly(object) : object;
  return tableOf([object], {}, call.resource, server.backend.clock.wallMs(), query?.includeObject);
}

function shownList(server: Server, { accept, query }: ApiRequest, call: Call, list: ListAnswer): JsonObject {
  if (isTable(accept)) return tableOf(list.items, list.metadata, call.resource, server.backend.clock.wallMs(), query?.includeObject);
  if (isMetadataOnly(accept)) {
    return {
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1",
      metadata: list.metadata,
      items: list.items.map(metadataOnly),
    };
  }
  return listOf(call.resource, list);
}

function listOf(resource: Resource, { items, metadata }: ListAnswer): JsonObject {
  return { kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata, items: [...items] };
}

function isMetadataOnly(accept: string | undefined): boolean {
  return accept?.includes("as=PartialObjectMetadata") === true;
}

function metadataOnly(object: JsonObject): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata as JsonObject };
}
