/** Every rule of our CRDs, asked of two independent CEL engines on values made from the schemas. */
import { celEnv, parse, plan } from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Kind } from "../kubernetes/kinds.ts";
import { crdOf, OWNED_KINDS } from "../owned/definitions.ts";
import type { OpenApiSchema, ValidationRule } from "../schema/open-api.ts";
import { checkRules } from "./rules.ts";
import { isTransitionRule } from "./source.ts";
import { celValue } from "./values.ts";

const VALUES_PER_RULE = 150;
const SEED = 20261201;

interface PlacedRule {
  readonly name: string;
  readonly schema: OpenApiSchema;
  readonly rule: ValidationRule;
}

function placedRules(name: string, schema: OpenApiSchema): PlacedRule[] {
  const own = (schema["x-kubernetes-validations"] ?? []).map((rule) => ({ name, schema, rule }));
  const children = Object.entries(schema.properties ?? {}).flatMap(([field, child]) => placedRules(`${name}.${field}`, child));
  const items = schema.items === undefined ? [] : placedRules(`${name}[]`, schema.items);
  const values = typeof schema.additionalProperties === "object" ? placedRules(`${name}{}`, schema.additionalProperties) : [];
  return [...own, ...children, ...items, ...values];
}

/** The schema without any rule but the one. */
function alone(schema: OpenApiSchema, rule?: ValidationRule): OpenApiSchema {
  const { "x-kubernetes-validations": _, items, properties, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...(rule && { "x-kubernetes-validations": [rule] }),
    ...(items && { items: alone(items) }),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, alone(child)])) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: alone(additionalProperties) }),
  };
}

/** Texts near the edges of a rule: what it names, and what is almost that. */
function textsOf({ rule }: ValidationRule): fc.Arbitrary<string> {
  const named = [...rule.matchAll(/'([^']*)'/g)].map(([, text]) => text!);
  const edges = named.flatMap((text) => [text, `${text}/x`, `x.${text}`, `my${text}`, `${text}@latest`, `${text}@v1`, text.toUpperCase()]);
  // Not "0b1", which the second engine takes for a number and a server does not.
  const numbers = ["0", "1", "-1", "+5", "", " 1", "1.5", "0x1", "9223372036854775807", "9223372036854775808", "00", "1_0", "-0"];
  const domains = [
    "karpenter.sh/x",
    "a.karpenter.sh/x",
    "mykarpenter.sh",
    "karpenter.sh",
    "/karpenter.sh",
    "a/karpenter.sh/b",
    "karpenter.k8s.aws/x",
    "a\nkarpenter.sh/x",
  ];
  return fc.oneof(fc.constantFrom(...edges, ...numbers, ...domains, "a b", "é", "al2023@latest", "x@"), fc.string({ maxLength: 6 }));
}

function anyOf(schema: OpenApiSchema, texts: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  if (schema["x-kubernetes-int-or-string"] === true) return fc.oneof(fc.integer({ min: -2, max: 5 }), texts);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case "string":
      return schema.format === undefined ? texts : fc.constant(undefined);
    case "integer":
      return fc.integer({ min: -1, max: 3 });
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(schema.items === undefined ? texts : anyOf(schema.items, texts), { maxLength: 3 });
    default:
      return objectOf(schema, texts);
  }
}

function objectOf({ properties, additionalProperties, required = [] }: OpenApiSchema, texts: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  if (typeof additionalProperties === "object") return fc.dictionary(texts, anyOf(additionalProperties, texts), { maxKeys: 3 });
  const fields = Object.fromEntries(Object.entries(properties ?? {}).map(([name, child]) => [name, anyOf(child, texts)]));
  const requiredKeys = required.filter((name) => name in fields);
  const least = Object.fromEntries(requiredKeys.map((name) => [name, fields[name]!]));
  const records = fc.oneof({ weight: 1, arbitrary: fc.record(least) }, { weight: 4, arbitrary: fc.record(fields, { requiredKeys }) });
  return records.map((object) => JSON.parse(JSON.stringify(object)) as unknown);
}

type Verdict = "yes" | "no" | "error";

function ours({ schema, rule }: PlacedRule, self: unknown, oldSelf: unknown): Verdict {
  const issues = checkRules(alone(schema, rule), self, isTransitionRule(rule.rule) ? oldSelf : undefined);
  if (issues.length === 0) return "yes";
  return issues[0]!.message.includes("evaluating rule") ? "error" : "no";
}

const env = celEnv({ funcs: [...strings] });

function second({ schema, rule }: PlacedRule): (self: unknown, oldSelf: unknown) => Verdict {
  const evaluate = plan(env, parse(rule.rule));
  return (self, oldSelf) => {
    const result: unknown = evaluate({ self: mapped(celValue(schema, self)), oldSelf: mapped(celValue(schema, oldSelf)) } as never);
    return result === true ? "yes" : result === false ? "no" : "error";
  };
}

/** The second engine wants maps for objects. */
function mapped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mapped);
  if (typeof value !== "object" || value === null) return value;
  return new Map(Object.entries(value).map(([name, child]) => [name, mapped(child)]));
}

const rulesOf = (kind: Kind) => placedRules("", crdOf(kind).spec.versions[0]!.schema!.openAPIV3Schema!);

describe.each(OWNED_KINDS.filter((kind) => rulesOf(kind).length > 0))("$kind", (kind) => {
  test.each(rulesOf(kind).map((placed) => [`${placed.name}: ${placed.rule.message}`, placed] as const))("%s", (_, placed) => {
    const arbitrary = anyOf(placed.schema, textsOf(placed.rule));
    const secondVerdict = second(placed);
    const values = fc.sample(fc.tuple(arbitrary, arbitrary, fc.boolean()), { numRuns: VALUES_PER_RULE, seed: SEED });
    const verdicts = values.map(([self, other, isSame]) => {
      const old = isSame ? structuredClone(self) : other;
      const verdict = ours(placed, self, old);
      expect({ self, old, verdict }).toEqual({ self, old, verdict: secondVerdict(self, old) });
      return verdict;
    });
    expect(verdicts).toContain("yes");
    expect(verdicts.some((verdict) => verdict !== "yes")).toBe(true);
  });
});
