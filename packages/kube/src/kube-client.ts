/** Requests in the words of Kubernetes over any `Transport`: paths, queries, content types, and errors from Status objects. */
import { apiVersionOf, type Kind, type KubeObject, type LabelSelector } from "@joinery/api";
import type {
  DeleteOptions,
  Encoding,
  KubeClient,
  ListOptions,
  ObjectKey,
  ObjectList,
  ObjectPage,
  Patch,
  WatchEvent,
  WatchOptions,
} from "./client.ts";
import { formatLabelSelector } from "./objects/label-selector.ts";
import { apiErrorFrom, isNotFound, type StatusBody, TransportError } from "./wire/errors.ts";
import { isInProtobuf, type ListBody, PROTOBUF, readPage, readStatus, readWatchEvent } from "./wire/protobuf/objects.ts";
import type { ApiRequest, ApiResponse, Transport } from "./wire/transport.ts";

export interface KubeClientOptions {
  /** Says who asks; what stands before the first `/` becomes the field manager of writes. */
  readonly userAgent?: string;
  /** Objects per page of `listAll`. */
  readonly pageSize?: number;
  /** Its requests do not wait behind those of other clients of the transport. */
  readonly isUrgent?: boolean;
}

/** client-go's page: large enough to be rare, small enough that one page of pods stays below some megabytes. */
const PAGE_SIZE = 500;

const PATCH_CONTENT_TYPES = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml", // JSON is YAML
} as const;

/** The response, if it is a success; else throws what it says. */
function accepted(request: ApiRequest, response: ApiResponse): ApiResponse {
  if (response.status >= 200 && response.status <= 299) return response;
  throw apiErrorFrom(response.status, errorBody(response.body), {
    request: `${request.method} ${request.path}`,
    retryAfterSeconds: secondsIn(response.headers?.["retry-after"]),
  });
}

/** Answers other than 2xx are thrown as `ApiError`; nothing is retried here. */
export function createKubeClient(
  transport: Transport,
  { userAgent = "joinery", pageSize = PAGE_SIZE, isUrgent }: KubeClientOptions = {},
): KubeClient {
  const ask = async (request: ApiRequest, signal?: AbortSignal): Promise<unknown> => accepted(request, await send(request, signal)).body;

  function send(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    return transport.send({ ...request, userAgent, isUrgent }, signal);
  }

  const client: KubeClient = {
    get: async <T>(kind: Kind, key: ObjectKey, signal?: AbortSignal) =>
      (await ask({ method: "GET", path: objectPath(kind, key) }, signal)) as T,

    async find(kind, key, signal) {
      try {
        return await client.get(kind, key, signal);
      } catch (error) {
        if (isNotFound(error)) {
          return undefined;
        }
        throw error;
      }
    },

    async list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions, signal?: AbortSignal): Promise<ObjectList<T>> {
      const { objects, ...rest } = await client.page(kind, options, signal);
      return { items: Array.isArray(objects) ? objects : [...objects], ...rest };
    },

    async page<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}, signal?: AbortSignal): Promise<ObjectPage<T>> {
      const path = collectionPath(kind, options.namespace);
      const request: ApiRequest = { method: "GET", path, query: listQuery(options), accept: acceptOf(kind, options) };
      const { body: answer, release } = accepted(request, await send(request, signal));
      const body =
        answer instanceof Uint8Array
          ? readPage(kind, answer, { isOutline: options.encoding === "outline", onEnd: release })
          : (answer as ListBody<T>);
      return {
        objects: body.items ?? [],
        resourceVersion: body.metadata?.resourceVersion ?? "",
        continue: body.metadata?.continue || undefined,
        remainingItemCount: body.metadata?.remainingItemCount,
      };
    },

    async *listAll(kind, options = {}, signal) {
      let next: string | undefined;
      do {
        // A continue token carries the version: asking for one again is an error.
        const version = next === undefined ? {} : { resourceVersion: undefined, resourceVersionMatch: undefined };
        const page = await client.page(kind, { limit: pageSize, ...options, ...version, continue: next ?? options.continue }, signal);
        yield* page.objects;
        next = page.continue;
      } while (next !== undefined);
    },

    create: async <T extends KubeObject>(kind: Kind<T>, object: T, signal?: AbortSignal) =>
      (await ask(
        { method: "POST", path: collectionPath(kind, namespaceOf(kind, object.metadata)), body: typed(kind, object) },
        signal,
      )) as T,

    replace: async <T extends KubeObject>(kind: Kind<T>, object: T, { subresource }: { subresource?: string } = {}, signal?: AbortSignal) =>
      (await ask({ method: "PUT", path: objectPath(kind, keyIn(kind, object), subresource), body: typed(kind, object) }, signal)) as T,

    patch: async <T>(kind: Kind, key: ObjectKey, patch: Patch, { subresource }: { subresource?: string } = {}, signal?: AbortSignal) =>
      (await ask(
        {
          method: "PATCH",
          path: objectPath(kind, key, subresource),
          contentType: PATCH_CONTENT_TYPES[patch.type],
          query: patch.type === "apply" ? applyQuery(patch) : undefined,
          body: patch.body,
        },
        signal,
      )) as T,

    async delete<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, options: DeleteOptions = {}, signal?: AbortSignal) {
      const { uid, resourceVersion, gracePeriodSeconds, propagationPolicy } = options;
      const preconditions = uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
      const body = { kind: "DeleteOptions", apiVersion: "v1", preconditions, gracePeriodSeconds, propagationPolicy };
      const answer = (await ask({ method: "DELETE", path: objectPath(kind, key), body }, signal)) as T | undefined;
      return isHeldByFinalizers(answer) ? answer : undefined;
    },

    createSubresource: (kind, key, subresource, body, signal) =>
      ask({ method: "POST", path: objectPath(kind, key, subresource), body }, signal),

    async *watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions, signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
      const path = collectionPath(kind, options.namespace);
      const accept = acceptOf(kind, options, ";stream=watch");
      const stream = await transport.stream({ method: "GET", path, query: watchQuery(options), accept, userAgent }, signal);
      if (stream.status !== 200) {
        throw apiErrorFrom(stream.status, errorBody(stream.body), { request: `GET ${path} (watch)` });
      }
      for await (const value of stream.values) {
        yield watchEvent<T>(value instanceof Uint8Array ? readWatchEvent(kind, value) : value, path);
      }
    },

    raw(path, signal) {
      const { pathname, searchParams } = new URL(path, "http://server");
      const query = Object.fromEntries(searchParams);
      return ask({ method: "GET", path: pathname, query, accept: "application/json, */*" }, signal);
    },
  };
  return client;
}

