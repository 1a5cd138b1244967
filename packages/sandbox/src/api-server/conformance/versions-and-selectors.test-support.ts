/** Versions and conflicts, paging and selectors. */
import { describe, expect, test } from "vitest";
import { type List, type Meta, namesOf, type Suite } from "./desk.test-support.ts";
import { aMap, aWorkload, merge } from "./samples.test-support.ts";

export function describeReading({ name, desk }: Suite): void {
  describe(`${name}: versions`, () => {
    test("a write that changes nothing is none; generation counts changes of the spec alone", async () => {
      const here = await desk();
      const made = (await here.ask("POST", here.path("apps/v1 deployments"), aWorkload("Deployment", { paused: true }))).body as Meta;
      const path = here.path("apps/v1 deployments/w");
      const labelled = (await here.ask("PATCH", path, { metadata: { labels: { a: "b" } } }, { contentType: merge })).body as Meta;
      const again = (await here.ask("PATCH", path, { metadata: { labels: { a: "b" } } }, { contentType: merge })).body as Meta;
      const grown = (await here.ask("PATCH", path, { spec: { minReadySeconds: 3 } }, { contentType: merge })).body as Meta;
      expect(made.metadata.generation).toBe(1);
      expect(labelled.metadata.generation).toBe(1);
      expect(again.metadata.generation).toBe(1);
      expect(grown.metadata.generation).toBe(2);
      const map = (await here.ask("POST", here.path("configmaps"), aMap("m", { a: "b" }))).body as Meta;
      const same = (await here.ask("PATCH", here.path("configmaps/m"), { data: { a: "b" } }, { contentType: merge })).body as Meta;
      expect(same.metadata.resourceVersion).toBe(map.metadata.resourceVersion);
    });

    test("pages are one snapshot, whatever happens between them", async () => {
      const here = await desk();
      for (const name of ["a", "b", "c", "d", "e"])
        await here.ask("POST", here.path("configmaps"), aMap(name, {}, { labels: { mine: "yes" } }));
      const query = { limit: "2", labelSelector: "mine" };
      const first = (await here.ask("GET", here.path("configmaps"), undefined, { query })).body as List;
      expect(namesOf(first)).toEqual(["a", "b"]);
      await here.ask("DELETE", here.path("configmaps/c"));
      await here.ask("POST", here.path("configmaps"), aMap("d1", {}, { labels: { mine: "yes" } }));
      const second = (
        await here.ask("GET", here.path("configmaps"), undefined, { query: { ...query, continue: first.metadata.continue ?? "" } })
      ).body as List;
      expect(namesOf(second)).toEqual(["c", "d"]);
      const third = (
        await here.ask("GET", here.path("configmaps"), undefined, { query: { ...query, continue: second.metadata.continue ?? "" } })
      ).body as List;
      expect(namesOf(third)).toEqual(["e"]);
      expect(third.metadata.continue ?? "").toBe("");
      const now = (await here.ask("GET", here.path("configmaps"), undefined, { query: { labelSelector: "mine" } })).body as List;
      expect(namesOf(now)).toEqual(["a", "b", "d", "d1", "e"]);
    });

    test("dry runs answer as if, and store nothing", async () => {
      const here = await desk();
      const answer = await here.ask("POST", here.path("configmaps"), aMap("dry"), { query: { dryRun: "All" } });
      expect(answer.status).toBe(201);
      expect((await here.ask("GET", here.path("configmaps/dry"))).status).toBe(404);
    });
  });

  describe(`${name}: selectors`, () => {
    test.each([
      { labelSelector: "a=1", names: ["x"] },
      { labelSelector: "a!=1", names: ["y", "z"] },
      { labelSelector: "a in (1,2)", names: ["x", "y"] },
      { labelSelector: "a notin (1),b", names: ["z"] },
      { labelSelector: "!a", names: ["z"] },
      { labelSelector: "a,b!=2", names: ["x", "y"] },
      { fieldSelector: "metadata.name=y", names: ["y"] },
      { fieldSelector: "metadata.name!=y", labelSelector: "a", names: ["x"] },
    ])("$labelSelector $fieldSelector", async ({ names, ...query }) => {
      const here = await desk();
      for (const [item, labels] of [
        ["x", { a: "1" }],
        ["y", { a: "2" }],
        ["z", { b: "1" }],
      ] as const) {
        await here.ask("POST", here.path("secrets"), { metadata: { name: item, labels } });
      }
      const asked = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as Record<string, string>;
      expect(namesOf((await here.ask("GET", here.path("secrets"), undefined, { query: asked })).body as List)).toEqual(names);
    });
  });
}
