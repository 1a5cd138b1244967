/** JSON values, and the few questions that the server asks of them. Stored objects are never written to; drafts are. */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** An object as the store keeps it, or a draft of one: metadata is always there. */
export interface ApiObject extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: JsonObject;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A deep copy without `undefined` members, which JSON does not know. */
export function copyJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => copyJson(item)) as T;
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) copy[key] = copyJson(member);
  }
  return copy as T;
}

/** Whether two values are the same JSON; the order of members does not matter. */
export function equalJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((item, index) => equalJson(item, right[index]));
  }
  if (Array.isArray(right)) return false;
  const leftKeys = Object.keys(left);
  if (leftKeys.length !== Object.keys(right).length) return false;
  return leftKeys.every((key) => Object.hasOwn(right, key) && equalJson((left as JsonObject)[key], (right as JsonObject)[key]));
}

/** The value at a path of member names, or undefined. */
export function valueAt(value: unknown, ...path: readonly string[]): Json | undefined {
  let at: unknown = value;
  for (const key of path) {
    if (!isObject(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at as Json | undefined;
}

export function objectAt(value: unknown, ...path: readonly string[]): JsonObject | undefined {
  const found = valueAt(value, ...path);
  return isObject(found) ? found : undefined;
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = valueAt(value, ...path);
  return typeof found === "string" ? found : undefined;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = valueAt(value, ...path);
  return typeof found === "number" ? found : undefined;
}

/** The list at a path; empty when there is none. */
export function listAt(value: unknown, ...path: readonly string[]): Json[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The objects of the list at a path. */
export function objectsAt(value: unknown, ...path: readonly string[]): JsonObject[] {
  return listAt(value, ...path).filter(isObject);
}

/** The member of a draft, made when it is not there. */
export function ensureObject(draft: JsonObject, key: string): JsonObject {
  const found = draft[key];
  if (isObject(found)) return found;
  const made: JsonObject = {};
  draft[key] = made;
  return made;
}

/** Sets a member of a draft that has none. */
export function setDefault(draft: JsonObject, key: string, value: Json): void {
  if (draft[key] === undefined || draft[key] === null) draft[key] = value;
}
