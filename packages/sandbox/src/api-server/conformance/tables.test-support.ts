/** Tables, as kubectl asks for them. */
import { describe, expect, test } from "vitest";
import type { Suite, Table } from "./desk.test-support.ts";
import { aPod, aWorkload } from "./samples.test-support.ts";

export function describeTables({ name, desk }: Suite): void {
  describe(`${name}: tables`, () => {
    test("pods, with columns for -o wide", async () => {
      const here = await desk();
      await here.ask("POST", here.path("pods"), aPod("p", { schedulerName: "none" }));
      const table = (await here.ask("GET", here.path("pods"), undefined, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" }))
        .body as Table;
      expect(table.kind).toBe("Table");
      expect(table.columnDefinitions.map((column) => `${column.name}${column.priority > 0 ? "+" : ""}`)).toEqual([
        "Name",
        "Ready",
        "Status",
        "Restarts",
        "Age",
        "IP+",
        "Node+",
        "Nominated Node+",
        "Readiness Gates+",
      ]);
      expect(table.rows[0]?.cells).toEqual([
        "p",
        "0/1",
        "Pending",
        "0",
        expect.stringMatching(/^\d+s$/),
        "<none>",
        "<none>",
        "<none>",
        "<none>",
      ]);
      expect(table.rows[0]?.object).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "p" } });
    });

    test("a scale", async () => {
      const here = await desk();
      await here.ask("POST", here.path("apps/v1 deployments"), aWorkload("Deployment"));
      const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
      const table = (await here.ask("GET", here.path("apps/v1 deployments/w/scale"), undefined, { accept })).body as Table;
      expect(table.columnDefinitions.map((column) => column.name)).toEqual(["Name", "Desired", "Available", "Age"]);
      expect(table.rows[0]?.cells).toEqual(["w", 0, 0, expect.stringMatching(/^\d+s$/)]);
    });
  });
}
