/** A Kubernetes API server in memory. In process it answers at once and in a fixed order, so that a world under a virtual clock repeats. */
import type { Pod } from "@joinery/api";
import type { ApiRequest, ApiStream, Clock, Random, Transport } from "@joinery/kube";
import { type ApiObject, listAt } from "./objects/json.ts";
import { collectionOf, customResources } from "./registry/custom.ts";
import { Registry } from "./registry/registry.ts";
import { pathOf, type Resource } from "./registry/resource.ts";
import { cleanupFinalizer } from "./rules/custom-resource-definition.ts";
import type { ServedApi, ServeOptions } from "./serve/serve.ts";
import { Store, type StoreEvent } from "./storage/store.ts";
import { type BeforeRead, createBackend, type FindContainerLog } from "./verbs/backend.ts";
import { Watches } from "./verbs/watch.ts";
import { answer, failureResponse, isWatch, openWatch, type Server } from "./wire/dispatch.ts";

export interface ApiServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Admission of new pods after the built-in one. Gives the pod as it is to be, or the very same; never writes into its argument. */
  readonly admitPod?: (pod: Pod) => Pod;
  /** The log of a container that is a real process; without, each pod has a log that tells its life. */
  readonly containerLog?: FindContainerLog;
  readonly beforeRead?: BeforeRead;
  /** Kubernetes version that the server says it is; default 1.37.2. */
  readonly version?: string;
  /** Past changes that are kept per kind for watches and old lists, at least; default 4096. */
  readonly watchWindow?: number;
  /** The first resource version; default 1. */
  readonly firstResourceVersion?: number;
  /** Namespaces that are there from the start; default those of a new cluster. */
  readonly namespaces?: readonly string[];
}

export interface ApiServer {
  /**
   * A way to the server inside this process. Answers and watch values are borrowed: never write into them.
   * @param userAgent who asks, when a request does not say
   */
  transport(userAgent?: string): Transport;
  /** Listens on HTTPS, until its own `close`. */
  serve(options?: ServeOptions): Promise<ServedApi>;
  /** Calls back for every change of every kind, at once and in order. Returns what unsubscribes. For what belongs to the server itself. */
  onChange(listener: (resourceId: string, event: StoreEvent) => void): () => void;
  /** The parts, for what belongs to the server itself. */
  readonly inside: Server;
  /** Ends every watch. */
  close(): Promise<void>;
}

const definitionsId = "apiextensions.k8s.io/customresourcedefinitions";
const firstNamespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];

export function createApiServer(options: ApiServerOptions): ApiServer {
  const windowSize = options.watchWindow ?? 4096;
  const store = new Store(windowSize, options.firstResourceVersion ?? 1);
  const backend = createBackend(store, new Registry(), options.clock, options.random, options);
  const watches = new Watches(backend, windowSize);
  const server: Server = { backend, watches, version: options.version ?? "1.37.2" };
  serveDefinitions(server);
  furnish(server, options.namespaces ?? firstNamespaces);
  return {
    inside: server,
    transport: (userAgent = "joinery-sandbox") => inProcess(server, userAgent),
    serve: async (serveOptions) => (await import("./serve/serve.ts")).serve(server, serveOptions),
    onChange: (listener) => store.onChange(listener),
    close: async () => watches.close(),
  };
}

/**
 * A definition is served from the write that brings it to the one that takes it. Deleting it deletes its objects first; those with
 * finalizers keep it until they are gone.
 */
function serveDefinitions(server: Server): void {
  const { backend, watches } = server;
  backend.store.collection(definitionsId).onChange(({ type, object }) => {
    const id = collectionOf(object);
    backend.registry.removeCollection(id);
    if (type === "DELETED") {
      watches.close(id);
      return;
    }
    backend.store.collection(id, backend.store.version);
    for (const resource of customResources(object)) backend.registry.add(resource);
    if (object.metadata.deletionTimestamp !== undefined) emptyDefinition(server, object);
  });
  backend.store.onChange((id, { type }) => {
    if (type !== "DELETED" || backend.store.collection(id).size > 0) return;
    for (const definition of backend.values(definitionsId)) {
      if (collectionOf(definition) === id && definition.metadata.deletionTimestamp !== undefined) emptyDefinition(server, definition);
    }
  });
}

/** Deletes the objects of a definition that goes, and lets it go when there are none. */
function emptyDefinition(server: Server, definition: ApiObject): void {
  const { store, registry } = server.backend;
  const collection = store.collection(collectionOf(definition));
  const [resource] = registry.all().filter(({ id }) => id === collectionOf(definition));
  for (const object of resource === undefined ? [] : collection.list()) {
    if (object.metadata.deletionTimestamp === undefined)
      answer(server, { method: "DELETE", path: pathOf(resource as Resource, object), userAgent: "kube-apiserver" }, false);
  }
  if (collection.size > 0) return;
  const name = String(definition.metadata.name);
  const finalizers = listAt(store.collection(definitionsId).find(name)?.metadata, "finalizers");
  if (!finalizers.includes(cleanupFinalizer)) return;
  const left = finalizers.filter((finalizer) => finalizer !== cleanupFinalizer);
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
  answer(
    server,
    {
      method: "PATCH",
      path,
      contentType: "application/merge-patch+json",
      body: { metadata: { finalizers: left.length > 0 ? left : null } },
    },
    false,
  );
}

/** What every new cluster has. */
function furnish(server: Server, namespaces: readonly string[]): void {
  const create = (path: string, body: unknown) => answer(server, { method: "POST", path, body, userAgent: "kube-apiserver" }, false);
  for (const name of namespaces) create("/api/v1/namespaces", { metadata: { name } });
  for (const [name, value] of [
    ["system-node-critical", 2_000_001_000],
    ["system-cluster-critical", 2_000_000_000],
  ] as const) {
    create("/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name }, value });
  }
}

function inProcess(server: Server, userAgent: string): Transport {
  const named = (request: ApiRequest): ApiRequest => (request.userAgent === undefined ? { ...request, userAgent } : request);
  return {
    send: async (request, signal) => {
      signal?.throwIfAborted();
      if (isWatch(request)) throw new Error(`a watch is asked for with stream(), not send(): ${request.path}`);
      return answer(server, named(request), false);
    },
    stream: async (request, signal) => streamOf(server, named(request), signal),
    close: async () => {},
  };
}

/** A watch, or the lines of an answer that is none (a log). */
function streamOf(server: Server, request: ApiRequest, signal: AbortSignal): ApiStream {
  if (!isWatch(request)) {
    const { status, body } = answer(server, request, false);
    return { status, ...(status === 200 ? {} : { body }), values: body instanceof ReadableStream ? body : once(body) };
  }
  try {
    return { status: 200, values: openWatch(server, request, signal) };
  } catch (error) {
    const { status, body } = failureResponse(error);
    return { status, body, values: once() };
  }
}

async function* once(...values: unknown[]): AsyncGenerator<unknown> {
  yield* values;
}
