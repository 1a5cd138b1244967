/**
 * As much of an API server as the loops need to be tested without the sandbox (which stands above this room): versions, conflicts,
 * finalizers, generations, status and eviction, watches. Tests break it through `faults`.
 */
import { formatTime, type KubeObject } from "@joinery/api";
import { type ApiRequest, type ApiResponse, type ApiStream, applyMergePatch, type Clock, type Transport } from "@joinery/kube";

type Json = Record<string, unknown>;
type Stored = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

interface Entry {
  readonly version: number;
  readonly collection: string;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: Stored;
}

export interface FakeApi {
  readonly transport: Transport;
  /** Every write that was carried out, as `METHOD path`. */
  readonly writes: string[];
  /** May throw, or answer in the server's place. */
  readonly faults: { before?: (request: ApiRequest) => ApiResponse | undefined; after?: (request: ApiRequest) => void };
  /** Objects of a collection, e.g. `/api/v1/nodes`; pods of all namespaces under `/api/v1/pods`. */
  objects<T extends KubeObject>(collection: string): T[];
  find<T extends KubeObject>(path: string): T | undefined;
  /** Creates or changes as another client would. */
  put(path: string, object: object): void;
  remove(path: string): void;
  onEvicted: ((name: string) => void) | undefined;
}

export function createFakeApi(clock: Clock): FakeApi {
  const objects = new Map<string, Stored>();
  const history: Entry[] = [];
  const watchers = new Set<{ readonly collection: string; readonly push: (entry: Entry) => void }>();
  const writes: string[] = [];
  const faults: FakeApi["faults"] = {};
  let version = 1;
  let uids = 0;

  function record(type: Entry["type"], path: string, object: Stored): Stored {
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++version) } };
    if (type === "DELETED") objects.delete(path);
    else objects.set(path, stored);
    const entry: Entry = { version, collection: collectionOf(path), type, object: stored };
    history.push(entry);
    for (const watcher of [...watchers]) if (isWithin(entry.collection, watcher.collection)) watcher.push(entry);
    return stored;
  }

  function create(collection: string, object: Stored): ApiResponse {
    const { metadata } = object;
    const name = metadata?.name ?? `${metadata?.generateName}${(++uids).toString(36).padStart(5, "0")}`;
    const path = `${collection}/${name}`;
    if (objects.has(path)) return refusal(409, "AlreadyExists", `${path} already exists`);
    const namespace = /\/namespaces\/([^/]+)\//.exec(`${collection}/`)?.[1];
    const made = {
      ...object,
      metadata: {
        creationTimestamp: formatTime(clock.wallMs()),
        ...metadata,
        name,
        ...(namespace && { namespace }),
        uid: metadata?.uid ?? `uid-${++uids}`,
        generation: 1,
      },
    };
    return { status: 201, body: record("ADDED", path, made) };
  }

  function change(path: string, next: Stored): Stored {
    const held = objects.get(path)!;
    const isNewSpec = JSON.stringify(held.spec) !== JSON.stringify(next.spec);
    const generation = (held.metadata?.generation ?? 1) + (isNewSpec ? 1 : 0);
    const changed = { ...next, metadata: { ...next.metadata, generation } };
    if (JSON.stringify(changed) === JSON.stringify(held)) return held;
    const isOver = changed.metadata.deletionTimestamp !== undefined && (changed.metadata.finalizers ?? []).length === 0;
    return record(isOver ? "DELETED" : "MODIFIED", path, changed);
  }

  function remove(
    path: string,
    options: { readonly preconditions?: { readonly uid?: string }; readonly gracePeriodSeconds?: number } = {},
  ): ApiResponse {
    const held = objects.get(path);
    if (held === undefined) return notFound(path);
    const uid = options.preconditions?.uid;
    if (uid !== undefined && uid !== held.metadata?.uid) return refusal(409, "Conflict", "the UID in the precondition does not match");
    if ((held.metadata?.finalizers ?? []).length === 0) return { status: 200, body: record("DELETED", path, held) };
    const deletionTimestamp = formatTime(clock.wallMs() + (options.gracePeriodSeconds ?? 0) * 1000);
    // Another deletion can only make it sooner.
    const before = held.metadata?.deletionTimestamp;
    if (before !== undefined && (options.gracePeriodSeconds === undefined || Date.parse(before) <= Date.parse(deletionTimestamp))) {
      return { status: 200, body: held };
    }
    const generation = (held.metadata?.generation ?? 1) + 1;
    const leaving = { ...held, metadata: { ...held.metadata, deletionTimestamp, generation } };
    return { status: 200, body: record("MODIFIED", path, leaving) };
  }

  function patch(path: string, subresource: string | undefined, body: Json): ApiResponse {
    const held = objects.get(path);
    if (held === undefined) return notFound(path);
    const wished = (body.metadata as KubeObject["metadata"])?.resourceVersion;
    if (wished !== undefined && wished !== held.metadata?.resourceVersion) return refusal(409, "Conflict", "the object has been modified");
    const merged = applyMergePatch(held, body) as Stored;
    const next =
      subresource === "status" ? { ...held, status: merged.status } : { ...merged, status: hasStatus(path) ? held.status : merged.status };
    return { status: 200, body: change(path, next) };
  }

  function act({ method, path: full, body, query = {} }: ApiRequest): ApiResponse {
    const { path, subresource } = split(full);
    switch (method) {
      case "GET": {
        if (path === "/version") return { status: 200, body: { major: "1", minor: "36" } };
        const held = objects.get(path);
        if (held !== undefined) return { status: 200, body: held };
        if (isObject(path)) return notFound(path);
        const items = [...objects].filter(([key]) => isWithin(collectionOf(key), path)).map(([, object]) => object);
        const name = /metadata\.name=([^,]+)/.exec(query.fieldSelector ?? "")?.[1];
        const node = /spec\.nodeName=([^,]+)/.exec(query.fieldSelector ?? "")?.[1];
        const isChosen = ({ metadata, spec }: Stored) =>
          (name === undefined || metadata?.name === name) &&
          (node === undefined || (spec as { readonly nodeName?: string } | undefined)?.nodeName === node);
        const chosen = items.filter(isChosen);
        return { status: 200, body: { metadata: { resourceVersion: String(version) }, items: chosen } };
      }
      case "POST":
        if (subresource === "eviction") {
          api.onEvicted?.(path.slice(path.lastIndexOf("/") + 1));
          return remove(path, (body as { deleteOptions?: object }).deleteOptions);
        }
        return create(path, body as Stored);
      case "PUT": {
        const held = objects.get(path);
        if (held === undefined) return notFound(path);
        const wished = (body as Stored).metadata?.resourceVersion;
        if (wished !== undefined && wished !== held.metadata?.resourceVersion)
          return refusal(409, "Conflict", "the object has been modified");
        return { status: 200, body: change(path, body as Stored) };
      }
      case "PATCH":
        return patch(path, subresource, body as Json);
      case "DELETE":
        return remove(path, body as object | undefined);
    }
  }

  async function send(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    signal?.throwIfAborted();
    await undefined;
    const early = faults.before?.(request);
    if (early !== undefined) return early;
    const response = act(request);
    if (request.method !== "GET" && response.status < 300) writes.push(`${request.method} ${request.path}`);
    faults.after?.(request);
    return response;
  }

  async function stream({ path, query = {} }: ApiRequest, signal: AbortSignal): Promise<ApiStream> {
    const from = Number(query.resourceVersion || version);
    const waiting: Entry[] = history.filter((entry) => entry.version > from && isWithin(entry.collection, path));
    let wake = () => {};
    const watcher = {
      collection: path,
      push(entry: Entry) {
        waiting.push(entry);
        wake();
      },
    };
    watchers.add(watcher);
    signal.addEventListener("abort", () => wake(), { once: true });
    async function* values() {
      try {
        while (!signal.aborted) {
          for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) yield { type: entry.type, object: entry.object };
          if (signal.aborted) return; // aborted while its reader was at work
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        watchers.delete(watcher);
      }
    }
    return { status: 200, values: values() };
  }

  const api: FakeApi = {
    onEvicted: undefined,
    transport: { send, stream, close: async () => {} },
    writes,
    faults,
    objects: <T extends KubeObject>(collection: string) =>
      [...objects].filter(([path]) => isWithin(collectionOf(path), collection)).map(([, object]) => object as unknown as T),
    find: <T extends KubeObject>(path: string) => objects.get(path) as unknown as T | undefined,
    put(path, object) {
      if (objects.has(path)) change(path, applyMergePatch(objects.get(path)!, object as Json) as Stored);
      else
        create(
          collectionOf(path),
          applyMergePatch(object as Json, { metadata: { name: path.slice(path.lastIndexOf("/") + 1) } }) as Stored,
        );
    },
    remove: (path) => void remove(path),
  };
  return api;
}

function refusal(code: number, reason: string, message: string): ApiResponse {
  return { status: code, body: { kind: "Status", status: "Failure", code, reason, message } };
}

function notFound(path: string): ApiResponse {
  return refusal(404, "NotFound", `${path} not found`);
}

const SUBRESOURCE = /\/(status|eviction)$/;

function split(full: string): { path: string; subresource?: string } {
  const match = SUBRESOURCE.exec(full);
  return match === null ? { path: full } : { path: full.slice(0, match.index), subresource: match[1] };
}

function collectionOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** `/api/v1/namespaces/a/pods` lies within `/api/v1/pods`. */
function isWithin(collection: string, scope: string): boolean {
  return collection === scope || collection.replace(/\/namespaces\/[^/]+(?=\/)/, "") === scope;
}

function isObject(path: string): boolean {
  const parts = path.replace(/\/namespaces\/[^/]+(?=\/)/, "").split("/").length;
  return path.startsWith("/apis/") ? parts > 5 : parts > 4;
}

function hasStatus(path: string): boolean {
  return /\/(nodeclaims|nodepools|nodeoverlays|capacitybuffers)\//.test(path);
}
