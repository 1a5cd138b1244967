/** A read cache of one kind, fed by list + watch. Made by `createCache` (`informer/`). */
import type { KubeObject } from "@joinery/api";

export type Change<T> =
  | { readonly type: "added"; readonly object: T }
  | { readonly type: "updated"; readonly object: T; readonly previous: T }
  | { readonly type: "deleted"; readonly object: T };

export interface Cache<T extends KubeObject> {
  /** `namespace/name`, or `name` for cluster-scoped kinds. Objects are borrowed: never write into one. */
  find(key: string): T | undefined;
  /** In no particular order. */
  values(): Iterable<T>;
  readonly size: number;
  /** Objects under `value` in the index that was declared under `index`. */
  by(index: string, value: string): Iterable<T>;
  /** True once the first list is complete. */
  readonly hasSynced: boolean;
  whenSynced(signal?: AbortSignal): Promise<void>;
  /** Called for every change after the cache holds it, in the order of resource versions. Returns what unsubscribes. */
  onChange(listener: (change: Change<T>) => void): () => void;
}
