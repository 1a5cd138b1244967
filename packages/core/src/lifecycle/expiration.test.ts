import type { NodeClaim } from "@joinery/api";
import { expect, test } from "vitest";
import { bindPod, createWorld, createWorldWithNode, NODE_CLAIMS, putPendingPod } from "../testing/world.ts";
import { expiresAtMs } from "./expiration.ts";

const HOUR_MS = 3_600_000;
const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };
const at = (time: string) => Date.parse(`2026-01-01T${time}Z`);

test.each([
  { expireAfter: "30s", atMs: at("00:00:30") },
  { expireAfter: "1h30m", atMs: at("01:30:00") },
  { expireAfter: "Never", atMs: undefined },
  { expireAfter: undefined, atMs: undefined },
])("L-163: expireAfter $expireAfter counts from the NodeClaim's creation", ({ expireAfter, atMs }) => {
  const claim: NodeClaim = {
    metadata: { creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { nodeClassRef, requirements: [], ...(expireAfter && { expireAfter }) },
  };
  expect(expiresAtMs(claim)).toBe(atMs);
});

test("L-163, L-165: at its time, neither earlier nor twice; its reschedulable pods are counted", async () => {
  const { world, node, controller } = await createWorldWithNode(["a", "b"], { expireAfter: "1h" });
  world.api.put("/api/v1/namespaces/default/pods/agent", {
    metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "agent", uid: "ds" }] },
    spec: { nodeName: node, containers: [{ name: "main" }] },
    status: { phase: "Running" },
  });
  // Pods that do not go keep the NodeClaim in view while it goes.
  for (const name of ["a", "b"]) {
    world.api.put(`/api/v1/namespaces/default/pods/${name}`, { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } });
  }
  const createdAtMs = Date.parse(world.claims()[0]!.metadata!.creationTimestamp!);
  await world.clock.advance(createdAtMs + HOUR_MS - 1000 - world.clock.wallMs());
  expect(world.claims()[0]!.metadata!.deletionTimestamp).toBeUndefined();
  await world.clock.advance(1000);
  expect(world.claims()[0]!.metadata!.deletionTimestamp).toBe(new Date(createdAtMs + HOUR_MS).toISOString().replace(".000", ""));
  await world.clock.advance(10 * HOUR_MS);
  const metrics = await controller.registry.metrics();
  const labels = /{reason="expired",nodepool="default",capacity_type="on-demand",consolidation_policy="",termination_mode="graceful"}/;
  expect(metrics).toMatch(new RegExp(`karpenter_nodeclaims_disrupted_total${labels.source} 1\n`));
  expect(metrics).toMatch(new RegExp(`karpenter_pods_disruption_initiated_total${labels.source} 2\n`));
});

test("L-164: a NodeClaim expires before its launch too", async () => {
  const world = createWorld();
  world.cloud.onLaunch = () => ({ kind: "failed", reason: "Slow", message: "later" });
  world.api.put(`${NODE_CLAIMS}/young`, { spec: { nodeClassRef, requirements: [], expireAfter: "30s" } });
  world.start();
  await world.until("expired", () => world.claims().length === 0, 31_000);
  expect(world.clock.monotonicMs()).toBeGreaterThanOrEqual(30_000);
});

test("L-163: the pods of an expired node get another; and a NodeClaim that goes before its time leaves no timer", async () => {
  const { world } = await createWorldWithNode(["a"], { expireAfter: "720h" });
  world.api.onEvicted = (name) => putPendingPod(world, `${name}x`);
  const another = async () => {
    const { uid } = world.claims()[0]!.metadata!;
    await world.until("gone", () => world.claims().every(({ metadata }) => metadata!.uid !== uid), 721 * HOUR_MS);
    await world.until("another node", () => world.claims().some(({ status }) => status?.nodeName !== undefined));
    bindPod(world, world.pods()[0]!.metadata!.name!, world.claims()[0]!.status!.nodeName!);
    await world.clock.advance(HOUR_MS);
  };
  await another();
  const timers = world.clock.timerCount;
  for (let n = 0; n < 3; n++) {
    world.api.remove(`${NODE_CLAIMS}/${world.claims()[0]!.metadata!.name}`);
    await another();
  }
  expect(world.claims()).toHaveLength(1);
  expect(world.clock.timerCount).toBeLessThanOrEqual(timers);
});
