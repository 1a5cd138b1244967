/**
 * A cache that also knows what one has asked to be deleted. Controllers that count would otherwise delete twice, because the watch
 * brings their deletes back later than the answer of the API server does; for creates and patches the cache itself takes the answer.
 */
import type { Kind, KubeObject } from "@joinery/api";
import { type Change, type Clock, createCache, type IndexFunction, type KubeClient, keyOf, type Random } from "@joinery/kube";

export interface View<T extends KubeObject> {
  find(key: string): T | undefined;
  values(): T[];
  by(index: string, value: string): T[];
  /** Takes the answer of a create, replace or patch, until the watch has caught up with it. */
  wrote(object: T): void;
  /** Remembers that a delete was sent, until the watch shows it. */
  leaving(object: T): void;
  /** Being deleted, as far as anybody here knows. */
  isLeaving(object: T): boolean;
  onChange(listener: (change: Change<T>) => void): () => void;
  whenSynced(signal: AbortSignal): Promise<void>;
}

export interface ViewOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly kind: Kind<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  readonly onError: (error: unknown) => void;
}

/** Lists and watches from now until the signal aborts. */
export function startView<T extends KubeObject>({ client, kind, signal, ...options }: ViewOptions<T>): View<T> {
  // In process the API server lends its own objects: untrimmed, the cache costs nothing.
  const cache = createCache(client, kind, { ...options, trim: (object) => object });
  const deleting = new Set<string>();
  cache.onChange((change) => {
    if (deleting.size > 0 && (change.type === "deleted" || change.object.metadata?.deletionTimestamp !== undefined)) {
      deleting.delete(change.object.metadata?.uid ?? "");
    }
  });
  void cache.start(signal);
  return {
    find: (key) => cache.find(key),
    values: () => [...cache.values()],
    by: (index, value) => [...cache.by(index, value)],
    wrote: (object) => cache.noteWritten(object),
    leaving(object) {
      const uid = object.metadata?.uid;
      if (uid !== undefined && cache.find(keyOf(object))?.metadata?.uid === uid) {
        deleting.add(uid);
      }
    },
    isLeaving: (object) => object.metadata?.deletionTimestamp !== undefined || deleting.has(object.metadata?.uid ?? ""),
    onChange: (listener) => cache.onChange(listener),
    whenSynced: (until) => cache.whenSynced(until),
  };
}
