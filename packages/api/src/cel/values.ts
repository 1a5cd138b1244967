/**
 * JSON as CEL sees it through a schema: whole numbers are int, formatted strings are timestamps, durations or bytes, and names that
 * CEL cannot say are escaped. Without the schema a 1 would be a double, and `self.a % 2` an error.
 */
import { Duration } from "@marcbachmann/cel-js/evaluator";
import { parseFormattedDuration } from "../schema/format.ts";
import { isObject, type JsonObject } from "../schema/json.ts";
import type { OpenApiSchema } from "../schema/open-api.ts";
import { childSchema } from "../schema/structure.ts";

const RESERVED = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(" "),
);
const ESCAPES: Readonly<Record<string, string>> = { ".": "__dot__", "-": "__dash__", "/": "__slash__", __: "__underscores__" };

/** The name of a property in a rule: `a-b` → `a__dash__b`. Undefined for names that rules cannot reach. */
export function celName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  const escaped = name.replaceAll(/__|[./-]/g, (part) => ESCAPES[part]!);
  return /^[A-Za-z_]\w*$/.test(escaped) ? escaped : undefined;
}

/** The CEL value of a JSON value. Makes copies; what it is given stays as it is. */
export function celValue(schema: OpenApiSchema, value: unknown): unknown {
  if (typeof value === "number") return celNumber(schema, value);
  if (typeof value === "string") return celText(schema, value);
  if (Array.isArray(value)) return value.map((item) => (schema.items === undefined ? looseValue(item) : celValue(schema.items, item)));
  return isObject(value) ? celObject(schema, value) : value;
}

function celNumber(schema: OpenApiSchema, value: number): number | bigint {
  const isInteger = schema.type === "integer" || schema["x-kubernetes-int-or-string"] === true;
  return isInteger && Number.isInteger(value) ? BigInt(value) : value;
}

function celText({ format, type }: OpenApiSchema, value: string): unknown {
  if (type !== "string") return value;
  switch (format) {
    case "date":
    case "date-time":
      return new Date(format === "date" ? `${value}T00:00:00Z` : value);
    case "duration": {
      const nanos = parseFormattedDuration(value);
      return nanos === undefined ? value : new Duration(nanos / 1_000_000_000n, Number(nanos % 1_000_000_000n));
    }
    case "byte":
      return Uint8Array.from(atob(value), (char) => char.charCodeAt(0));
    default:
      return value;
  }
}

function celObject(schema: OpenApiSchema, value: JsonObject): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null);
  for (const [name, child] of Object.entries(value)) {
    if (child === null && childSchema(schema, name)?.nullable !== true) continue;
    const childOf = childSchema(schema, name);
    const isProperty = schema.properties !== undefined && Object.hasOwn(schema.properties, name);
    result[isProperty ? (celName(name) ?? name) : name] = childOf === undefined ? looseValue(child) : celValue(childOf, child);
  }
  return result;
}

/** Values that no schema describes: whole numbers are int, as in the server's own conversion. */
function looseValue(value: unknown): unknown {
  if (typeof value === "number" && Number.isInteger(value)) return BigInt(value);
  if (Array.isArray(value)) return value.map(looseValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, looseValue(child)]));
}
