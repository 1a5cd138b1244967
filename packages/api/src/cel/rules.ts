/** Runs the CEL rules of a schema over a value and, for transition rules, the stored one. */
import { Environment, Optional } from "@marcbachmann/cel-js";
import { type Issue, type IssueCode, type Path, shown } from "../schema/issue.ts";
import { isObject, propertyOf } from "../schema/json.ts";
import type { OpenApiSchema, ValidationRule } from "../schema/open-api.ts";
import { childSchema } from "../schema/structure.ts";
import { correlated, saysTheSame } from "../schema/unchanged.ts";
import { registerFunctions } from "./functions.ts";
import { adaptSource, isTransitionRule } from "./source.ts";
import { celValue } from "./values.ts";

interface CompiledRule {
  readonly source: ValidationRule;
  readonly isTransition: boolean;
  readonly evaluate: (context: { self: unknown; oldSelf?: unknown }) => unknown;
  readonly sayMessage: ((context: { self: unknown; oldSelf?: unknown }) => unknown) | undefined;
}

let environment: Environment | undefined;
const compiled = new WeakMap<ValidationRule, CompiledRule>();

/** The language in which rules are evaluated; `self` and `oldSelf` have whatever type their values have. */
function evaluationEnvironment(): Environment {
  if (environment === undefined) {
    environment = new Environment({ enableOptionalTypes: true, unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false });
    registerFunctions(environment);
  }
  return environment;
}

/** All rules of the schema, from the inside out. `value` must have the structure that the schema demands. */
export function checkRules(schema: OpenApiSchema, value: unknown, old?: unknown): Issue[] {
  const issues: Issue[] = [];
  visit(schema, value, old, [], issues);
  return issues;
}

/** True when there is any rule in the schema: most foreign CRDs have none. */
export function hasRules(schema: OpenApiSchema): boolean {
  return findRulesBelow(schema).any;
}

/** Where rules are at or below a schema, and whether some of them compare with the stored object; found once per schema. */
interface RulesBelow {
  readonly any: boolean;
  readonly transition: boolean;
}

const rulesBelow = new WeakMap<OpenApiSchema, RulesBelow>();

function findRulesBelow(schema: OpenApiSchema): RulesBelow {
  let found = rulesBelow.get(schema);
  if (found === undefined) {
    const own = schema["x-kubernetes-validations"] ?? [];
    const children = [schema.items, schema.additionalProperties, ...Object.values(schema.properties ?? {})];
    const below = children.flatMap((child) => (typeof child === "object" ? [findRulesBelow(child)] : []));
    found = {
      any: own.length > 0 || below.some(({ any }) => any),
      transition: own.some(({ rule }) => isTransitionRule(rule)) || below.some(({ transition }) => transition),
    };
    rulesBelow.set(schema, found);
  }
  return found;
}

/** `parentIsUnchanged` spares the comparison: then this value is unchanged, too. */
function visit(schema: OpenApiSchema, value: unknown, old: unknown, path: Path, issues: Issue[], parentIsUnchanged = false): void {
  const { any, transition } = findRulesBelow(schema);
  if (value === undefined || value === null || !any) return;
  const isUnchanged = old !== undefined && (parentIsUnchanged || saysTheSame(schema, value, old));
  if (isUnchanged && !transition) return;
  for (const rule of schema["x-kubernetes-validations"] ?? []) {
    const found = checkRule(rule, schema, value, old, isUnchanged, path);
    if (found !== undefined) issues.push(found);
  }
  const { items } = schema;
  if (Array.isArray(value) && items !== undefined) {
    value.forEach((item, at) => {
      visit(items, item, correlated(schema, item, at, old) ?? (isUnchanged ? item : undefined), [...path, at], issues, isUnchanged);
    });
  } else if (isObject(value)) {
    const before = isObject(old) ? old : undefined;
    for (const name of Object.keys(value)) {
      const child = childSchema(schema, name);
      if (child !== undefined) visit(child, value[name], before && propertyOf(before, name), [...path, name], issues, isUnchanged);
    }
  }
}

function checkRule(
  rule: ValidationRule,
  schema: OpenApiSchema,
  value: unknown,
  old: unknown,
  isUnchanged: boolean,
  path: Path,
): Issue | undefined {
  const { isTransition, evaluate, sayMessage } = compileRule(rule);
  if (isTransition ? old === undefined && rule.optionalOldSelf !== true : isUnchanged) return undefined;
  const context = contextOf(rule, schema, value, old, isTransition);
  let verdict: unknown;
  try {
    verdict = evaluate(context);
  } catch (error) {
    const reason = error instanceof Error ? ((error as { summary?: string }).summary ?? error.message) : String(error);
    const message = `Invalid value: ${shown(value)}: ${reason.trim()} evaluating rule: ${rule.message ?? rule.rule}`;
    return { path, code: "FieldValueInvalid", message };
  }
  if (verdict === true) return undefined;
  return issueOf(rule, value, path, saidMessage(sayMessage, context) ?? rule.message ?? `failed rule: ${rule.rule}`);
}

function contextOf(rule: ValidationRule, schema: OpenApiSchema, value: unknown, old: unknown, isTransition: boolean) {
  const self = celValue(schema, value);
  if (!isTransition) return { self };
  const oldSelf = old === undefined ? undefined : celValue(schema, old);
  if (rule.optionalOldSelf !== true) return { self, oldSelf };
  return { self, oldSelf: oldSelf === undefined ? Optional.none() : Optional.of(oldSelf) };
}

function saidMessage(say: CompiledRule["sayMessage"], context: { self: unknown }): string | undefined {
  if (say === undefined) return undefined;
  try {
    const text = say(context);
    return typeof text === "string" && text.trim() !== "" && !text.includes("\n") ? text : undefined;
  } catch {
    return undefined; // a server falls back to the fixed message, too
  }
}

function compileRule(rule: ValidationRule): CompiledRule {
  const known = compiled.get(rule);
  if (known !== undefined) return known;
  const env = evaluationEnvironment();
  const made: CompiledRule = {
    source: rule,
    isTransition: isTransitionRule(rule.rule),
    evaluate: env.parse(adaptSource(rule.rule)),
    sayMessage: rule.messageExpression === undefined ? undefined : env.parse(adaptSource(rule.messageExpression)),
  };
  compiled.set(rule, made);
  return made;
}

/** A composite is not shown, nor is a value when the rule names another field. */
function issueOf({ reason, fieldPath }: ValidationRule, value: unknown, path: Path, text: string): Issue {
  const code = (reason ?? "FieldValueInvalid") as IssueCode;
  const place = fieldPath === undefined ? path : [...path, ...parseFieldPath(fieldPath)];
  const subject = fieldPath === undefined && typeof value !== "object" ? `${shown(value)}: ` : "";
  switch (code) {
    case "FieldValueForbidden":
      return { path: place, code, message: `Forbidden: ${text}` };
    case "FieldValueRequired":
      return { path: place, code, message: `Required value: ${text}` };
    case "FieldValueDuplicate":
      return { path: place, code, message: `Duplicate value: ${shown(value)}` };
    default:
      return { path: place, code, message: `Invalid value: ${subject}${text}` };
  }
}

/** `.spec['a.b'].c` → its steps. */
export function parseFieldPath(text: string): string[] {
  return [...text.matchAll(/\.([^.[\]]+)|\['((?:\\.|[^'\\])*)'\]/g)].map(([, word, quoted]) => word ?? quoted!.replaceAll(/\\(.)/g, "$1"));
}
