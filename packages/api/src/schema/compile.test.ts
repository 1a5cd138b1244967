/** The engine against a CRD that is not ours: same verdicts, words and stored objects as kube-apiserver 1.37 gave. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compileSchema, compileVersion } from "./compile.ts";
import { checkDefinition } from "./definition.ts";
import { formatIssue } from "./issue.ts";
import type { OpenApiSchema } from "./open-api.ts";
import { WIDGET_CRD } from "./widget.ts";

interface Verdict {
  readonly name: string;
  readonly spec: object;
  /** Spec of the stored object; absent on create. */
  readonly old?: object;
  /** `path: message` of each fault, sorted; empty where the server words a choice of schemas in its own way. */
  readonly faults?: readonly string[];
  /** The spec as it was stored. */
  readonly stored?: object;
}

const verdicts = JSON.parse(readFileSync(new URL("widget-verdicts.json", import.meta.url), "utf8")) as readonly Verdict[];
const engine = compileVersion(WIDGET_CRD.spec.versions[0]!);
const widget = (spec: object) => ({ apiVersion: "joinery.dev/v1", kind: "Widget", metadata: { name: "w" }, spec });

test.each(verdicts)("$name", ({ spec, old, faults, stored }) => {
  const given = widget(spec);
  const before = structuredClone(given);
  const object = engine.withDefaults(engine.prune(given).object) as ReturnType<typeof widget>;
  const found = engine
    .validate(object, old && engine.withDefaults(widget(old)))
    .map(formatIssue)
    .sort();
  if (faults === undefined) expect({ found, spec: object.spec }).toEqual({ found: [], spec: stored });
  else if (faults.length === 0) expect(found).not.toEqual([]);
  else expect(found).toEqual(faults);
  expect(given).toEqual(before);
});

test("unknown fields are named, and nothing is copied without need", () => {
  const strange = widget({ foo: 1, nested: { a: "b", zzz: 1 }, free: { any: { thing: 1 } }, parts: [{ name: "a", q: 1 }] });
  expect(engine.prune(strange).unknown.map((path) => path.join("."))).toEqual(["spec.foo", "spec.nested.zzz", "spec.parts.0.q"]);
  const complete = widget({ color: "red", parts: [{ name: "a", count: 1 }] });
  expect(engine.prune(complete).object).toBe(complete);
  expect(engine.withDefaults(complete)).toBe(complete);
});

test("__proto__ and the like are names as any other", () => {
  const evil = JSON.parse('{"spec": {"limits": {"__proto__": 1, "constructor": -1}, "toString": "x"}}') as object;
  const { object, unknown } = engine.prune(evil);
  expect(unknown).toEqual([["spec", "toString"]]);
  expect(engine.validate(object).map(formatIssue)).toEqual([
    "spec.limits.constructor: Invalid value: -1: spec.limits.constructor in body should be greater than or equal to 0",
  ]);
});

