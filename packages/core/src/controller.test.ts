import type { Node } from "@joinery/api";
import { expect, test } from "vitest";
import { type Logger, silentLogger } from "./logger.ts";
import { claimCondition } from "./state/conditions.ts";
import { bindPod, createWorld, NODES, putPendingPod, putPool } from "./testing/world.ts";

test("3.7: a pending pod becomes a NodeClaim, an instance, a registered and an initialized node", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a");
  putPendingPod(world, "b");
  const { kill } = world.start();

  await world.until("one NodeClaim", () => world.claims().length === 1);
  expect(world.clock.monotonicMs()).toBe(1000); // S-3: one idle window after the first pod
  await world.until("launched", () => claimCondition(world.claims()[0]!, "Launched").status === "True");
  await world.until("Ready", () => claimCondition(world.claims()[0]!, "Ready").status === "True");

  const [claim] = world.claims();
  const [node] = world.api.objects<Node>(NODES);
  expect(claim!.metadata?.finalizers).toEqual(["karpenter.sh/termination"]);
  expect(claim!.status?.nodeName).toBe(node!.metadata?.name);
  expect(node!.metadata?.labels).toMatchObject({
    "karpenter.sh/registered": "true",
    "karpenter.sh/initialized": "true",
    "karpenter.sh/nodepool": "default",
  });
  expect(node!.spec?.taints ?? []).toEqual([]);
  expect(world.cloud.launches).toBe(1);
  expect(world.events().map(({ reason }) => reason)).toContain("Nominated");

  // The pods are still pending: the node that is there has room, so nothing more is launched.
  await world.clock.advance(60_000);
  expect(world.claims()).toHaveLength(1);
  bindPod(world, "a", node!.metadata!.name!);
  bindPod(world, "b", node!.metadata!.name!);
  await kill();
});

test("L-34, L-38, O-279: while a launch does not come off no plan is made, and after half a minute that is told, every ten seconds", async () => {
  const world = createWorld();
  world.cloud.onLaunch = () => ({ kind: "failed", reason: "Slow", message: "later" });
  putPool(world);
  putPendingPod(world, "a");
  const toldAtMs: number[] = [];
  const log: Logger = {
    ...silentLogger,
    child: () => log,
    error: (_, message) => void (/waiting on sync/.test(message) && toldAtMs.push(world.clock.monotonicMs())),
  };
  const { controller } = world.start({ log });
  await world.until("a NodeClaim", () => world.claims().length === 1);
  const sinceMs = world.clock.monotonicMs();
  putPendingPod(world, "b", "4");
  await world.clock.advance(55_000);
  expect(world.claims()).toHaveLength(1);
  expect(toldAtMs.map((ms) => Math.round((ms - sinceMs) / 1000))).toEqual([30, 40, 50]);
  const metrics = await controller.registry.metrics();
  expect(metrics).toMatch(/^karpenter_cluster_state_synced 0$/m);
  expect(metrics).toMatch(/^karpenter_cluster_state_unsynced_time_seconds 55$/m);
  world.cloud.onLaunch = undefined;
  await world.until("the other", () => world.claims().length === 2, 120_000);
});
