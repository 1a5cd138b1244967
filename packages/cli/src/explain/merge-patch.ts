/** JSON merge patches (RFC 7386): applied, and two of them made one. */
import { isObject } from "@joinery/api";

type Json = Readonly<Record<string, unknown>>;

/** The target as the patch leaves it; `null` takes a member away. */
export function merged(target: unknown, patch: object): Json {
  const result: Record<string, unknown> = { ...(isObject(target) ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = isObject(value) ? merged(result[name], value) : value;
  }
  return result;
}

/** What the one and then the other do. */
export function mergePatches(one: Json, other: Json): Json {
  const result: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = result[name];
    result[name] = isObject(before) && isObject(value) ? mergePatches(before, value) : value;
  }
  return result;
}