describe("ratcheting: what an update leaves as it was is not judged again, as kube-apiserver 1.37 does it", () => {
  const text = { type: "string", maxLength: 9 };
  const rule = (cel: string, message: string) => ({ "x-kubernetes-validations": [{ rule: cel, message }] });
  const part = { name: text, n: { type: "integer", maximum: 5 }, s: { ...text, ...rule("self == 'ok'", "s must be ok") } };
  const listMap: OpenApiSchema = {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    items: { type: "object", required: ["name"], properties: part },
  };
  const tightened = compileSchema({
    type: "object",
    required: ["must"],
    properties: {
      must: text,
      size: { type: "integer", maximum: 5 },
      list: { type: "array", maxItems: 2, items: { type: "string", pattern: "^a" } },
      parts: listMap,
      few: { type: "object", maxProperties: 0, properties: { parts: listMap } },
      set: { type: "array", "x-kubernetes-list-type": "set", maxItems: 2, items: { type: "string" } },
      m: { type: "object", additionalProperties: { type: "integer", maximum: 5 } },
      o: { type: "object", properties: { a: text, b: text }, ...rule("!has(self.a) || self.a == 'ok'", "a must be ok") },
      t: { type: "integer", ...rule("self > oldSelf", "must grow") },
    },
  });
  const x = { name: "x", n: 9, s: "no" };
  const y = { name: "y", n: 1 };
  /** Stored before the schema was tightened. */
  const old = {
    size: 9,
    list: ["b", "a", "c"],
    parts: [x, y],
    few: { parts: [x, y] },
    set: ["a", "b", "c"],
    m: { q: 9, r: 1 },
    o: { a: "no", b: "1" },
    t: 5,
  };
  const grown = { ...old, must: "x", t: 6 };

  test.each<[string, object, string[]]>([
    ["nothing changed, but a transition rule always looks", old, ["t: Invalid value: 5: must grow"]],
    ["all that was wrong stays", grown, []],
    ["another field of a map", { ...grown, m: { q: 9, r: 2 } }, []],
    [
      "a field of a map gets worse",
      { ...grown, m: { q: 10, r: 1 } },
      ["m.q: Invalid value: 10: m.q in body should be less than or equal to 5"],
    ],
    ["a wrong field changes", { ...grown, size: 8 }, ["size: Invalid value: 8: size in body should be less than or equal to 5"]],
    ["the object around a rule changes", { ...grown, o: { a: "no", b: "2" } }, ["o: Invalid value: a must be ok"]],
    ["the order of a list map, which is none", { ...grown, parts: [y, x] }, []],
    ["the order of a list map, inside a wrong size", { ...grown, few: { parts: [y, x] } }, []],
    ["the order of a set", { ...grown, set: ["c", "b", "a"] }, ["set: Too many: 3: must have at most 2 items"]],
    ["another item of a list map", { ...grown, parts: [x, { name: "y", n: 2 }] }, []],
    [
      "a wrong item of a list map",
      { ...grown, parts: [{ ...x, n: 8 }, y] },
      ["parts[0].n: Invalid value: 8: parts[0].n in body should be less than or equal to 5"],
    ],
    ["a new item of a list map", { ...grown, parts: [x, y, { name: "z", s: "no" }] }, ['parts[2].s: Invalid value: "no": s must be ok']],
    [
      "a plain list changes: all of it is new",
      { ...grown, list: ["b", "a"] },
      ["list[0]: Invalid value: \"b\": list[0] in body should match '^a'"],
    ],
  ])("%s", (_, changed, faults) => {
    expect(tightened.validate(changed, old).map(formatIssue)).toEqual(faults);
  });
});

