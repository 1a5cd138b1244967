/** What holds while no controller runs, and what the next one finds: all that must last stands in the API server. Section 10 of the operations chapter. */
import type { Node } from "@joinery/api";
import { expect, test } from "vitest";
import { claimCondition } from "./state/conditions.ts";
import { createWorldWithNode, NODE_CLAIMS, NODES, putPendingPod, type World } from "./testing/world.ts";

const MINUTE_MS = 60_000;
const POD = "/api/v1/namespaces/default/pods/a";
const DEADLINE = "karpenter.sh/nodeclaim-termination-timestamp";
const node = (world: World, name: string) => world.api.find<Node>(`${NODES}/${name}`);
const deadlineOf = (world: World) => world.claims()[0]?.metadata?.annotations?.[DEADLINE];

test("O-283: while it is away nodes and pods stay as they are, nothing is drained or launched, and a deleted node waits", async () => {
  const { world, node: name, kill } = await createWorldWithNode(["a", "b"]);
  await kill();
  world.api.remove(`${NODES}/${name}`);
  putPendingPod(world, "huge", "3");
  const before = world.api.writes.length;
  await world.clock.advance(60 * MINUTE_MS);
  expect(world.api.writes.slice(before)).toEqual([]);
  expect(node(world, name)?.metadata).toMatchObject({ deletionTimestamp: expect.any(String), finalizers: ["karpenter.sh/termination"] });
  expect(world.pods()).toHaveLength(3);
  expect(world.claims()).toHaveLength(1);
  expect(world.cloud.instances.size).toBe(1);

  world.start();
  await world.until("drained and gone", () => node(world, name) === undefined, 5 * MINUTE_MS);
  await world.until("a node for who waits", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  expect(world.cloud.instances.size).toBe(1);
});

test("O-278, O-281: a drain that was cut off goes on with the deadline that it had", async () => {
  const { world, node: name, kill } = await createWorldWithNode(["a"], { terminationGracePeriod: "10m" });
  world.api.put(POD, { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } });
  const startMs = world.clock.wallMs();
  world.api.remove(`${NODES}/${name}`);
  await world.until("a deadline", () => deadlineOf(world) !== undefined);
  const deadline = deadlineOf(world);
  expect(Date.parse(deadline!) - startMs).toBeLessThanOrEqual(10 * MINUTE_MS + 1000);
  await kill();
  await world.clock.advance(6 * MINUTE_MS);
  expect(world.api.find(POD)).toBeDefined();

  world.start();
  await world.clock.advance(2 * MINUTE_MS);
  expect(deadlineOf(world)).toBe(deadline);
  expect(world.api.find(POD)).toBeDefined();
  // The pod has 30 s of grace, so it goes half a minute before the deadline.
  await world.until("by force", () => world.api.find(POD) === undefined, 2 * MINUTE_MS);
  expect(Math.abs(world.clock.wallMs() - (Date.parse(deadline!) - 30_000))).toBeLessThan(5000);
  await world.until("gone", () => node(world, name) === undefined, 5 * MINUTE_MS);
});

test("O-278, O-282: a NodeClaim whose launch nobody wrote down gets the instance that is there, and no second", async () => {
  const { world, kill } = await createWorldWithNode(["a"]);
  putPendingPod(world, "b", "4");
  world.cloud.onLaunched = () => {
    world.cloud.onLaunched = undefined;
    throw new Error("the answer was lost");
  };
  await world.until("launched", () => world.cloud.instances.size === 2);
  await kill();
  const unlaunched = world.claims().filter(({ status }) => !status?.providerID);
  expect(unlaunched).toHaveLength(1);

  world.start();
  const found = () => world.claims().find(({ metadata }) => metadata?.uid === unlaunched[0]!.metadata!.uid);
  await world.until("taken up", () => found()?.status?.providerID !== undefined);
  await world.clock.advance(10 * MINUTE_MS);
  expect([...world.cloud.instances.keys()].sort()).toEqual(
    world
      .claims()
      .map(({ status }) => status!.providerID!)
      .sort(),
  );
  expect(world.cloud.instances.size).toBe(2);
});

test("O-282: a launch that never comes off is given up after five minutes, from the creation on and across restarts", async () => {
  const { world, kill } = await createWorldWithNode(["a"]);
  putPendingPod(world, "b", "4");
  world.cloud.onLaunch = () => ({ kind: "failed", reason: "Slow", message: "later" });
  await world.until("made", () => world.claims().length === 2);
  const uid = world.claims().find(({ status }) => !status?.providerID)!.metadata!.uid;
  const isThere = () => world.claims().some(({ metadata }) => metadata?.uid === uid);
  const createdMs = world.clock.monotonicMs();
  await kill();
  await world.clock.advance(3 * MINUTE_MS);
  world.start();
  await world.clock.advance(createdMs + 5 * MINUTE_MS - 2000 - world.clock.monotonicMs());
  expect(isThere()).toBe(true);
  await world.until("given up", () => !isThere(), 2 * MINUTE_MS);
});

test("O-284: uninstalled while nodes are there: a deleted one hangs on its finalizer until somebody takes that off", async () => {
  const { world, node: name, kill } = await createWorldWithNode(["a"]);
  await kill();
  world.api.remove(`${NODES}/${name}`);
  await world.clock.advance(24 * 60 * MINUTE_MS);
  expect(node(world, name)?.metadata?.deletionTimestamp).toBeDefined();
  world.api.put(`${NODES}/${name}`, { metadata: { finalizers: [] } });
  expect(node(world, name)).toBeUndefined();
});

test("O-284: when NodeClaims are deleted first, nothing holds anything any more", async () => {
  const { world, node: name, kill } = await createWorldWithNode(["a"]);
  world.api.remove("/apis/karpenter.sh/v1/nodepools/default");
  for (const { metadata } of world.claims()) world.api.remove(`${NODE_CLAIMS}/${metadata!.name}`);
  await world.until("gone", () => world.claims().length === 0 && node(world, name) === undefined, 10 * MINUTE_MS);
  expect(world.cloud.instances.size).toBe(0);
  await kill();
});
