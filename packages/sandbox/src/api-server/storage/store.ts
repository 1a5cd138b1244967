/**
 * The one store: immutable objects by kind, one increasing resource version over all of them, and per kind a bounded window of past
 * changes from which watches replay and old lists are reconstructed.
 */
import type { ApiObject } from "../objects/json.ts";

export interface StoreEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly version: number;
  readonly key: string;
  /** The object after the change; for DELETED its last state, with the version of the deletion. */
  readonly object: ApiObject;
  /** The object before the change. */
  readonly previous?: ApiObject;
}

type Listener = (event: StoreEvent) => void;

/** `namespace/name`, or the name alone for what has no namespace. Lists come in the order of these keys. */
export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

export class Collection {
  readonly #objects = new Map<string, ApiObject>();
  #sortedKeys: string[] | undefined;
  /** Past changes, oldest first, trimmed to the window. */
  #window: StoreEvent[] = [];
  /** Versions up to this one can no longer be replayed. */
  #forgottenVersion = 0;
  readonly #listeners = new Set<Listener>();
  readonly #windowSize: number;

  constructor(windowSize: number, bornVersion: number) {
    this.#windowSize = windowSize;
    this.#forgottenVersion = bornVersion;
  }

  get size(): number {
    return this.#objects.size;
  }

  find(key: string): ApiObject | undefined {
    return this.#objects.get(key);
  }

  values(): IterableIterator<ApiObject> {
    return this.#objects.values();
  }

  /** Objects of one namespace (all when undefined) in key order. */
  list(namespace?: string): ApiObject[] {
    const keys = this.#keys();
    if (namespace === undefined) return keys.map((key) => this.#objects.get(key) as ApiObject);
    const prefix = `${namespace}/`;
    const items: ApiObject[] = [];
    for (let at = lowerBound(keys, prefix); at < keys.length && keys[at]!.startsWith(prefix); at++) {
      items.push(this.#objects.get(keys[at]!) as ApiObject);
    }
    return items;
  }

  /** The same as it was at `version`; undefined when the window no longer reaches back. */
  listAt(version: number, namespace?: string): ApiObject[] | undefined {
    if (version < this.#forgottenVersion) return undefined;
    const newer = this.#window.slice(this.#firstAfter(version));
    if (newer.length === 0) return this.list(namespace);
    const then = new Map(this.list(namespace).map((object) => [keyOfObject(object), object]));
    for (const event of newer.reverse()) {
      if (namespace !== undefined && !event.key.startsWith(`${namespace}/`)) continue;
      if (event.previous === undefined) then.delete(event.key);
      else then.set(event.key, event.previous);
    }
    return [...then.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, object]) => object);
  }

  /** Changes after `version`; undefined when the window no longer holds them all. */
  since(version: number): readonly StoreEvent[] | undefined {
    if (version < this.#forgottenVersion) return undefined;
    return this.#window.slice(this.#firstAfter(version));
  }

  get oldestVersion(): number {
    return this.#forgottenVersion;
  }

  /** Called synchronously for every change, in order. Returns what unsubscribes. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  record(event: StoreEvent): void {
    if (event.type === "DELETED") this.#objects.delete(event.key);
    else this.#objects.set(event.key, event.object);
    if (event.type !== "MODIFIED") this.#sortedKeys = undefined;
    this.#window.push(event);
    // Trimmed in halves, so that a change costs the same on average however large the window is.
    if (this.#window.length >= this.#windowSize * 2) {
      const dropped = this.#window.length - this.#windowSize;
      this.#forgottenVersion = this.#window[dropped - 1]!.version;
      this.#window = this.#window.slice(dropped);
    }
    for (const listener of this.#listeners) listener(event);
  }

  #keys(): string[] {
    this.#sortedKeys ??= [...this.#objects.keys()].sort();
    return this.#sortedKeys;
  }

  #firstAfter(version: number): number {
    let low = 0;
    let high = this.#window.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#window[middle]!.version <= version) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export class Store {
  #version: number;
  readonly #collections = new Map<string, Collection>();
  readonly #windowSize: number;
  readonly #listeners = new Set<(id: string, event: StoreEvent) => void>();

  /** @param windowSize past changes kept per kind, at least; at most twice as many */
  constructor(windowSize: number, firstVersion = 1) {
    this.#windowSize = windowSize;
    this.#version = firstVersion;
  }

  /** The version of the newest change. */
  get version(): number {
    return this.#version;
  }

  /** The objects of one kind; `id` is e.g. `apps/deployments`. `bornVersion` is that of a kind that comes later: before it nothing is known. */
  collection(id: string, bornVersion = 0): Collection {
    const known = this.#collections.get(id);
    if (known !== undefined) return known;
    const made = new Collection(this.#windowSize, bornVersion);
    this.#collections.set(id, made);
    made.onChange((event) => {
      for (const listener of this.#listeners) listener(id, event);
    });
    return made;
  }

  collections(): IterableIterator<[string, Collection]> {
    return this.#collections.entries();
  }

  /** Called synchronously for every change of every kind, in order. Returns what unsubscribes. */
  onChange(listener: (id: string, event: StoreEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stores a draft under a new version. The draft belongs to the store from here on. */
  put(id: string, key: string, draft: ApiObject): ApiObject {
    const collection = this.collection(id);
    const previous = collection.find(key);
    const version = ++this.#version;
    draft.metadata.resourceVersion = String(version);
    collection.record({
      type: previous === undefined ? "ADDED" : "MODIFIED",
      version,
      key,
      object: draft,
      ...(previous === undefined ? {} : { previous }),
    });
    return draft;
  }

  /** Removes an object; watchers see its last state (`final` when the deletion itself changed it). */
  remove(id: string, key: string, final?: ApiObject): ApiObject | undefined {
    const collection = this.collection(id);
    const previous = collection.find(key);
    if (previous === undefined) return undefined;
    const version = ++this.#version;
    const last = final ?? previous;
    const object = { ...last, metadata: { ...last.metadata, resourceVersion: String(version) } };
    collection.record({ type: "DELETED", version, key, object, previous });
    return object;
  }
}

export function keyOfObject(object: ApiObject): string {
  return keyOf(object.metadata.namespace as string | undefined, object.metadata.name as string);
}

function lowerBound(sorted: readonly string[], wanted: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
