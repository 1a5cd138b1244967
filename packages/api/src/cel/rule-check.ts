/** Compiles a CEL rule against the types of its schema, as an API server does when the CRD is created: a wrong field is an error then. */
import { Environment } from "@marcbachmann/cel-js";
import type { Issue } from "../schema/issue.ts";
import { shown } from "../schema/issue.ts";
import type { OpenApiSchema, ValidationRule } from "../schema/open-api.ts";
import { childSchema } from "../schema/structure.ts";
import { registerFunctions } from "./functions.ts";
import { parseFieldPath } from "./rules.ts";
import { adaptSource, isTransitionRule } from "./source.ts";
import { celName } from "./values.ts";

const environments = new WeakMap<OpenApiSchema, Environments>();

/** What is wrong with a rule; paths are relative to it. `canCompare`: whether its place has a stored value to compare with. */
export function checkRuleSource(schema: OpenApiSchema, rule: ValidationRule, canCompare: boolean): Issue[] {
  if (typeof rule.rule !== "string" || rule.rule.trim() === "") {
    return [{ path: ["rule"], code: "FieldValueRequired", message: "Required value: rule is not specified" }];
  }
  if (isTransitionRule(rule.rule) && !canCompare) {
    return [
      {
        path: ["rule"],
        code: "FieldValueInvalid",
        message: `Invalid value: ${shown(rule.rule)}: oldSelf cannot be used on the uncorrelatable portion of the schema`,
      },
    ];
  }
  return [...checkExpression(schema, rule.rule, "rule", "bool", rule), ...checkMessage(schema, rule), ...checkAnswer(schema, rule)];
}

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** Reason and place that the rule's own errors have. */
function checkAnswer(schema: OpenApiSchema, { reason, fieldPath }: ValidationRule): Issue[] {
  const issues: Issue[] = [];
  if (reason !== undefined && !REASONS.includes(reason)) {
    const message = `Unsupported value: ${shown(reason)}: supported values: ${REASONS.map(shown).join(", ")}`;
    issues.push({ path: ["reason"], code: "FieldValueNotSupported", message });
  }
  if (fieldPath !== undefined && !leadsSomewhere(schema, parseFieldPath(fieldPath))) {
    issues.push({ path: ["fieldPath"], code: "FieldValueInvalid", message: `Invalid value: ${shown(fieldPath)}: must be a valid path` });
  }
  return issues;
}

function leadsSomewhere(schema: OpenApiSchema, steps: readonly string[]): boolean {
  const end = steps.reduce<OpenApiSchema | undefined>((one, step) => one && childSchema(one, step), schema);
  return steps.length > 0 && end !== undefined;
}

function checkMessage(schema: OpenApiSchema, rule: ValidationRule): Issue[] {
  return rule.messageExpression === undefined ? [] : checkExpression(schema, rule.messageExpression, "messageExpression", "string", rule);
}

function checkExpression(schema: OpenApiSchema, text: string, field: string, wanted: string, { optionalOldSelf }: ValidationRule): Issue[] {
  const env = environmentOf(schema, optionalOldSelf === true);
  const { valid, type, error } = env.check(adaptSource(text));
  const said = valid
    ? (typeFault(type, field, wanted) ?? unknownField(env, text))
    : `compilation failed: ${(error?.summary ?? error?.message ?? "").trim()}`;
  return said === undefined ? [] : [{ path: [field], code: "FieldValueInvalid", message: `Invalid value: ${shown(text)}: ${said}` }];
}

function typeFault(type: string | undefined, field: string, wanted: string): string | undefined {
  if (type === wanted || type === "dyn") return undefined;
  return field === "rule" ? "cel expression must evaluate to a bool" : `${field} must evaluate to a ${wanted}`;
}

/** The engine lets `has()` ask for fields that no object can have; a server does not. Read as a plain function, it must not. */
function unknownField(env: Environment, text: string): string | undefined {
  if (!/\bhas\s*\(/.test(text)) return undefined;
  const { valid, error } = env.check(adaptSource(text, { has: "isPresent" }));
  const summary = error?.summary ?? error?.message ?? "";
  return valid || !summary.includes("No such key") ? undefined : `compilation failed: ${summary.trim()}`;
}

interface Environments {
  readonly plain: Environment;
  readonly optional: Environment;
}

/** With `optionalOldSelf`, the stored value may be absent and is an optional. */
function environmentOf(schema: OpenApiSchema, isOptional: boolean): Environment {
  let both = environments.get(schema);
  if (both === undefined) {
    both = { plain: environmentFor(schema, false), optional: environmentFor(schema, true) };
    environments.set(schema, both);
  }
  return isOptional ? both.optional : both.plain;
}

function environmentFor(schema: OpenApiSchema, isOptional: boolean): Environment {
  const env = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  registerFunctions(env);
  env.registerFunction("isPresent(dyn): bool", () => true);
  const type = typeOf(schema, env, { count: 0 });
  return env.registerVariable("self", type).registerVariable("oldSelf", isOptional ? `optional<${type}>` : type);
}

/** Name of the CEL type of a schema; objects with properties get a type of their own. */
function typeOf(schema: OpenApiSchema, env: Environment, made: { count: number }): string {
  if (schema["x-kubernetes-int-or-string"] === true || schema.nullable === true) return "dyn";
  switch (schema.type) {
    case "string":
      return typeOfFormat(schema.format);
    case "integer":
      return "int";
    case "number":
      return "double";
    case "boolean":
      return "bool";
    case "array":
      return `list<${schema.items === undefined ? "dyn" : typeOf(schema.items, env, made)}>`;
    case "object":
      return typeOfObject(schema, env, made);
    default:
      return "dyn";
  }
}

function typeOfFormat(format: string | undefined): string {
  switch (format) {
    case "date":
    case "date-time":
      return "google.protobuf.Timestamp";
    case "duration":
      return "google.protobuf.Duration";
    case "byte":
      return "bytes";
    default:
      return "string";
  }
}

function typeOfObject(schema: OpenApiSchema, env: Environment, made: { count: number }): string {
  const { properties, additionalProperties } = schema;
  if (typeof additionalProperties === "object") return `map<string, ${typeOf(additionalProperties, env, made)}>`;
  if (properties === undefined || schema["x-kubernetes-embedded-resource"] === true) return "dyn";
  const fields: Record<string, string> = {};
  for (const [name, property] of Object.entries(properties)) {
    const field = celName(name);
    if (field !== undefined) fields[field] = name === "metadata" && property.properties === undefined ? "dyn" : typeOf(property, env, made);
  }
  const name = `Object${made.count++}`;
  env.registerType({ name, schema: fields });
  env.registerOperator(`${name} == ${name}`, () => true);
  return name;
}
