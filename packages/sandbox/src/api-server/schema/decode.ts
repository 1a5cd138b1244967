/**
 * Reads a JSON body into a draft of a built-in kind: a copy with known fields only, quantities in canonical form, and what was wrong.
 * Unknown fields are dropped and reported, since the caller chooses between refusing, warning and silence (`fieldValidation`).
 */
import type { Json, JsonObject } from "../objects/json.ts";
import { isObject } from "../objects/json.ts";
import { canonicalQuantity } from "../objects/quantity.ts";
import { canonicalTime, timeFault } from "./go-time.ts";
import type { Field, Shape } from "./shape.ts";

export interface DecodeReport {
  /** Paths of unknown fields, e.g. `spec.foo`. */
  readonly unknown: string[];
  /** The first value of a wrong JSON type, as the real decoder says it. */
  mistyped?: string;
}

export function decode(shape: Shape, value: unknown, report: DecodeReport): Json {
  return copyBy(shape, value, "", report);
}

function copyBy(shape: Shape, value: unknown, path: string, report: DecodeReport): Json {
  if (value === null || value === undefined) return null;
  switch (shape.kind) {
    case "object":
      return isObject(value) ? copyObject(shape.fields, value, path, report) : mistyped(value, path, "object", report);
    case "map":
      return isObject(value) ? copyMap(shape.value, value, path, report) : mistyped(value, path, "map", report);
    case "list":
      if (!Array.isArray(value)) return mistyped(value, path, "list", report);
      return value.map((item, index) => copyBy(shape.item, item, `${path}[${index}]`, report));
    case "quantity":
      if (typeof value !== "string" && typeof value !== "number") return mistyped(value, path, "quantity", report);
      return canonicalQuantity(value) ?? mistyped(value, path, "quantity", report);
    case "string":
    case "bytes":
      return typeof value === "string" ? value : mistyped(value, path, "string", report);
    case "time":
    case "micro-time":
      return typeof value === "string" ? aTime(value, shape.kind === "micro-time", report) : mistyped(value, path, "string", report);
    case "integer":
    case "number":
      return typeof value === "number" ? value : mistyped(value, path, shape.kind, report);
    case "boolean":
      return typeof value === "boolean" ? value : mistyped(value, path, "bool", report);
    case "int-or-string":
      return typeof value === "number" || typeof value === "string" ? value : mistyped(value, path, "int or string", report);
    case "any":
      return copyAny(value);
  }
}

function copyObject(fields: ReadonlyMap<string, Field>, value: JsonObject, path: string, report: DecodeReport): JsonObject {
  const copy: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === null || member === undefined) continue;
    const field = fields.get(key);
    const at = path === "" ? key : `${path}.${key}`;
    if (field === undefined) report.unknown.push(at);
    else if (!isLeftOut(field, member)) copy[key] = copyBy(field.shape, member, at, report);
  }
  return copy;
}

/** The server's own types leave empty lists and maps out, unless the field is required. */
function isLeftOut({ shape, isRequired }: Field, member: Json): boolean {
  if (isRequired) return false;
  if (shape.kind === "list") return Array.isArray(member) && member.length === 0;
  return shape.kind === "map" && isObject(member) && Object.keys(member).length === 0;
}

function copyMap(shape: Shape, value: JsonObject, path: string, report: DecodeReport): JsonObject {
  const copy: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    copy[key] = member === null ? emptyOf(shape) : copyBy(shape, member, `${path}.${key}`, report);
  }
  return copy;
}

/** Go decodes a null map value into the zero value of its type. */
function emptyOf(shape: Shape): Json {
  return shape.kind === "string" ? "" : shape.kind === "quantity" ? "0" : null;
}

function copyAny(value: unknown): Json {
  if (Array.isArray(value)) return value.map(copyAny);
  if (!isObject(value)) return value as Json;
  const copy: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) copy[key] = copyAny(member);
  }
  return copy;
}

function aTime(text: string, isMicro: boolean, report: DecodeReport): Json {
  const fault = timeFault(text, isMicro);
  report.mistyped ??= fault;
  return fault === undefined ? canonicalTime(text, isMicro) : null;
}

function mistyped(value: unknown, path: string, wanted: string, report: DecodeReport): Json {
  const got = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  report.mistyped ??=
    wanted === "quantity" && (got === "string" || got === "number")
      ? `unable to parse quantity's suffix or value ${JSON.stringify(value)} at ${path}`
      : `json: cannot unmarshal ${got} into field ${path} of type ${wanted}`;
  return null;
}
