/**
 * Watches. A watcher gets every change after its version, in order, as JSON values. Changes are dispatched once: watchers that pin a
 * field to a value (a kubelet's `spec.nodeName`) are found in an index instead of being asked one by one.
 */
import type { ApiObject, JsonObject } from "../objects/json.ts";
import { apiVersionOf, type Resource } from "../registry/resource.ts";
import type { Collection, StoreEvent } from "../storage/store.ts";
import { expired } from "../wire/status.ts";
import { type Backend, type Call, isTrue } from "./backend.ts";
import { fieldValue, type Selection, selectionOf, served, watchedVersion } from "./read.ts";

export interface WatchValue {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: JsonObject;
}

/** A reader that falls this far behind is cut off, as the real server does, instead of filling memory; it resumes from its version. */
const backlogMax = 100_000;

export class Watcher implements AsyncIterable<WatchValue> {
  readonly #call: Call;
  readonly #selection: Selection;
  #queue: WatchValue[] = [];
  #taken = 0;
  #isClosed = false;
  #wake: (() => void) | undefined;
  #onClose: (() => void)[] = [];

  constructor(call: Call, selection: Selection) {
    this.#call = call;
    this.#selection = selection;
  }

  get wantsBookmarks(): boolean {
    return isTrue(this.#call.query.allowWatchBookmarks ?? "false");
  }

  /** Passes a change on in the form in which it looks through this watcher's selectors. */
  offer(event: StoreEvent): void {
    const { namespace } = this.#call.target;
    if (namespace !== undefined && event.object.metadata.namespace !== namespace) return;
    const is = event.type !== "DELETED" && this.#matches(event.object);
    const was = event.previous !== undefined && this.#matches(event.previous);
    if (is) this.push({ type: was ? "MODIFIED" : "ADDED", object: this.#served(event.object) });
    else if (was) this.push({ type: "DELETED", object: this.#served(this.#lastSeen(event)) });
  }

  push(value: WatchValue): void {
    if (this.#isClosed) return;
    this.#queue.push(value);
    if (this.#queue.length - this.#taken > backlogMax) this.close();
    this.#wake?.();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const action of this.#onClose) action();
    this.#wake?.();
  }

  /** As `close`, without giving out what is still waiting: the reader has gone. */
  abandon(): void {
    this.#queue = [];
    this.#taken = 0;
    this.close();
  }

  onClose(action: () => void): void {
    if (this.#isClosed) action();
    else this.#onClose.push(action);
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchValue> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.abandon();
        return { done: true, value: undefined };
      },
    };
  }

  async #next(): Promise<IteratorResult<WatchValue>> {
    for (;;) {
      const value = this.#queue[this.#taken];
      if (value !== undefined) {
        this.#taken++;
        if (this.#taken > 1024 && this.#taken * 2 > this.#queue.length) {
          this.#queue = this.#queue.slice(this.#taken);
          this.#taken = 0;
        }
        return { done: false, value };
      }
      if (this.#isClosed) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  #matches(object: ApiObject): boolean {
    return this.#selection.isAll || this.#selection.matches(object);
  }

  /** An object that leaves the selection is shown as it was, under the version at which it left. */
  #lastSeen(event: StoreEvent): ApiObject {
    if (event.type === "DELETED" || event.previous === undefined) return event.object;
    return { ...event.previous, metadata: { ...event.previous.metadata, resourceVersion: String(event.version) } };
  }

  #served(object: ApiObject): ApiObject {
    return served(this.#call.resource, object);
  }
}

/** All watchers of one collection. */
class Hub {
  readonly #general = new Set<Watcher>();
  /** Field, then value, then watchers. */
  readonly #pinned = new Map<string, Map<string, Set<Watcher>>>();
  readonly resource: Resource;
  readonly #bookmarkEvery: number;
  readonly #unsubscribe: () => void;
  #sinceBookmark = 0;

  constructor(resource: Resource, collection: Collection, bookmarkEvery: number) {
    this.resource = resource;
    this.#bookmarkEvery = bookmarkEvery;
    this.#unsubscribe = collection.onChange((event) => this.#dispatch(event));
  }

  /** Ends every watch. The hub is of no use afterwards. */
  close(): void {
    this.#unsubscribe();
    for (const watcher of [...this.watchers()]) watcher.close();
  }

  add(watcher: Watcher, pin: Selection["pin"]): void {
    const group = pin === undefined ? this.#general : this.#groupOf(pin.field, pin.value);
    group.add(watcher);
    watcher.onClose(() => {
      group.delete(watcher);
      if (pin !== undefined && group.size === 0) this.#pinned.get(pin.field)?.delete(pin.value);
    });
  }

  *watchers(): Generator<Watcher> {
    yield* this.#general;
    for (const values of this.#pinned.values()) {
      for (const group of values.values()) yield* group;
    }
  }

  #groupOf(field: string, value: string): Set<Watcher> {
    const values = this.#pinned.get(field) ?? new Map<string, Set<Watcher>>();
    this.#pinned.set(field, values);
    const group = values.get(value) ?? new Set<Watcher>();
    values.set(value, group);
    return group;
  }

  #dispatch(event: StoreEvent): void {
    for (const watcher of this.#general) watcher.offer(event);
    for (const [field, values] of this.#pinned) {
      const now = fieldValue(this.resource, event.object, field);
      const before = event.previous === undefined ? now : fieldValue(this.resource, event.previous, field);
      for (const watcher of values.get(now) ?? []) watcher.offer(event);
      if (before !== now) for (const watcher of values.get(before) ?? []) watcher.offer(event);
    }
    if (++this.#sinceBookmark < this.#bookmarkEvery) return;
    this.#sinceBookmark = 0;
    for (const watcher of this.watchers()) {
      if (watcher.wantsBookmarks) watcher.push(bookmark(this.resource, event.version));
    }
  }
}

export class Watches {
  readonly #hubs = new Map<string, Hub>();
  readonly #backend: Backend;
  readonly #bookmarkEvery: number;

  /** @param windowSize of the store; a bookmark comes twice per window, so that a selective watcher can always resume */
  constructor(backend: Backend, windowSize: number) {
    this.#backend = backend;
    this.#bookmarkEvery = Math.max(1, windowSize >> 1);
  }

  /** Opens a watch. Ends when the signal aborts, the time is over, or the version is too old (one ERROR event). */
  open(call: Call, signal: AbortSignal): Watcher {
    const selection = selectionOf(call);
    const version = watchedVersion(call);
    const watcher = new Watcher(call, selection);
    const collection = this.#backend.store.collection(call.resource.id);
    if (!this.#start(watcher, call, collection, selection, version)) {
      watcher.close();
      return watcher;
    }
    this.#hub(call.resource, collection).add(watcher, selection.pin);
    const seconds = Number(call.query.timeoutSeconds ?? 0);
    if (seconds > 0) watcher.onClose(this.#backend.clock.after(seconds * 1000, () => watcher.close()));
    if (signal.aborted) watcher.abandon();
    else {
      const onAbort = () => watcher.abandon();
      signal.addEventListener("abort", onAbort, { once: true });
      watcher.onClose(() => signal.removeEventListener("abort", onAbort));
    }
    return watcher;
  }

  /** Ends every watch of a collection, or all of them. */
  close(id?: string): void {
    for (const [hubKey, hub] of this.#hubs) {
      if (id !== undefined && hub.resource.id !== id) continue;
      hub.close();
      this.#hubs.delete(hubKey);
    }
  }

  #start(watcher: Watcher, call: Call, collection: Collection, selection: Selection, version: number | undefined): boolean {
    const { query, resource, target } = call;
    const isInitial = isTrue(query.sendInitialEvents ?? "false") || (version === undefined && query.sendInitialEvents === undefined);
    if (isInitial) {
      for (const object of collection.list(target.namespace)) {
        if (selection.isAll || selection.matches(object)) watcher.push({ type: "ADDED", object: served(resource, object) });
      }
      if (query.sendInitialEvents !== undefined && watcher.wantsBookmarks) {
        watcher.push(bookmark(resource, this.#backend.store.version, { annotations: { "k8s.io/initial-events-end": "true" } }));
      }
      return true;
    }
    if (version === undefined) return true;
    const missed = collection.since(version);
    if (missed === undefined) {
      watcher.push({ type: "ERROR", object: expired(`too old resource version: ${version} (${collection.oldestVersion})`).status });
      return false;
    }
    for (const event of missed) watcher.offer(event);
    return true;
  }

  #hub(resource: Resource, collection: Collection): Hub {
    const key = resource.view === undefined ? resource.id : `${resource.id} as ${apiVersionOf(resource)}`;
    const hub = this.#hubs.get(key) ?? new Hub(resource, collection, this.#bookmarkEvery);
    this.#hubs.set(key, hub);
    return hub;
  }
}

function bookmark(resource: Resource, version: number, extra: JsonObject = {}): WatchValue {
  return {
    type: "BOOKMARK",
    object: {
      kind: resource.kind,
      apiVersion: apiVersionOf(resource),
      metadata: { resourceVersion: String(version), creationTimestamp: null, ...extra },
    },
  };
}
