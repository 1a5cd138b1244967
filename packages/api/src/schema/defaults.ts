/** Fills absent fields with the schema's defaults, from the outside in. Rule A-8. */
import { isObject, type JsonObject } from "./json.ts";
import type { OpenApiSchema } from "./open-api.ts";

/**
 * A copy with all defaults, or the same object where none is missing. A null where null is not allowed counts as absent: the default
 * takes its place, and without a default the field goes.
 */
export function withDefaults(schema: OpenApiSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    const filled = value.map((item) => withDefaults(items, item));
    return filled.every((item, at) => item === value[at]) ? value : filled;
  }
  return isObject(value) ? objectWithDefaults(schema, value) : value;
}

function objectWithDefaults(schema: OpenApiSchema, value: JsonObject): JsonObject {
  const { properties = {}, additionalProperties } = schema;
  let changed: Record<string, unknown> | undefined;
  const set = (name: string, child: unknown) => {
    changed ??= { ...value };
    if (child === undefined) delete changed[name];
    else changed[name] = child;
  };
  for (const [name, property] of Object.entries(properties)) {
    const child = Object.hasOwn(value, name) ? value[name] : undefined;
    const isAbsent = child === undefined || (child === null && property.nullable !== true);
    if (isAbsent && property.default === undefined) {
      if (child === null) set(name, undefined);
      continue;
    }
    const filled = withDefaults(property, isAbsent ? structuredClone(property.default) : child);
    if (filled !== child) set(name, filled);
  }
  if (typeof additionalProperties === "object") {
    for (const [name, child] of Object.entries(value)) {
      if (Object.hasOwn(properties, name)) continue;
      const isAbsent = child === null && additionalProperties.nullable !== true;
      const filled = withDefaults(additionalProperties, isAbsent ? structuredClone(additionalProperties.default) : child);
      if (filled !== child) set(name, filled);
    }
  }
  return changed ?? value;
}
