/** Where wakes come from: changes of cached objects, mapped to the keys that care. */
import type { KubeObject } from "@joinery/api";
import { type Cache, keyOf } from "@joinery/kube";
import type { Source } from "./loop.ts";

/**
 * Wakes `keysOf(object)` for every object that exists and for every change. For an update both versions are asked, so that who
 * cared before learns that it need not any more. Changes that lead to an object that `isKnown` wake nobody.
 */
export function changesOf<T extends KubeObject>(
  cache: Cache<T>,
  keysOf: (object: T) => Iterable<string> = (object) => [keyOf(object)],
  isKnown: (object: T) => boolean = () => false,
): Source {
  return (wake) => {
    const wakeAll = (object: T) => {
      for (const key of keysOf(object)) wake(key);
    };
    const unsubscribe = cache.onChange((change) => {
      if (change.type !== "deleted" && isKnown(change.object)) return;
      if (change.type === "updated") wakeAll(change.previous);
      wakeAll(change.object);
    });
    for (const object of cache.values()) wakeAll(object);
    return unsubscribe;
  };
}

/** Wakes the one key of a singleton loop, at once. */
export const once: Source = (wake) => {
  wake(SINGLETON);
  return () => {};
};

export const SINGLETON = "";
