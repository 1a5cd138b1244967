/** Test data: one foreign CRD with everything that schemas can say. What a real API server answered to it is in `widget-verdicts.json`. */
import type { CustomResourceDefinition, OpenApiSchema, ValidationRule } from "./open-api.ts";

const text = (more: object = {}): OpenApiSchema => ({ type: "string", maxLength: 64, ...more });
const object = (properties: Record<string, OpenApiSchema>, more: object = {}): OpenApiSchema => ({ type: "object", properties, ...more });
const rules = (...list: ValidationRule[]) => ({ "x-kubernetes-validations": list });

const spec = object(
  {
    color: text({ enum: ["red", "green"], default: "red" }),
    size: { type: "integer", format: "int32", minimum: 1, maximum: 9, exclusiveMaximum: true },
    even: { type: "integer", multipleOf: 2 },
    ratio: { type: "number", minimum: 0 },
    code: text({ pattern: "^(?i)[a-z]+\\s\\d\\z", minLength: 2 }),
    when: text({ format: "date-time" }),
    day: text({ format: "date" }),
    blob: text({ format: "byte" }),
    id: text({ format: "uuid" }),
    address: text({ format: "ipv4" }),
    port: { "x-kubernetes-int-or-string": true },
    maybe: text({ nullable: true }),
    tags: { type: "array", maxItems: 4, items: text(), "x-kubernetes-list-type": "set" },
    parts: {
      type: "array",
      maxItems: 4,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: object(
        {
          name: text(),
          count: { type: "integer", default: 1 },
          fixed: text(rules({ rule: "self == oldSelf", message: "fixed is immutable" })),
        },
        { required: ["name"] },
      ),
    },
    limits: { type: "object", maxProperties: 3, additionalProperties: { type: "integer", minimum: 0 } },
    nested: object({ a: text({ default: "x" }), b: object({ c: text({ default: "y" }) }, { default: {} }) }, { minProperties: 1 }),
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { known: { type: "integer" } } },
    template: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
    shape: object({ circle: text(), square: text() }, { oneOf: [{ required: ["circle"] }, { required: ["square"] }] }),
    not: object({ a: text(), b: text() }, { not: { required: ["a", "b"] } }),
    any: object({ a: { type: "integer" } }, { anyOf: [{ properties: { a: { minimum: 10 } } }, { properties: { a: { maximum: 0 } } }] }),
    "dash-ed": text(),
    namespace: text(),
    deadline: text({ format: "duration" }),
    steps: { type: "array", maxItems: 4, items: { type: "integer" } },
    grow: {
      type: "integer",
      ...rules({
        rule: "!oldSelf.hasValue() || self >= oldSelf.value()",
        optionalOldSelf: true,
        messageExpression: "'must not ' + 'shrink'",
      }),
    },
    memory: text(
      rules({
        rule: "isQuantity(self) && quantity(self).isLessThan(quantity('4Gi'))",
        message: "too much memory",
        reason: "FieldValueForbidden",
      }),
    ),
  },
  {
    ...rules(
      { rule: "!has(self.__namespace__) || self.__namespace__ != 'kube-system'", message: "no system namespace", fieldPath: ".namespace" },
      { rule: "!has(self.dash__dash__ed) || self.dash__dash__ed.startsWith('x')" },
      {
        rule: "!has(self.steps) || (self.steps.isSorted() && self.steps.sum() < 100)",
        message: "steps must be sorted and below 100 together",
      },
      { rule: "!has(self.size) || !has(self.even) || self.even % self.size == 0", message: "even must be a multiple of size" },
      { rule: "!has(self.deadline) || duration(self.deadline) < duration('1h')", message: "deadline too far" },
      { rule: "!has(self.when) || self.when > timestamp('2020-01-01T00:00:00Z')", message: "long ago" },
      { rule: "!has(self.code) || self.code.find('[0-9]') != '0'", message: "code must not end with 0" },
    ),
  },
);

export const WIDGET_CRD: CustomResourceDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.joinery.dev" },
  spec: {
    group: "joinery.dev",
    scope: "Cluster",
    names: { kind: "Widget", plural: "widgets", singular: "widget", listKind: "WidgetList" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", properties: { spec } } } }],
  },
};
