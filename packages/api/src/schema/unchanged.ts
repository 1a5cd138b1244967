/** Whether an update leaves a value as it is stored: then ratcheting does not judge it again. Lists of type map have no order. */
import { isEqualJson, isObject, propertyOf } from "./json.ts";
import type { OpenApiSchema } from "./open-api.ts";

export function saysTheSame(schema: OpenApiSchema, value: unknown, old: unknown): boolean {
  if (isEqualJson(value, old)) return true;
  if (!hasListMap(schema)) return false;
  if (Array.isArray(value)) {
    const { items = {} } = schema;
    if (!Array.isArray(old) || old.length !== value.length) return false;
    return value.every((item, at) => {
      const before = isListMap(schema) ? correlated(schema, item, at, old) : old[at];
      return before !== undefined && saysTheSame(items, item, before);
    });
  }
  if (!isObject(value) || !isObject(old)) return false;
  const names = new Set([...Object.keys(value), ...Object.keys(old)]);
  return [...names].every((name) => {
    const [after, before] = [propertyOf(value, name), propertyOf(old, name)];
    return after === before || (after !== undefined && before !== undefined && saysTheSame(memberSchema(schema, name), after, before));
  });
}

/** The stored item that a list item continues; only lists of type map can tell, others are compared as a whole. */
export function correlated(schema: OpenApiSchema, item: unknown, at: number, old: unknown): unknown {
  if (!Array.isArray(old)) return undefined;
  const keys = schema["x-kubernetes-list-type"] === "map" ? schema["x-kubernetes-list-map-keys"] : undefined;
  if (keys === undefined) return undefined;
  if (!isObject(item)) return old[at];
  return old.find((one) => isObject(one) && keys.every((key) => isEqualJson(propertyOf(one, key), propertyOf(item, key))));
}

function isListMap(schema: OpenApiSchema): boolean {
  return schema["x-kubernetes-list-type"] === "map" && schema["x-kubernetes-list-map-keys"] !== undefined;
}

function memberSchema({ properties, additionalProperties }: OpenApiSchema, name: string): OpenApiSchema {
  const known = properties === undefined ? undefined : (propertyOf(properties, name) as OpenApiSchema | undefined);
  return known ?? (isObject(additionalProperties) ? (additionalProperties as OpenApiSchema) : {});
}

const knownListMaps = new WeakMap<OpenApiSchema, boolean>();

/** Whether the order of anything below does not count. Schemas of definitions do not contain themselves. */
function hasListMap(schema: OpenApiSchema): boolean {
  const known = knownListMaps.get(schema);
  if (known !== undefined) return known;
  const { items, properties = {}, additionalProperties } = schema;
  const below = [items, ...Object.values(properties), additionalProperties].filter(isObject) as OpenApiSchema[];
  const found = isListMap(schema) || below.some(hasListMap);
  knownListMaps.set(schema, found);
  return found;
}
