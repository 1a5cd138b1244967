/**
 * Writes that change only what the writer owns: the smallest merge patch between two states, locked to the version that was read
 * (L-17: list fields are replaced whole, so without the lock another writer's entry could be lost).
 */
import type { Kind, KubeObject } from "@joinery/api";
import type { KubeClient, ObjectKey, Patch } from "../client.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../wire/errors.ts";
import { mergePatchBetween } from "./merge-patch.ts";

/** The patch from `before` to `after`, refused by the server if the object is no longer `before`. Undefined when they are equal. */
export function lockedPatch<T extends KubeObject>(before: T, after: T): Patch | undefined {
  const patch = mergePatchBetween(before, after);
  if (patch === undefined) {
    return undefined;
  }
  const metadata = { ...(patch.metadata as object | undefined), resourceVersion: before.metadata?.resourceVersion };
  return { type: "merge", body: { ...patch, metadata } };
}

/** The patch from `before` to `after` without a lock: for maps and single fields that have one owner. */
export function openPatch<T extends KubeObject>(before: T, after: T): Patch | undefined {
  const patch = mergePatchBetween(before, after);
  return patch === undefined ? undefined : { type: "merge", body: patch };
}

export interface UpdateOptions<T> {
  readonly subresource?: string;
  /** A state that is at hand, e.g. from a cache. Without it the object is read first. */
  readonly from?: T;
  /** Tries in all, when others keep writing. */
  readonly attemptsMax?: number;
}

/** Others rarely write twice within one round trip; five in a row means a fight that waiting here would not end. */
const ATTEMPTS_MAX = 5;

/**
 * Brings an object from what it is to what `change` makes of it, reading again and retrying when another writer was faster (409).
 * `change` must be pure; the same object or undefined from it means that nothing is to be done. Gives the object as it then is, or undefined
 * when it does not exist. Throws the last conflict after `attemptsMax` tries.
 */
export async function updateOwned<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  key: ObjectKey,
  change: (object: T) => T | undefined,
  { subresource, from, attemptsMax = ATTEMPTS_MAX }: UpdateOptions<T> = {},
  signal?: AbortSignal,
): Promise<T | undefined> {
  let before = from ?? (await client.find(kind, key, signal));
  for (let attempt = 1; before !== undefined; attempt++) {
    const after = change(before);
    const patch = after === undefined ? undefined : lockedPatch(before, after);
    if (patch === undefined) {
      return before;
    }
    try {
      return await client.patch(kind, key, patch, { subresource }, signal);
    } catch (error) {
      if (isNotFound(error)) {
        return undefined;
      }
      if (!isConflict(error) || attempt >= attemptsMax) {
        throw error;
      }
      before = await client.find(kind, key, signal);
    }
  }
  return undefined;
}

/** Creates the object, or finds the one of that name: for names that are derived from a plan, so that a rerun meets its own work. */
export async function createOnce<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  object: T,
  signal?: AbortSignal,
): Promise<{ readonly object: T; readonly isNew: boolean }> {
  try {
    return { object: await client.create(kind, object, signal), isNew: true };
  } catch (error) {
    if (!isAlreadyExists(error)) {
      throw error;
    }
    const { name = "", namespace } = object.metadata ?? {};
    return { object: await client.get(kind, { name, namespace }, signal), isNew: false };
  }
}
