/** Dependents of what is deleted: background, foreground, orphan. */
import { createRandom, createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { createApiServer } from "../api-server.ts";
import { createGarbageCollector } from "./garbage-collector.ts";

const maps = "/api/v1/namespaces/default/configmaps";

async function aCluster() {
  const clock = createVirtualClock({ startMs: Date.UTC(2026, 0, 1) });
  const server = createApiServer({ clock, random: createRandom(1) });
  createGarbageCollector({ server, clock }).start();
  const transport = server.transport();
  const make = async (name: string, owners: readonly string[] = [], more: object = {}) => {
    const ownerReferences = owners.map((uid) => ({ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, blockOwnerDeletion: true }));
    const { body } = await transport.send({ method: "POST", path: maps, body: { metadata: { name, ownerReferences, ...more } } });
    return (body as { metadata: { uid: string } }).metadata.uid;
  };
  return {
    clock,
    make,
    drop: (name: string, propagationPolicy?: string) =>
      transport.send({ method: "DELETE", path: `${maps}/${name}`, ...(propagationPolicy && { body: { propagationPolicy } }) }),
    release: (name: string) =>
      transport.send({
        method: "PATCH",
        path: `${maps}/${name}`,
        contentType: "application/merge-patch+json",
        body: { metadata: { finalizers: null } },
      }),
    names: async () => {
      await clock.advance(5_000);
      const { body } = await transport.send({ method: "GET", path: maps });
      return (body as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);
    },
  };
}

test("background: dependents follow, generation by generation", async () => {
  const { make, drop, names } = await aCluster();
  const parent = await make("parent");
  const child = await make("child", [parent]);
  await make("grandchild", [child]);
  await make("stranger");
  await drop("parent");
  expect(await names()).toEqual(["stranger"]);
});

test("a dependent lives as long as one of its owners", async () => {
  const { make, drop, names } = await aCluster();
  const [one, two] = [await make("one"), await make("two")];
  await make("child", [one, two]);
  await drop("one");
  expect(await names()).toEqual(["child", "two"]);
  await drop("two");
  expect(await names()).toEqual([]);
});

test("foreground: the owner waits for what blocks it", async () => {
  const { make, drop, release, names } = await aCluster();
  const parent = await make("parent");
  await make("child", [parent], { finalizers: ["joinery.dev/hold"] });
  await drop("parent", "Foreground");
  expect(await names()).toEqual(["child", "parent"]);
  await release("child");
  expect(await names()).toEqual([]);
});

test("orphan: dependents stay and forget their owner", async () => {
  const { make, drop, names } = await aCluster();
  const parent = await make("parent");
  await make("child", [parent]);
  await drop("parent", "Orphan");
  expect(await names()).toEqual(["child"]);
});

test("what names an owner that never was is collected", async () => {
  const { make, names } = await aCluster();
  await make("child", ["11111111-2222-4333-8444-555555555555"]);
  expect(await names()).toEqual([]);
});
