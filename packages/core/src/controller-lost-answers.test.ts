/** Law 3: an API server that refuses, forgets or answers too late, and a cloud whose answers get lost, neither leak nor double anything. */
import type { Node, NodeClaim } from "@joinery/api";
import { type ApiResponse, createRandom } from "@joinery/kube";
import { expect, test } from "vitest";
import { claimCondition } from "./state/conditions.ts";
import { bindPod, createWorld, NODES, putPendingPod, putPool, type World } from "./testing/world.ts";

const MINUTE_MS = 60_000;
const isReady = (claim: NodeClaim) => claimCondition(claim, "Ready").status === "True";
const refusal = (status: number, reason: string): ApiResponse => ({
  status,
  body: { kind: "Status", status: "Failure", code: status, reason, message: reason },
});

/** One request in four is refused or lost, and one write in six takes effect without an answer. */
function makeUnreliable({ api, cloud }: World, seed: number): void {
  const random = createRandom(seed);
  api.faults.before = ({ method }) => {
    const dice = random.below(12);
    if (dice === 0) return refusal(500, "InternalError");
    if (dice === 1 && method !== "GET") return refusal(409, "Conflict");
    if (dice === 2) throw new Error("connection reset");
    return undefined;
  };
  api.faults.after = ({ method }) => {
    if (method !== "GET" && random.below(6) === 0) throw new Error("timed out");
  };
  cloud.onLaunched = () => {
    if (random.below(3) === 0) throw new Error("the answer was lost");
  };
}

test.each(Array.from({ length: 12 }, (_, seed) => seed))("nodes come and go whatever gets lost (seed %i)", async (seed) => {
  const world = createWorld();
  putPool(world);
  makeUnreliable(world, seed);
  for (let n = 0; n < 10; n++) putPendingPod(world, `pod-${n}`);
  world.start();
  await world.clock.advance(3000);
  for (let n = 10; n < 14; n++) putPendingPod(world, `pod-${n}`);
  await world.clock.advance(20 * MINUTE_MS);
  // Two batches at most, on nodes of four: never a node for pods that have one already.
  expect(world.claims().length).toBeLessThanOrEqual(4);
  expect(world.claims().every(isReady)).toBe(true);

  const nodes = world.api.objects<Node>(NODES).map(({ metadata }) => metadata!.name!);
  for (let n = 0; n < 14; n++) bindPod(world, `pod-${n}`, nodes[n % nodes.length]!);
  await world.clock.advance(1000);
  for (const name of nodes.slice(0, 2)) world.api.remove(`${NODES}/${name}`);
  await world.clock.advance(20 * MINUTE_MS);
  expect(nodes.slice(0, 2).filter((name) => world.api.find(`${NODES}/${name}`) !== undefined)).toEqual([]);
  const wished = world.claims().map(({ status }) => status?.providerID);
  expect([...world.cloud.instances.keys()].sort()).toEqual(wished.sort());
});

test("L-39: a NodeClaim that is gone before the answer to its creation arrives leaves nothing that plans would wait for", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a");
  let deleted = 0;
  world.api.faults.after = ({ method, path }) => {
    if (method !== "POST" || !path.endsWith("/nodeclaims") || deleted++ > 0) return;
    for (const { metadata } of world.claims()) world.api.remove(`${path}/${metadata!.name}`);
  };
  const { controller } = world.start();
  await world.until("gone", () => deleted === 1);
  expect(world.claims()).toEqual([]);
  await world.clock.advance(1000);
  expect(controller.cluster!.sync.isSynced).toBe(true);
  expect(controller.caches.nodeClaims.size).toBe(0);
  putPendingPod(world, "b");
  await world.until("a node for both", () => world.claims().some(isReady));
  expect(world.claims()).toHaveLength(1);
});
