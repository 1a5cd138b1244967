/**
 * Checks a value against a structural schema without its CEL rules: types, texts, numbers, sizes, required fields, lists as sets and
 * maps. What did not change since the stored object is not judged again (validation ratcheting).
 */

import { integerRange, isOfFormat } from "./format.ts";
import { formatPath, type Issue, type IssueCode, type Path, shown } from "./issue.ts";
import { isEqualJson, isObject, type JsonObject, propertyOf } from "./json.ts";
import type { OpenApiSchema } from "./open-api.ts";
import { compilePattern } from "./regular-expression.ts";
import { correlated, saysTheSame } from "./unchanged.ts";

export function checkStructure(schema: OpenApiSchema, value: unknown, old?: unknown): Issue[] {
  const issues: Issue[] = [];
  checkValue(schema, value, old, [], issues);
  return issues;
}

function checkValue(schema: OpenApiSchema, value: unknown, old: unknown, path: Path, issues: Issue[]): void {
  if (old !== undefined && saysTheSame(schema, value, old)) return;
  if (value === null && schema.nullable === true) return;
  if (!checkType(schema, value, path, issues)) return;
  if (schema.enum !== undefined && !schema.enum.some((admitted) => isEqualJson(admitted, value))) {
    const admitted = schema.enum.map((one) => JSON.stringify(one)).join(", ");
    issues.push({
      path,
      code: "FieldValueNotSupported",
      message: `Unsupported value: ${shown(value)}: supported values: ${admitted}`,
      wanted: admitted,
    });
  }
  if (typeof value === "string") checkText(schema, value, path, issues);
  else if (typeof value === "number") checkNumber(schema, value, path, issues);
  else if (Array.isArray(value)) checkList(schema, value, old, path, issues);
  else if (isObject(value)) checkObject(schema, value, old, path, issues);
  checkLogic(schema, value, path, issues);
}

/** False when the type is wrong, so that nothing else about the value is worth saying. */
function checkType(schema: OpenApiSchema, value: unknown, path: Path, issues: Issue[]): boolean {
  const actual = typeOf(value);
  if (schema["x-kubernetes-int-or-string"] === true) {
    if (actual === "integer" || actual === "string") return true;
    issues.push(wrongType(path, actual, "integer,string"));
    return false;
  }
  if (schema.type === undefined || schema.type === "" || schema.type === actual || (schema.type === "number" && actual === "integer")) {
    return value !== null || schema.type === undefined;
  }
  const isFraction = actual === "number" && schema.type === "integer";
  issues.push(wrongType(path, isFraction ? "float64" : actual, isFraction ? (schema.format ?? "integer") : schema.type));
  return false;
}

function wrongType(path: Path, actual: string, wanted: string): Issue {
  const message = `Invalid value: "${actual}": ${formatPath(path)} in body must be of type ${wanted}: "${actual}"`;
  return { path, code: "FieldValueTypeInvalid", message, wanted: `a value of type ${wanted}` };
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** Says the first of the limits that a text breaks, and whether it is of its format. */
function checkText(schema: OpenApiSchema, value: string, path: Path, issues: Issue[]): void {
  const say = invalid(path, value, issues);
  const { maxLength, minLength, pattern, format } = schema;
  const length = maxLength === undefined && minLength === undefined ? 0 : [...value].length;
  if (maxLength !== undefined && length > maxLength) {
    const message = `Too long: may not be more than ${maxLength} bytes`;
    issues.push({ path, code: "FieldValueTooLong", message, wanted: `at most ${maxLength} characters` });
  } else if (minLength !== undefined && length < minLength) {
    say(`should be at least ${minLength} chars long`);
  } else if (pattern !== undefined && !compilePattern(pattern).test(value)) {
    say(`should match '${pattern}'`);
  }
  if (format !== undefined && !isOfFormat(value, format)) {
    const message = `Invalid value: ${shown(value)}: ${formatPath(path)} in body must be of type ${format}: ${shown(value)}`;
    issues.push({ path, code: "FieldValueTypeInvalid", message, wanted: `a text of format ${format}` });
  }
}

function checkNumber(schema: OpenApiSchema, value: number, path: Path, issues: Issue[]): void {
  const say = invalid(path, value, issues);
  const { minimum, maximum, multipleOf } = schema;
  if (minimum !== undefined && (schema.exclusiveMinimum === true ? value <= minimum : value < minimum)) {
    say(`should be greater than ${schema.exclusiveMinimum === true ? "" : "or equal to "}${minimum}`);
  }
  if (maximum !== undefined && (schema.exclusiveMaximum === true ? value >= maximum : value > maximum)) {
    say(`should be less than ${schema.exclusiveMaximum === true ? "" : "or equal to "}${maximum}`);
  }
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) say(`should be a multiple of ${multipleOf}`);
  if (schema.type === "integer" && (schema.format === "int32" || schema.format === "int64")) {
    const [least, most] = integerRange(schema.format);
    if (BigInt(value) < least || BigInt(value) > most) say(`must be of type ${schema.format}: "${value}"`);
  }
}

