/** Deletion with finalizers and dependents, and subresources. */
import { describe, expect, test } from "vitest";
import { type List, type Meta, namesOf, type Suite } from "./desk.test-support.ts";
import { aMap, aPod, aWorkload, container, merge } from "./samples.test-support.ts";

export function describeDeletion({ name, desk }: Suite): void {
  describe(`${name}: deletion`, () => {
    test("a pod without node goes at once; a bound one waits for its kubelet", async () => {
      const here = await desk();
      await here.ask("POST", here.path("pods"), aPod("free", { schedulerName: "none" }));
      await here.ask("DELETE", here.path("pods/free"));
      expect((await here.ask("GET", here.path("pods/free"))).status).toBe(404);
      await here.ask("POST", here.path("pods"), aPod("bound", { nodeName: "not-there", terminationGracePeriodSeconds: 7 }));
      const going = (await here.ask("DELETE", here.path("pods/bound"))).body as Meta;
      expect(going.metadata).toMatchObject({ deletionGracePeriodSeconds: 7, deletionTimestamp: expect.any(String) });
      await here.ask("DELETE", here.path("pods/bound"), { gracePeriodSeconds: 0 });
      expect((await here.ask("GET", here.path("pods/bound"))).status).toBe(404);
    });

    test("finalizers hold; none may be added then; the last one lets go", async () => {
      const here = await desk();
      await here.ask("POST", here.path("configmaps"), aMap("m", {}, { finalizers: ["joinery.dev/a"] }));
      const path = here.path("configmaps/m");
      expect((await here.ask("DELETE", path)).body).toMatchObject({
        kind: "ConfigMap",
        metadata: { deletionTimestamp: expect.any(String) },
      });
      const more = await here.ask("PATCH", path, { metadata: { finalizers: ["joinery.dev/a", "joinery.dev/b"] } }, { contentType: merge });
      expect(more.body).toMatchObject({ code: 422, message: /no new finalizers can be added if the object is being deleted/ });
      await here.ask("PATCH", path, { metadata: { finalizers: null } }, { contentType: merge });
      expect((await here.ask("GET", path)).status).toBe(404);
    });

    test("a collection, by selector", async () => {
      const here = await desk();
      for (const item of ["a", "b", "c"])
        await here.ask("POST", here.path("secrets"), { metadata: { name: item, labels: { keep: item === "b" ? "yes" : "no" } } });
      await here.ask("DELETE", here.path("secrets"), undefined, { query: { labelSelector: "keep=no" } });
      expect(namesOf((await here.ask("GET", here.path("secrets"))).body as List)).toEqual(["b"]);
    });
  });

  describe(`${name}: subresources`, () => {
    test("scale shows and sets the replicas", async () => {
      const here = await desk();
      await here.ask(
        "POST",
        here.path("apps/v1 statefulsets"),
        aWorkload("StatefulSet", {
          serviceName: "s",
          replicas: 2,
          template: { metadata: { labels: { app: "w" } }, spec: { schedulerName: "none", containers: [container] } },
        }),
      );
      const path = here.path("apps/v1 statefulsets/w/scale");
      expect((await here.ask("GET", path)).body).toMatchObject({ kind: "Scale", spec: { replicas: 2 }, status: { selector: "app=w" } });
      expect((await here.ask("PATCH", path, { spec: { replicas: 1 } }, { contentType: merge })).body).toMatchObject({
        spec: { replicas: 1 },
      });
      expect((await here.ask("GET", here.path("apps/v1 statefulsets/w"))).body).toMatchObject({ spec: { replicas: 1 } });
    });

    test("status and spec have different writers", async () => {
      const here = await desk();
      await here.ask("POST", here.path("pods"), aPod("p", { schedulerName: "none" }));
      const byStatus = await here.ask(
        "PATCH",
        here.path("pods/p/status"),
        { spec: { priority: 9 }, status: { phase: "Running" } },
        { contentType: merge },
      );
      expect(byStatus.body).toMatchObject({ spec: { priority: 0 }, status: { phase: "Running" } });
      const bySpec = await here.ask(
        "PATCH",
        here.path("pods/p"),
        { metadata: { labels: { a: "b" } }, status: { phase: "Failed" } },
        { contentType: merge },
      );
      expect(bySpec.body).toMatchObject({ metadata: { labels: { a: "b" } }, status: { phase: "Running" } });
    });

    test("a pod is bound once", async () => {
      const here = await desk();
      await here.ask("POST", here.path("pods"), aPod("p", { schedulerName: "none" }));
      const binding = { metadata: { name: "p" }, target: { kind: "Node", name: "n" } };
      expect((await here.ask("POST", here.path("pods/p/binding"), binding)).status).toBe(201);
      expect((await here.ask("GET", here.path("pods/p"))).body).toMatchObject({
        spec: { nodeName: "n" },
        status: { conditions: [{ type: "PodScheduled", status: "True" }] },
      });
      expect((await here.ask("POST", here.path("pods/p/binding"), binding)).status).toBe(409);
    });

    test("a binding brings the node's zone and region, and is no new generation", async () => {
      const here = await desk();
      const node = `${here.namespace}-node`;
      const labels = { "topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r", "topology.kubernetes.io/rack": "7" };
      await here.ask("POST", "/api/v1/nodes", { metadata: { name: node, labels }, spec: { unschedulable: true } });
      const own = { "topology.kubernetes.io/zone": "mine" };
      const made = (await here.ask("POST", here.path("pods"), aPod("p", { schedulerName: "none" }, { labels: own }))).body as Meta;
      const metadata = { name: "p", annotations: { note: "yes" }, labels: { also: "yes" } };
      await here.ask("POST", here.path("pods/p/binding"), { metadata, target: { kind: "Node", name: node } });
      const bound = (await here.ask("GET", here.path("pods/p"))).body as Meta;
      const copied = { "topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r" };
      expect(bound.metadata).toMatchObject({ generation: made.metadata.generation, annotations: { note: "yes" } });
      expect(bound.metadata.labels).toEqual({ also: "yes", ...copied });
      const born = (await here.ask("POST", here.path("pods"), aPod("born", { nodeName: node }))).body as Meta;
      expect(born.metadata.labels).toEqual(copied);
      for (const name of ["p", "born"]) await here.ask("DELETE", here.path(`pods/${name}`), { gracePeriodSeconds: 0 });
      await here.ask("DELETE", `/api/v1/nodes/${node}`);
    });
  });
}
