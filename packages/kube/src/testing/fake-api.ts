/**
 * A small API server in memory for this room's own tests: versions, conflicts, paging, watches with a bounded history, merge patches.
 * Tests break it on purpose through `faults`. The whole thing for everyone else is the sandbox.
 */
import type { KubeObject } from "@joinery/api";
import { applyMergePatch } from "../objects/merge-patch.ts";
import { TransportError } from "../wire/errors.ts";
import type { ApiRequest, ApiResponse, ApiStream, Transport } from "../wire/transport.ts";

interface FakeFaults {
  /** Called before each request; may throw, wait, or answer in the server's place. */
  before?: (request: ApiRequest, signal?: AbortSignal) => Promise<ApiResponse | undefined> | ApiResponse | undefined;
  /** Called after each request was carried out; may throw to lose the answer, or wait. */
  after?: (request: ApiRequest, signal?: AbortSignal) => Promise<void> | void;
}

type Entry = { readonly path: string; readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject };

interface Watcher {
  readonly collection: string;
  readonly name?: string;
  push(value: unknown): void;
  end(error?: Error): void;
}

export interface FakeApi {
  readonly transport: Transport;
  readonly faults: FakeFaults;
  readonly requests: ApiRequest[];
  /** Objects under a collection's path, by path. */
  objects(collection: string): KubeObject[];
  /** Writes as another client would: creates or replaces, and tells the watchers. */
  put(path: string, object: KubeObject): KubeObject;
  remove(path: string): void;
  /** Forgets the history before now: older watches and continue tokens get 410. */
  compact(): void;
  /** Ends all watches, with an error or cleanly. */
  dropWatches(error?: Error): void;
  sendBookmarks(): void;
  readonly version: number;
}

