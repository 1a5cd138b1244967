/** Kinds that a CustomResourceDefinition makes: apply by their lists, defaults and CEL rules. */
import { describe, expect, test } from "vitest";
import { type List, namesOf, type Suite } from "./desk.test-support.ts";
import { merge, type Value } from "./samples.test-support.ts";

export function describeCustomResources({ name, desk }: Suite): void {
  describe(`${name}: custom resources`, () => {
    test("what an update leaves as it is stored is not judged again, and a list map has no order", async () => {
      const here = await desk();
      const group = `${here.namespace}.joinery.dev`;
      const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
      const definition = (maximum: number) => ({
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: `rats.${group}` },
        spec: {
          group,
          scope: "Namespaced",
          names: { plural: "rats", singular: "rat", kind: "Rat" },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: ratSchema(maximum) } }],
        },
      });
      expect((await here.ask("POST", definitions, definition(100))).status).toBe(201);
      const rat = {
        apiVersion: `${group}/v1`,
        kind: "Rat",
        metadata: { name: "r" },
        spec: { parts: [part("a", 1), part("b", 99)], set: ["x", "y"] },
      };
      const rats = here.path(`${group}/v1 rats`);
      await expect.poll(async () => (await here.ask("POST", rats, rat)).status, { timeout: 10_000 }).toBe(201);
      const tighter = { spec: definition(10).spec };
      await here.ask("PATCH", `${definitions}/rats.${group}`, tighter, { contentType: merge });
      const another = { ...rat, metadata: { name: "other" } };
      await expect
        .poll(async () => (await here.ask("POST", rats, another, { query: { dryRun: "All" } })).status, { timeout: 10_000 })
        .toBe(422);
      const change = async (spec: Value) => (await here.ask("PATCH", `${rats}/r`, { spec }, { contentType: merge })).status;
      expect(await change({ parts: [part("b", 99), part("a", 1)] })).toBe(200);
      expect(await change({ parts: [part("a", 2), part("b", 99)] })).toBe(200);
      expect(await change({ parts: [part("a", 2), part("b", 98)] })).toBe(422);
      expect(await change({ set: ["y", "x"] })).toBe(422);
      await here.ask("DELETE", `${definitions}/rats.${group}`);
    });
  });

  describe(`${name}: custom resources, defaults and rules`, () => {
    test("defaults come from the schema, rules answer in their own words, fields can be selected", async () => {
      const here = await desk();
      const group = `${here.namespace}.joinery.dev`;
      const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
      const definition = {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: `voles.${group}` },
        spec: {
          group,
          scope: "Namespaced",
          names: { plural: "voles", singular: "vole", kind: "Vole" },
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              schema: { openAPIV3Schema: voleSchema },
              subresources: { status: {} },
              selectableFields: [{ jsonPath: ".spec.size" }],
            },
          ],
        },
      };
      expect((await here.ask("POST", definitions, definition)).status).toBe(201);
      const voles = here.path(`${group}/v1 voles`);
      const vole = (metadataName: string, spec: Value) => ({
        apiVersion: `${group}/v1`,
        kind: "Vole",
        metadata: { name: metadataName },
        spec,
        status: { seen: true },
      });
      const first = vole("v", { extra: "dropped", low: 1, high: 5 });
      await expect.poll(async () => (await here.ask("POST", voles, first)).status, { timeout: 10_000 }).toBe(201);
      const made = (await here.ask("GET", `${voles}/v`)).body as Value;
      expect(made.spec, "defaults are filled in, what the schema does not know is dropped").toEqual({
        low: 1,
        high: 5,
        size: "small",
        nested: { on: true },
      });
      expect(made.status, "status has a writer of its own").toBeUndefined();
      const refusal = async (spec: Value) => {
        const answer = await here.ask("PATCH", `${voles}/v`, { spec }, { contentType: merge });
        return [answer.status, (answer.body as { message: string }).message];
      };
      expect(await refusal({ low: 9 })).toEqual([422, `Vole.${group} "v" is invalid: spec: Invalid value: low must not be above high`]);
      expect(await refusal({ size: "huge" })).toEqual([
        422,
        `Vole.${group} "v" is invalid: [spec.size: Unsupported value: "huge": supported values: "small", "large", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]`,
      ]);
      expect(await refusal({ fixed: "other" }), "a field that is not there yet may come").toEqual([200, undefined]);
      expect(await refusal({ fixed: "third" })).toEqual([
        422,
        `Vole.${group} "v" is invalid: spec.fixed: Invalid value: "third": fixed once set`,
      ]);
      expect(await refusal({ size: null }), "what is taken away comes back as its default").toEqual([200, undefined]);
      await here.ask("POST", voles, vole("w", { low: 1, high: 1, size: "large" }));
      const query = { fieldSelector: "spec.size=large" };
      expect(namesOf((await here.ask("GET", voles, undefined, { query })).body as List)).toEqual(["w"]);
      await here.ask("DELETE", `${definitions}/voles.${group}`);
    });
  });
}

const part = (name: string, size: number): Value => ({ name, size });

/** A list map whose sizes end at `maximum`, and a set that is as long as its tens. */
function ratSchema(maximum: number): Value {
  const size = { type: "integer", maximum };
  const parts = {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    items: { type: "object", required: ["name"], properties: { name: { type: "string" }, size } },
  };
  const set = { type: "array", "x-kubernetes-list-type": "set", maxItems: maximum / 10, items: { type: "string" } };
  return { type: "object", properties: { spec: { type: "object", properties: { parts, set } } } };
}

const voleSchema: Value = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      "x-kubernetes-validations": [{ rule: "self.low <= self.high", message: "low must not be above high" }],
      properties: {
        low: { type: "integer" },
        high: { type: "integer" },
        size: { type: "string", enum: ["small", "large"], default: "small" },
        nested: { type: "object", default: {}, properties: { on: { type: "boolean", default: true } } },
        fixed: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed once set" }] },
      },
      required: ["low", "high"],
    },
    status: { type: "object", properties: { seen: { type: "boolean" } } },
  },
};
