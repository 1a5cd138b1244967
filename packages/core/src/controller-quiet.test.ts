import { expect, test } from "vitest";
import { claimCondition } from "./state/conditions.ts";
import { bindPod, createWorld, putPendingPod, putPool } from "./testing/world.ts";

const DAY_MS = 86_400_000;

test("a quiet day writes nothing, and costs a look at the cloud every two minutes and at the server's version every hour", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  bindPod(world, "a", world.claims()[0]!.status!.nodeName!);
  await world.clock.advance(10 * 60_000);
  const written = world.api.writes.length;
  const requests: string[] = [];
  world.api.faults.before = ({ path }) => void requests.push(path);
  await world.clock.advance(DAY_MS);
  expect(world.api.writes.slice(written)).toEqual([]);
  expect(requests).toEqual(Array(24).fill("/version"));
  expect(world.clock.timerCount).toBeLessThanOrEqual(19); // the watches, the two collectors, the expiration, the prices, the version
});

test("a pod that no node can ever hold costs no solve while nothing changes", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "huge", "1000");
  const { controller } = world.start();
  await world.until("told", () => world.events().some(({ reason }) => reason === "FailedScheduling"));
  await world.clock.advance(DAY_MS / 24);
  expect(await controller.registry.metrics()).toMatch(
    /karpenter_scheduler_scheduling_duration_seconds_count{controller="provisioner"} [1-3]\n/,
  );
});
