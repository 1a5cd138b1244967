/** NodeClaims that are created, by why; and whether plans may be made while one is not launched. Rules O-177, O-222. */
import { expect, test } from "vitest";
import { expectRow } from "../testing/metric-rows.ts";
import { createWorld, putPendingPod, putPool } from "../testing/world.ts";

const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };
const CREATED = {
  rule: "O-177",
  name: "karpenter_nodeclaims_created_total",
  type: "counter",
  labels: ["reason", "nodepool", "min_values_relaxed"],
} as const;

test("O-177: a static pool's are provisioned too", async () => {
  const world = createWorld();
  putPool(world, "fixed", { replicas: 2 });
  const { controller } = world.start({ options: { isStaticCapacityOn: true } });
  await world.until("two NodeClaims", () => world.claims().length === 2);
  const of = { reason: "provisioned", nodepool: "fixed", min_values_relaxed: "false" };
  await expectRow(controller.registry, { ...CREATED, of, value: 2 });
});

test("O-177: minValues were relaxed", async () => {
  const world = createWorld();
  const requirements = [{ key: "node.kubernetes.io/instance-type", operator: "Exists" as const, minValues: 2 }];
  putPool(world, "picky", { template: { spec: { nodeClassRef, requirements, expireAfter: "720h" } } });
  putPendingPod(world, "a");
  const { controller } = world.start({ options: { minValuesPolicy: "BestEffort" } });
  await world.until("a NodeClaim", () => world.claims().length === 1);
  const of = { reason: "provisioned", nodepool: "picky", min_values_relaxed: "true" };
  await expectRow(controller.registry, { ...CREATED, of, value: 1 });
});

test("O-222: while a NodeClaim has no instance no plan may be made, and since when", async () => {
  const world = createWorld();
  world.cloud.onLaunch = () => ({ kind: "failed", reason: "LaunchFailed", message: "no" });
  putPool(world);
  putPendingPod(world, "a");
  const { controller } = world.start();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  await world.clock.advance(20_000);
  const gauge = { rule: "O-222", type: "gauge", labels: [] } as const;
  await expectRow(controller.registry, { ...gauge, name: "karpenter_cluster_state_synced", value: 0 });
  await expectRow(controller.registry, { ...gauge, name: "karpenter_cluster_state_unsynced_time_seconds", value: 20 });
  expect(world.claims()).toHaveLength(1);
});