export function createFakeApi(): FakeApi {
  const objects = new Map<string, KubeObject>();
  const history: (Entry & { readonly version: number })[] = [];
  const watchers = new Set<Watcher>();
  const snapshots = new Map<string, { readonly version: number; readonly items: readonly KubeObject[] }>();
  const faults: FakeFaults = {};
  const requests: ApiRequest[] = [];
  let version = 100;
  let compactedAt = 0;
  let uidCount = 0;
  let tokenCount = 0;

  function record(type: Entry["type"], path: string, object: KubeObject): KubeObject {
    version++;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    if (type === "DELETED") {
      objects.delete(path);
    } else {
      objects.set(path, stored);
    }
    history.push({ version, type, path, object: stored });
    for (const watcher of watchers) {
      if (concerns(watcher, path)) watcher.push({ type, object: stored });
    }
    return stored;
  }

  function put(path: string, object: KubeObject): KubeObject {
    const held = objects.get(path);
    const uid = held?.metadata?.uid ?? `uid-${++uidCount}`;
    return record(held === undefined ? "ADDED" : "MODIFIED", path, {
      ...object,
      metadata: { ...object.metadata, ...namespaceIn(path), name: nameIn(path), uid },
    });
  }

  function remove(path: string): void {
    const held = objects.get(path);
    if (held !== undefined) record("DELETED", path, held);
  }

  function inCollection(collection: string, name?: string): KubeObject[] {
    return [...objects].filter(([path]) => concerns({ collection, name }, path)).map(([, object]) => object);
  }

  function list({ path, query = {} }: ApiRequest): ApiResponse {
    const token = query.continue;
    const snapshot = token === undefined ? { version, items: inCollection(path, nameSelected(query)) } : snapshots.get(token);
    if (snapshot === undefined || (token !== undefined && snapshot.version < compactedAt)) {
      return refusal(410, "Expired", "the provided continue parameter is too old");
    }
    const limit = query.limit === undefined ? snapshot.items.length : Number(query.limit);
    const rest = snapshot.items.slice(limit);
    const next = rest.length === 0 ? undefined : `token-${++tokenCount}`;
    if (next !== undefined) snapshots.set(next, { version: snapshot.version, items: rest });
    const metadata = { resourceVersion: String(snapshot.version), continue: next };
    return { status: 200, body: { kind: "List", metadata, items: snapshot.items.slice(0, limit) } };
  }

  function act(request: ApiRequest): ApiResponse {
    const { method, path } = request;
    const held = objects.get(path);
    const body = request.body as KubeObject | undefined;
    switch (method) {
      case "GET":
        if (held !== undefined) return { status: 200, body: held };
        return isCollection(path) ? list(request) : notFound(path);
      case "POST": {
        const own = `${path}/${body?.metadata?.name}`;
        if (objects.has(own)) return refusal(409, "AlreadyExists", `${own} already exists`);
        return { status: 201, body: put(own, body!) };
      }
      case "PUT":
      case "PATCH": {
        if (held === undefined) return notFound(path);
        const wished = body?.metadata?.resourceVersion;
        if (wished !== undefined && wished !== held.metadata?.resourceVersion) {
          return refusal(409, "Conflict", "the object has been modified; please apply your changes to the latest version");
        }
        return { status: 200, body: put(path, method === "PUT" ? body! : (applyMergePatch(held, body) as KubeObject)) };
      }
      case "DELETE":
        if (held === undefined) return notFound(path);
        remove(path);
        return { status: 200, body: { kind: "Status", status: "Success" } };
    }
  }

  async function stream({ path, query = {} }: ApiRequest, signal: AbortSignal): Promise<ApiStream> {
    const from = Number(query.resourceVersion ?? version);
    if (from < compactedAt) {
      return { status: 410, body: refusal(410, "Expired", "too old resource version").body, values: none() };
    }
    const waiting: unknown[] = [];
    let isOver = false;
    let fault: Error | undefined;
    let wake = () => {};
    const watcher: Watcher = {
      collection: path,
      name: nameSelected(query),
      push(value) {
        waiting.push(value);
        wake();
      },
      end(error) {
        isOver = true;
        fault = error;
        watchers.delete(watcher);
        wake();
      },
    };
    for (const entry of history) {
      if (entry.version > from && concerns(watcher, entry.path)) waiting.push({ type: entry.type, object: entry.object });
    }
    if (query.resourceVersion === undefined) {
      for (const object of inCollection(path, watcher.name)) waiting.push({ type: "ADDED", object });
    }
    watchers.add(watcher);
    signal.addEventListener("abort", () => watcher.end(), { once: true });
    async function* values() {
      for (;;) {
        while (waiting.length > 0 && !signal.aborted) yield waiting.shift();
        signal.throwIfAborted();
        if (isOver) {
          if (fault !== undefined) throw fault;
          return;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    return { status: 200, values: values() };
  }

  return {
    faults,
    requests,
    objects: (collection) => inCollection(collection),
    put,
    remove,
    compact() {
      compactedAt = version;
      history.length = 0;
    },
    dropWatches(error) {
      for (const watcher of [...watchers]) watcher.end(error);
    },
    sendBookmarks() {
      for (const watcher of watchers) watcher.push({ type: "BOOKMARK", object: { metadata: { resourceVersion: String(version) } } });
    },
    get version() {
      return version;
    },
    transport: {
      async send(request, signal) {
        requests.push(request);
        signal?.throwIfAborted();
        const instead = await faults.before?.(request, signal);
        if (instead !== undefined) return instead;
        const response = act(request);
        await faults.after?.(request, signal);
        return response;
      },
      async stream(request, signal) {
        requests.push(request);
        const instead = await faults.before?.(request, signal);
        if (instead !== undefined) return { ...instead, values: none() };
        return stream(request, signal);
      },
      close: async () => {},
    },
  };
}

export function refusal(status: number, reason: string, message: string): ApiResponse {
  return { status, body: { kind: "Status", apiVersion: "v1", status: "Failure", code: status, reason, message } };
}

/** A connection that breaks, for `faults` and `dropWatches`. */
export function brokenConnection(): TransportError {
  return new TransportError("broken", "the connection broke");
}

function notFound(path: string): ApiResponse {
  return refusal(404, "NotFound", `${path} not found`);
}

function isCollection(path: string): boolean {
  return path.split("/").at(-1)!.endsWith("s");
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function namespaceIn(path: string): { readonly namespace?: string } {
  const namespace = /\/namespaces\/([^/]+)\/[^/]+\//.exec(path)?.[1];
  return namespace === undefined ? {} : { namespace };
}

function nameSelected({ fieldSelector }: Readonly<Record<string, string>>): string | undefined {
  return /^metadata\.name=([^,]+)/.exec(fieldSelector ?? "")?.[1];
}

function concerns({ collection, name }: { readonly collection: string; readonly name?: string }, path: string): boolean {
  const slash = path.lastIndexOf("/");
  const own = path.slice(0, slash);
  const isWithin = own === collection || own.replace(/\/namespaces\/[^/]+(?=\/)/, "") === collection;
  return isWithin && (name === undefined || path.slice(slash + 1) === name);
}

async function* none(): AsyncGenerator<unknown> {}
