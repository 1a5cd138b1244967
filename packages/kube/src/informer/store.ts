/**
 * The objects of one kind as this process knows them, with the changes between what it knew and what it is told. Facts reach it
 * out of three mouths: pages of a list, watch events, and answers to the process's own writes. They may come late or twice;
 * a fact that is older than what is known about its object changes nothing.
 *
 * "Older" compares resource versions, which are increasing integers within a kind (KEP-5504; etcd revisions before it). Where they
 * are no integers, every fact counts as news.
 */
import type { KubeObject } from "@joinery/api";
import type { Change } from "../cache.ts";
import { keyOf } from "../kube-client.ts";
import { Index, type IndexFunction } from "./indexes.ts";

export interface StoreOptions<Raw extends KubeObject, Kept extends KubeObject> {
  readonly trim: (object: Raw) => Kept;
  readonly indexes: Readonly<Record<string, IndexFunction<Kept>>>;
  readonly notify: (change: Change<Kept>) => void;
}

/** `Raw` is what arrives, `Kept` what is held of it. */
export class Store<Raw extends KubeObject, Kept extends KubeObject> {
  readonly #objects = new Map<string, Kept>();
  readonly #indexes: ReadonlyMap<string, Index<Kept>>;
  readonly #trim: (object: Raw) => Kept;
  readonly #notify: (change: Change<Kept>) => void;

  constructor({ trim, indexes, notify }: StoreOptions<Raw, Kept>) {
    this.#trim = trim;
    this.#notify = notify;
    this.#indexes = new Map(Object.entries(indexes).map(([name, valuesOf]) => [name, new Index(valuesOf)]));
  }

  get size(): number {
    return this.#objects.size;
  }

  find(key: string): Kept | undefined {
    return this.#objects.get(key);
  }

  values(): Iterable<Kept> {
    return this.#objects.values();
  }

  *by(index: string, value: string): Iterable<Kept> {
    const found = this.#indexes.get(index);
    if (found === undefined) {
      throw new Error(`Cannot read index ${JSON.stringify(index)}: the cache has ${[...this.#indexes.keys()].join(", ") || "no index"}`);
    }
    for (const key of found.keys(value)) {
      yield this.#objects.get(key)!;
    }
  }

  /** The object exists in this state. `mayGoBack` takes the state even when a newer one is known. Gives the object's key. */
  put(object: Raw, { mayGoBack = false }: { readonly mayGoBack?: boolean } = {}): string {
    const key = keyOf(object);
    const held = this.#objects.get(key);
    if (held !== undefined) {
      const order = compareVersions(versionOf(held), versionOf(object));
      if (order === 0 || (order !== undefined && order > 0 && !mayGoBack)) {
        return key;
      }
      if (held.metadata?.uid !== object.metadata?.uid) {
        // Deleted and made again while nobody looked: two objects that share a name.
        this.#set(key, held, undefined);
        return this.put(object);
      }
    }
    this.#set(key, held, this.#trim(object));
    return key;
  }

  /** The object is gone; `last` is its last state. Nothing happens when a later object of the name is known. */
  remove(last: Raw): void {
    const key = keyOf(last);
    const held = this.#objects.get(key);
    const order = held === undefined ? undefined : compareVersions(versionOf(held), versionOf(last));
    if (held !== undefined && !(order !== undefined && order > 0)) {
      this.#set(key, held, undefined);
    }
  }

  /** Drops what a complete list does not have, except what is newer than the list. */
  removeUnlisted(listed: ReadonlySet<string>, listVersion: string, { mayGoBack = false }: { readonly mayGoBack?: boolean } = {}): void {
    for (const [key, held] of this.#objects) {
      if (listed.has(key)) continue;
      const order = compareVersions(versionOf(held), listVersion);
      if (mayGoBack || order === undefined || order <= 0) {
        this.#set(key, held, undefined);
      }
    }
  }

  #set(key: string, previous: Kept | undefined, next: Kept | undefined): void {
    if (next === undefined) {
      this.#objects.delete(key);
    } else {
      this.#objects.set(key, next);
    }
    for (const index of this.#indexes.values()) {
      index.move(key, previous, next);
    }
    if (next === undefined) {
      this.#notify({ type: "deleted", object: previous! });
    } else if (previous === undefined) {
      this.#notify({ type: "added", object: next });
    } else {
      this.#notify({ type: "updated", object: next, previous });
    }
  }
}

export function versionOf(object: KubeObject): string {
  return object.metadata?.resourceVersion ?? "";
}

/** Negative when `a` is older, 0 when equal, positive when newer; undefined when the two cannot be compared. */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) {
    return a === "" ? undefined : 0;
  }
  if (!isCounter(a) || !isCounter(b)) {
    return undefined;
  }
  return a.length - b.length || (a < b ? -1 : 1);
}

function isCounter(version: string): boolean {
  return /^[1-9]\d*$/.test(version);
}
