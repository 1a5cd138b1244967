/** Merge, strategic and JSON patches, and server-side apply. */
import { describe, expect, test } from "vitest";
import type { Suite } from "./desk.test-support.ts";
import { aMap, apply, aWorkload, container, json, merge, strategic, type Value } from "./samples.test-support.ts";

export function describePatches({ name, desk }: Suite): void {
  describe(`${name}: patches`, () => {
    test.each([
      { kind: merge, patch: { data: { a: null, c: "3" } }, data: { b: "2", c: "3" } },
      { kind: strategic, patch: { data: { a: null, c: "3" } }, data: { b: "2", c: "3" } },
      { kind: strategic, patch: { data: { $patch: "replace", z: "1" } }, data: { z: "1" } },
      {
        kind: json,
        patch: [
          { op: "move", from: "/data/a", path: "/data/z" },
          { op: "test", path: "/data/b", value: "2" },
        ],
        data: { b: "2", z: "1" },
      },
    ])("$kind $patch", async ({ kind, patch, data }) => {
      const here = await desk();
      await here.ask("POST", here.path("configmaps"), aMap("m", { a: "1", b: "2" }));
      const answer = await here.ask("PATCH", here.path("configmaps/m"), patch, { contentType: kind });
      expect(answer.body).toMatchObject({ data });
      expect((answer.body as { data: Value }).data).toEqual(data);
    });

    const env = (names: string[]) => names.map((item) => ({ name: item, value: "v" }));
    test.each([
      { rule: "items merge by key", patch: { env: env(["c"]) }, names: ["c", "a", "b"] },
      { rule: "an item is deleted", patch: { env: [{ name: "a", $patch: "delete" }] }, names: ["b"] },
      { rule: "the list is replaced", patch: { env: [{ $patch: "replace" }, ...env(["z"])] }, names: ["z"] },
      {
        rule: "the order is given",
        patch: { env: env(["c"]), "$setElementOrder/env": [{ name: "c" }, { name: "b" }, { name: "a" }] },
        names: ["c", "b", "a"],
      },
    ])("strategic: $rule", async ({ patch, names }) => {
      const here = await desk();
      const spec = aWorkload("ReplicaSet").spec as Value;
      const template = { metadata: { labels: { app: "w" } }, spec: { containers: [{ ...container, env: env(["a", "b"]) }] } };
      await here.ask("POST", here.path("apps/v1 replicasets"), { ...aWorkload("ReplicaSet"), spec: { ...spec, template } });
      const body = { spec: { template: { spec: { containers: [{ name: "a", ...patch }] } } } };
      const answer = await here.ask("PATCH", here.path("apps/v1 replicasets/w"), body, { contentType: strategic });
      const patched = answer.body as { spec: { template: { spec: { containers: { env: { name: string }[] }[] } } } };
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      expect(patched.spec.template.spec.containers[0]?.env.map((item) => item.name)).toEqual(names);
    });

    test("paths behind the object are not followed", async () => {
      const here = await desk();
      await here.ask("POST", here.path("configmaps"), aMap("m", { a: "1" }));
      const patch = [{ op: "add", path: "/__proto__/polluted", value: "yes" }];
      expect((await here.ask("PATCH", here.path("configmaps/m"), patch, { contentType: json })).status).toBeGreaterThanOrEqual(400);
      expect(({} as Value).polluted).toBeUndefined();
    });

    test("apply: conflicts, force, and fields that are no longer wished", async () => {
      const here = await desk();
      const path = here.path("configmaps/m");
      const as = (manager: string, force = "false") => ({ contentType: apply, query: { fieldManager: manager, force } });
      expect((await here.ask("PATCH", path, aMap("m", { a: "1", b: "2" }), as("one"))).status).toBe(201);
      const conflict = await here.ask("PATCH", path, aMap("m", { a: "9" }), as("two"));
      expect(conflict.body).toMatchObject({
        code: 409,
        reason: "Conflict",
        message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
        details: { causes: [{ reason: "FieldManagerConflict", field: ".data.a" }] },
      });
      expect((await here.ask("PATCH", path, aMap("m", { a: "9" }), as("two", "true"))).body).toMatchObject({ data: { a: "9", b: "2" } });
      const left = (await here.ask("PATCH", path, aMap("m", { c: "3" }), as("one"))).body as { data: Value };
      expect(left.data).toEqual({ a: "9", c: "3" });
    });
  });
}
