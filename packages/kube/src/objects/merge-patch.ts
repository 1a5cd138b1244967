/** JSON merge patches (RFC 7386): applying one, and finding the smallest one between two states. Neither writes into its arguments. */
import { isEqualJson, isObject, type JsonObject } from "@joinery/api";

/** The target after the patch. Parts that the patch does not touch are shared with the target. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) {
    return patch;
  }
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) {
      delete result[key];
    } else if (value !== undefined) {
      setOwn(result, key, applyMergePatch(Object.hasOwn(result, key) ? result[key] : undefined, value));
    }
  }
  return result;
}

/** The smallest patch; undefined when both say the same. A field that would be null cannot be said in a merge patch: null means "remove". `undefined` is as good as absent. */
export function mergePatchBetween(before: object, after: object): JsonObject | undefined {
  return patchBetween(before as JsonObject, after as JsonObject);
}

function patchBetween(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const patch: Record<string, unknown> = {};
  for (const key of Object.keys(before)) {
    if (isPresent(before, key) && !isPresent(after, key)) {
      setOwn(patch, key, null);
    }
  }
  for (const key of Object.keys(after)) {
    if (!isPresent(after, key)) {
      continue;
    }
    const was = isPresent(before, key) ? before[key] : undefined;
    const is = after[key];
    if (isObject(was) && isObject(is)) {
      const inner = patchBetween(was, is);
      if (inner !== undefined) {
        setOwn(patch, key, inner);
      }
    } else if (!isEqualJson(was, is)) {
      setOwn(patch, key, is);
    }
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function isPresent(object: JsonObject, key: string): boolean {
  return Object.hasOwn(object, key) && object[key] !== undefined && object[key] !== null;
}

/** `__proto__` is a field like any other in JSON; assignment would not make it one. */
function setOwn(into: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(into, key, { value, writable: true, enumerable: true, configurable: true });
}
