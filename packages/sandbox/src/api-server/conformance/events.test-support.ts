/** Events of both APIs. */
import { describe, expect, test } from "vitest";
import { type List, namesOf, type Suite } from "./desk.test-support.ts";
import { merge, type Value } from "./samples.test-support.ts";

export function describeEvents({ name, desk }: Suite): void {
  describe(`${name}: events`, () => {
    test("are the same in both versions", async () => {
      const here = await desk();
      const object = { kind: "Pod", namespace: here.namespace, name: "p", apiVersion: "v1" };
      await here.ask("POST", here.path("events"), {
        metadata: { name: "old" },
        involvedObject: object,
        reason: "R",
        message: "hello",
        type: "Normal",
        source: { component: "c" },
        lastTimestamp: "2026-01-02T00:00:00Z",
        count: 3,
      });
      const newer = {
        metadata: { name: "new" },
        regarding: object,
        eventTime: "2026-01-02T00:00:00.000000Z",
        reason: "R",
        note: "there",
        type: "Warning",
        action: "A",
        reportingController: "x/y",
        reportingInstance: "i",
      };
      const made = await here.ask("POST", here.path("events.k8s.io/v1 events"), newer);
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      expect(made.body).toMatchObject({ ...newer, apiVersion: "events.k8s.io/v1" });
      expect((await here.ask("GET", here.path("events/new"))).body).toMatchObject({
        apiVersion: "v1",
        involvedObject: object,
        message: "there",
        reportingComponent: "x/y",
      });
      const seen = (await here.ask("GET", here.path("events.k8s.io/v1 events/old"))).body as Value;
      expect(seen).toMatchObject({
        apiVersion: "events.k8s.io/v1",
        regarding: object,
        note: "hello",
        deprecatedSource: { component: "c" },
        deprecatedLastTimestamp: "2026-01-02T00:00:00Z",
        deprecatedCount: 3,
      });
      expect(seen).not.toHaveProperty("involvedObject");
      const query = { fieldSelector: "regarding.name=p,type=Normal" };
      expect(namesOf((await here.ask("GET", here.path("events.k8s.io/v1 events"), undefined, { query })).body as List)).toEqual(["old"]);
      const change = (patch: Value) => here.ask("PATCH", here.path("events.k8s.io/v1 events/new"), patch, { contentType: merge });
      expect((await change({ note: "changed" })).body).toMatchObject({
        code: 422,
        message: 'Event "new" is invalid: message: Invalid value: "changed": field is immutable',
      });
      const series = { count: 2, lastObservedTime: "2026-01-02T00:00:01.000000Z" };
      expect((await change({ series })).body).toMatchObject({ note: "there", series });
      expect((await here.ask("GET", here.path("events/new"))).body).toMatchObject({ message: "there", series });
      expect((await here.ask("DELETE", here.path("events.k8s.io/v1 events/old"))).status).toBe(200);
      expect((await here.ask("GET", here.path("events/old"))).status).toBe(404);
    });
  });
}