function checkList(schema: OpenApiSchema, value: readonly unknown[], old: unknown, path: Path, issues: Issue[]): void {
  if (schema.maxItems !== undefined && value.length > schema.maxItems) issues.push(tooMany(path, value.length, schema.maxItems));
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    invalid(path, value.length, issues)(`should have at least ${schema.minItems} items`);
  }
  const { items } = schema;
  if (items !== undefined) {
    value.forEach((item, at) => {
      checkValue(items, item, correlated(schema, item, at, old), [...path, at], issues);
    });
  }
  const keys = schema["x-kubernetes-list-type"] === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : undefined;
  if (keys !== undefined || schema["x-kubernetes-list-type"] === "set" || schema.uniqueItems === true)
    checkUnique(value, keys, path, issues);
}

function checkUnique(value: readonly unknown[], keys: readonly string[] | undefined, path: Path, issues: Issue[]): void {
  const seen = new Set<string>();
  value.forEach((item, at) => {
    const identity = keys === undefined || !isObject(item) ? item : Object.fromEntries(keys.map((key) => [key, propertyOf(item, key)]));
    const text = JSON.stringify(identity);
    if (seen.has(text)) issues.push({ path: [...path, at], code: "FieldValueDuplicate", message: `Duplicate value: ${text}` });
    seen.add(text);
  });
}

function checkObject(schema: OpenApiSchema, value: JsonObject, old: unknown, path: Path, issues: Issue[]): void {
  const names = Object.keys(value);
  const before = isObject(old) ? old : undefined;
  const required =
    schema["x-kubernetes-embedded-resource"] === true ? [...(schema.required ?? []), "apiVersion", "kind"] : (schema.required ?? []);
  for (const name of required) {
    if (propertyOf(value, name) === undefined)
      issues.push({ path: [...path, name], code: "FieldValueRequired", message: "Required value" });
  }
  if (schema.maxProperties !== undefined && names.length > schema.maxProperties)
    issues.push(tooMany(path, names.length, schema.maxProperties));
  if (schema.minProperties !== undefined && names.length < schema.minProperties) {
    invalid(path, names.length, issues)(`should have at least ${schema.minProperties} properties`);
  }
  for (const name of names) {
    const child = childSchema(schema, name);
    if (child !== undefined && value[name] !== undefined)
      checkValue(child, value[name], before && propertyOf(before, name), [...path, name], issues);
  }
}

/** The schema of one field; undefined where the schema says nothing about it. */
export function childSchema({ properties, additionalProperties }: OpenApiSchema, name: string): OpenApiSchema | undefined {
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

function checkLogic(schema: OpenApiSchema, value: unknown, path: Path, issues: Issue[]): void {
  const holds = (part: OpenApiSchema) => {
    const found: Issue[] = [];
    checkValue(part, value, undefined, path, found);
    return found.length === 0;
  };
  const say = invalid(path, value, issues);
  for (const part of schema.allOf ?? []) checkValue(part, value, undefined, path, issues);
  if (schema.anyOf !== undefined && schema["x-kubernetes-int-or-string"] !== true && !schema.anyOf.some(holds))
    say("must validate at least one schema (anyOf)");
  if (schema.oneOf !== undefined && schema.oneOf.filter(holds).length !== 1) say("must validate one and only one schema (oneOf)");
  if (schema.not !== undefined && holds(schema.not)) say("must not validate the schema (not)");
}

function invalid(path: Path, value: unknown, issues: Issue[]): (text: string) => void {
  return (text) =>
    issues.push({
      path,
      code: "FieldValueInvalid",
      message: `Invalid value: ${shown(value)}: ${formatPath(path)} in body ${text}`,
      wanted: text,
    });
}

function tooMany(path: Path, count: number, max: number): Issue {
  return { path, code: "FieldValueTooMany", message: `Too many: ${count}: must have at most ${max} items`, wanted: `at most ${max} items` };
}

/** Errors after which an API server does not ask the CEL rules any more. */
const BLOCKING: readonly IssueCode[] = [
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
  "FieldValueNotSupported",
];

export function isBlocking({ code }: Issue): boolean {
  return BLOCKING.includes(code);
}