/** Otherwise the answer is a Status, or the last state of what is gone. */
function isHeldByFinalizers(answer: KubeObject | undefined): boolean {
  return answer?.metadata?.deletionTimestamp !== undefined && (answer.metadata.finalizers ?? []).length > 0;
}

/** Kinds without an encoding of their own, and servers that do not know it, answer in JSON. */
function acceptOf(kind: Kind, { encoding }: { readonly encoding?: Encoding }, suffix = ""): string | undefined {
  return encoding !== undefined && encoding !== "whole" && isInProtobuf(kind) ? `${PROTOBUF}${suffix},application/json` : undefined;
}

function errorBody(body: unknown): unknown {
  return body instanceof Uint8Array ? readStatus(body) : body;
}

/** The path of all objects of a kind, in one namespace or in all. */
export function collectionPath(kind: Kind, namespace?: string): string {
  const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const space = kind.isNamespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${root}${space}/${kind.resource}`;
}

/** The path of one object, or of a subresource of it. Throws where the name is empty: that would be the collection. */
export function objectPath(kind: Kind, key: ObjectKey, subresource?: string): string {
  if (key.name === "") {
    throw new TypeError(`Cannot address a ${kind.kind}: its name is empty`);
  }
  const path = `${collectionPath(kind, namespaceOf(kind, key))}/${encodeURIComponent(key.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

function namespaceOf(kind: Kind, from: { readonly name?: string; readonly namespace?: string } | undefined): string | undefined {
  if (!kind.isNamespaced) {
    return undefined;
  }
  if (!from?.namespace) {
    throw new TypeError(
      `Cannot address ${kind.kind} ${JSON.stringify(from?.name ?? "")}: it has no namespace, and ${kind.kind} is namespaced`,
    );
  }
  return from.namespace;
}

function keyIn(kind: Kind, { metadata }: KubeObject): ObjectKey {
  if (metadata?.name === undefined) {
    throw new TypeError(`Cannot address a ${kind.kind}: metadata.name is missing`);
  }
  return { name: metadata.name, namespace: metadata.namespace };
}

/** List items come without `apiVersion` and `kind`, but a write must name them. */
function typed<T extends KubeObject>(kind: Kind<T>, object: T): T {
  return object.kind !== undefined && object.apiVersion !== undefined
    ? object
    : { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
}

function listQuery(options: ListOptions): Record<string, string> {
  return present({
    ...selectors(options),
    limit: options.limit?.toString(),
    continue: options.continue,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  });
}

function watchQuery(options: WatchOptions): Record<string, string> {
  return present({
    watch: "true",
    allowWatchBookmarks: "true",
    ...selectors(options),
    resourceVersion: options.resourceVersion,
    timeoutSeconds: options.timeoutSeconds?.toString(),
  });
}

function applyQuery({ fieldManager, force }: Extract<Patch, { type: "apply" }>): Record<string, string> {
  return present({ fieldManager, force: force ? "true" : undefined });
}

function selectors({ labelSelector, fieldSelector }: { labelSelector?: string | LabelSelector; fieldSelector?: string }) {
  return {
    labelSelector: labelSelector === undefined || typeof labelSelector === "string" ? labelSelector : formatLabelSelector(labelSelector),
    fieldSelector,
  };
}

function present(query: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ""));
}

function secondsIn(header: string | undefined): number | undefined {
  return header !== undefined && /^\d+$/.test(header) ? Number(header) : undefined;
}

function watchEvent<T extends KubeObject>(value: unknown, path: string): WatchEvent<T> {
  const { type, object } = (value ?? {}) as { readonly type?: string; readonly object?: T };
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      if (object?.metadata?.name !== undefined) {
        return { type, object };
      }
      break;
    case "BOOKMARK":
      if (object?.metadata?.resourceVersion !== undefined) {
        return { type, resourceVersion: object.metadata.resourceVersion };
      }
      break;
    case "ERROR": {
      const status = object as StatusBody | undefined;
      throw apiErrorFrom(status?.code ?? 500, status, { request: `GET ${path} (watch)` });
    }
  }
  throw new TransportError(
    "malformed",
    `Cannot read the watch of ${path}: found ${JSON.stringify(value)?.slice(0, 200)}, wanted a watch event`,
  );
}

/** `namespace/name`, or `name` for cluster-scoped objects: how caches and queues call an object. */
export function keyOf({ metadata }: KubeObject): string {
  const name = metadata?.name ?? "";
  return metadata?.namespace ? `${metadata.namespace}/${name}` : name;
}

/** The reverse of `keyOf`. */
export function parseKey(key: string): ObjectKey {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