describe("definitions", () => {
  const text: OpenApiSchema = { type: "string", maxLength: 50 };
  const object = (properties: Record<string, OpenApiSchema>, more: object = {}): OpenApiSchema => ({ type: "object", properties, ...more });
  const ruled = (rule: string, more: object = {}, of: OpenApiSchema = text) =>
    object({ a: of }, { "x-kubernetes-validations": [{ rule, message: "no", ...more }] });
  const list = (more: object, items: OpenApiSchema = object({ a: text })): OpenApiSchema => ({
    type: "array",
    maxItems: 5,
    items,
    ...more,
  });
  const faults = (spec: OpenApiSchema) => {
    const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: object({ spec }) } };
    return checkDefinition({ ...WIDGET_CRD, spec: { ...WIDGET_CRD.spec, versions: [version] } })
      .map(formatIssue)
      .map((fault) => fault.replace("spec.versions[0].schema.openAPIV3Schema.properties.spec", "$"));
  };

  test.each<[string, OpenApiSchema]>([
    ["a rule", ruled("self.a == 'x'")],
    [
      "escaped names",
      object({ "a-b": text, namespace: text }, { "x-kubernetes-validations": [{ rule: "self.a__dash__b == self.__namespace__" }] }),
    ],
    ["an optional stored self", ruled("!oldSelf.hasValue() || oldSelf.value().a == self.a", { optionalOldSelf: true })],
    ["optional fields", ruled("self.?a.orValue('x') == 'x'")],
    ["a message expression", ruled("self.a == 'x'", { messageExpression: "'got ' + self.a" })],
    [
      "functions of Kubernetes",
      ruled("self.a.find('x+') == '' && isQuantity(self.a) && sets.contains([1], [1]) && self.a.charAt(0) == 'x'"),
    ],
    [
      "the stored self in a list map",
      list({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] }, { ...ruled("self.a == oldSelf.a"), required: ["a"] }),
    ],
    ["int or string", object({ a: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] } })],
    ["a default list", object({ a: { type: "array", items: text, default: ["x"] } })],
  ])("%s", (_, spec) => {
    expect(faults(spec)).toEqual([]);
  });

  test.each<[string, OpenApiSchema, RegExp]>([
    ["no type", { properties: { a: text } }, /^\$\.type: Required value/],
    ["an unknown type", { type: "text" }, /^\$\.type: Unsupported value: "text"/],
    ["no items", { type: "array" }, /^\$\.items: Required value: must be specified/],
    ["properties and additionalProperties", object({ a: text }, { additionalProperties: text }), /mutual exclusive/],
    ["a pattern that is none", object({ a: { type: "string", pattern: "(" } }), /must be a valid regular expression/],
    ["keywords of others", object({ a: { type: "object", patternProperties: {} } as OpenApiSchema }), /patternProperties: Forbidden/],
    ["a wrong field", ruled("self.b == 'x'"), /compilation failed: No such key: b/],
    ["has() of a wrong field", ruled("has(self.b)"), /compilation failed: No such key: b/],
    ["no bool", ruled("self.a"), /must evaluate to a bool/],
    ["syntax", ruled("self.a =="), /compilation failed/],
    ["types", ruled("self.a > 1"), /no such overload: string > int/],
    ["an empty rule", ruled(""), /rule is not specified/],
    ["the stored self in a plain list", list({}, ruled("self.a == oldSelf.a")), /uncorrelatable/],
    ["a message that is no text", ruled("self.a == 'x'", { messageExpression: "1 + 1" }), /messageExpression must evaluate to a string/],
    ["a reason of its own", ruled("self.a == 'x'", { reason: "Because" }), /reason: Unsupported value/],
    ["a path to nowhere", ruled("self.a == 'x'", { fieldPath: ".b" }), /must be a valid path/],
    ["a list map without keys", list({ "x-kubernetes-list-type": "map" }), /must not be empty if x-kubernetes-list-type is map/],
    [
      "a key that is no field",
      list({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["b"] }),
      /must be a property of the items/,
    ],
    ["a list type of an object", object({ a: text }, { "x-kubernetes-list-type": "set" }), /must be array/],
    ["a set of objects", list({ "x-kubernetes-list-type": "set" }), /must be atomic/],
    ["a default of another type", object({ a: { type: "integer", default: "x" } }), /default: Invalid value: "string"/],
    [
      "a default against its rule",
      object({ a: { ...text, default: "y", "x-kubernetes-validations": [{ rule: "self == 'x'", message: "no" }] } }),
      /default: Invalid value: "y": no/,
    ],
  ])("not %s", (_, spec, fault) => {
    expect(faults(spec).join("\n")).toMatch(fault);
  });

  test.each<[string, object, RegExp]>([
    ["another name", { metadata: { name: "foo.joinery.dev" } }, /must be spec.names.plural/],
    ["another scope", { spec: { ...WIDGET_CRD.spec, scope: "Planet" } }, /spec.scope: Unsupported value/],
    ["a group without a dot", { spec: { ...WIDGET_CRD.spec, group: "joinery" } }, /should be a domain/],
    ["no versions", { spec: { ...WIDGET_CRD.spec, versions: [] } }, /spec.versions: Required value/],
    [
      "no schema",
      { spec: { ...WIDGET_CRD.spec, versions: [{ name: "v1", served: true, storage: true }] } },
      /openAPIV3Schema: Required value/,
    ],
    [
      "two storage versions",
      { spec: { ...WIDGET_CRD.spec, versions: [...WIDGET_CRD.spec.versions, { ...WIDGET_CRD.spec.versions[0]!, name: "v2" }] } },
      /exactly one version/,
    ],
    ["no spec", { spec: undefined }, /spec: Required value/],
  ])("not with %s", (_, change, fault) => {
    expect(
      checkDefinition({ ...WIDGET_CRD, ...change } as typeof WIDGET_CRD)
        .map(formatIssue)
        .join("\n"),
    ).toMatch(fault);
  });
});
