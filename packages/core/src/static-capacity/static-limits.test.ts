/** When a static pool does not grow or shrink. */
import { expect, test } from "vitest";
import { createWorld, NODE_CLAIMS, NODE_POOLS, putPool, type World } from "../testing/world.ts";

const MINUTE_MS = 60_000;
const options = { isStaticCapacityOn: true };
const living = (world: World) => world.claims().filter(({ metadata }) => metadata!.deletionTimestamp === undefined);

test("L-194: a pool that has what it wishes for gets nothing, however often one looks", async () => {
  const world = createWorld();
  putPool(world, "default", { replicas: 2 });
  world.start({ options });
  await world.until("two", () => world.claims().length === 2);
  const before = world.api.writes.filter((write) => write.startsWith("POST") && write.endsWith("/nodeclaims")).length;
  for (let n = 0; n < 5; n++) {
    world.api.put(`${NODE_POOLS}/default`, { metadata: { annotations: { look: String(n) } } });
    await world.clock.advance(MINUTE_MS);
  }
  expect(world.api.writes.filter((write) => write.startsWith("POST") && write.endsWith("/nodeclaims"))).toHaveLength(before);
  expect(world.claims()).toHaveLength(2);
});

test("L-197: while a pool holds more than its limits allow it gets no node", async () => {
  const world = createWorld();
  putPool(world, "default", { replicas: 2 });
  world.start({ options });
  await world.until("two", () => world.cloud.instances.size === 2);
  await world.clock.advance(MINUTE_MS);
  // Two nodes of four cores are above six.
  world.api.put(`${NODE_POOLS}/default`, { spec: { limits: { cpu: "6" }, replicas: 3 } });
  await world.clock.advance(5 * MINUTE_MS);
  expect(world.claims()).toHaveLength(2);
  world.api.put(`${NODE_POOLS}/default`, { spec: { limits: { cpu: "8" } } });
  await world.until("three", () => world.claims().length === 3, MINUTE_MS);
});

test.each([
  { what: "not ready", change: { ready: "False", replicas: 1 }, left: 1 },
  { what: "being deleted", change: { isGoing: true, replicas: 1 }, left: 3 },
  { what: "not static any more", change: { replicas: null }, left: 3 },
])("L-199: a pool that is $what keeps $left of three nodes when it wishes for one", async ({ change, left }) => {
  const world = createWorld();
  putPool(world, "default", { replicas: 3 });
  world.start({ options });
  await world.until("three", () => world.cloud.instances.size === 3);
  await world.clock.advance(MINUTE_MS);
  if ("ready" in change) {
    const conditions = [{ type: "Ready", status: change.ready }];
    world.api.put("/apis/test.joinery.dev/v1/testnodeclasses/default", { status: { conditions } });
  }
  if ("isGoing" in change) {
    world.api.put(`${NODE_POOLS}/default`, { metadata: { finalizers: ["example.com/hold"] } });
    world.api.remove(`${NODE_POOLS}/default`);
  }
  await world.clock.advance(5000);
  world.api.put(`${NODE_POOLS}/default`, { spec: { replicas: change.replicas } });
  await world.clock.advance(3 * MINUTE_MS);
  expect(living(world)).toHaveLength(left);
  expect(world.api.objects(NODE_CLAIMS)).toHaveLength(left);
});
