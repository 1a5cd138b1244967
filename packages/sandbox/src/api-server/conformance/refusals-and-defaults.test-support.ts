/** What is refused, and what is filled in. */
import { describe, expect, test } from "vitest";
import { defaults } from "./defaults.test-support.ts";
import type { Suite } from "./desk.test-support.ts";
import { refusals } from "./refusals.test-support.ts";
import { aMap, aPod, aWorkload, merge } from "./samples.test-support.ts";

export function describeAdmission({ name, desk }: Suite): void {
  describe(`${name}: refuses`, () => {
    test.each(refusals)("$why", async ({ ask: [method, path, body, asked], status, reason, message }) => {
      const here = await desk();
      await here.ask("POST", here.path("pods"), aPod("old"));
      await here.ask("POST", here.path("configmaps"), aMap("old", { a: "b" }));
      await here.ask("POST", here.path("apps/v1 deployments"), aWorkload("Deployment"));
      const answer = await here.ask(method, here.path(path), body, asked);
      const said = answer.body as { kind: string; status: string; reason: string; code: number; message: string };
      expect(answer.status, said.message).toBe(status);
      expect(said).toMatchObject({ kind: "Status", status: "Failure", reason, code: status });
      if (typeof message === "string") expect(said.message).toBe(message);
      else expect(said.message).toMatch(message);
    });

    test("new objects in a namespace that is not there or goes", async () => {
      const here = await desk();
      const missing = await here.ask("POST", "/api/v1/namespaces/not-there/pods", aPod("x"));
      expect(missing.body).toMatchObject({ code: 404, message: 'namespaces "not-there" not found' });
      await here.ask("POST", here.path("configmaps"), aMap("stay", {}, { finalizers: ["joinery.dev/stay"] }));
      await here.ask("DELETE", `/api/v1/namespaces/${here.namespace}`);
      const late = await here.ask("POST", here.path("configmaps"), aMap("x"));
      expect(late.body).toMatchObject({ code: 403, details: { causes: [{ reason: "NamespaceTerminating" }] } });
      await here.ask("PATCH", here.path("configmaps/stay"), { metadata: { finalizers: null } }, { contentType: merge });
    });
  });

  describe(`${name}: fills in`, () => {
    test.each(defaults)("$of", async ({ post: [path, body], has }) => {
      const here = await desk();
      const answer = await here.ask("POST", here.path(path), body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      expect(answer.body).toMatchObject(has);
    });
  });
}
