import { NODE_POOL_HASH_ANNOTATION, NODE_POOL_HASH_VERSION_ANNOTATION, type NodePool, nodePoolHash } from "@joinery/api";
import { expect, test } from "vitest";
import { claimCondition, findPoolCondition } from "../state/conditions.ts";
import { createWorld, NODE_CLAIMS, NODE_POOLS, putPendingPod, putPool, type World } from "../testing/world.ts";
import { verdictOn } from "./readiness.ts";
import { healthOf } from "./registration-health.ts";

const pool = (world: World, name = "default") => world.api.find<NodePool>(`${NODE_POOLS}/${name}`)!;
const NODE_CLASS = "/apis/test.joinery.dev/v1/testnodeclasses/default";
const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };

test("L-185: status counts what the pool's nodes have, and goes back to zero with them", async () => {
  const world = createWorld();
  putPool(world);
  world.start();
  await world.clock.advance(2000);
  expect(pool(world).status).toMatchObject({
    nodes: 0,
    resources: { cpu: "0", memory: "0", pods: "0", "ephemeral-storage": "0", nodes: "0" },
  });
  putPendingPod(world, "a");
  await world.until("counted", () => pool(world).status?.nodes === 1);
  expect(pool(world).status?.resources).toEqual({ cpu: "4", memory: "16Gi", pods: "110", "ephemeral-storage": "20Gi", nodes: "1" });
  await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  world.api.remove("/api/v1/namespaces/default/pods/a");
  world.api.remove(`${NODE_CLAIMS}/${world.claims()[0]!.metadata!.name}`);
  await world.until("uncounted", () => pool(world).status?.nodes === 0);
});

test("L-186: the hash follows the template and nothing else", async () => {
  const world = createWorld();
  putPool(world);
  world.start();
  await world.clock.advance(1000);
  const first = pool(world).metadata!.annotations![NODE_POOL_HASH_ANNOTATION];
  expect(pool(world).metadata!.annotations).toMatchObject({ [NODE_POOL_HASH_VERSION_ANNOTATION]: "v3" });
  expect(first).toBe(nodePoolHash(pool(world)));
  world.api.put(`${NODE_POOLS}/default`, { spec: { weight: 10 } });
  await world.clock.advance(1000);
  expect(pool(world).metadata!.annotations![NODE_POOL_HASH_ANNOTATION]).toBe(first);
  world.api.put(`${NODE_POOLS}/default`, { spec: { template: { spec: { expireAfter: "1h" } } } });
  await world.clock.advance(1000);
  expect(pool(world).metadata!.annotations![NODE_POOL_HASH_ANNOTATION]).not.toBe(first);
});

test("L-187: NodeClaims of an older hash version follow; what has drifted keeps its hash", async () => {
  const world = createWorld();
  putPool(world);
  const old = { [NODE_POOL_HASH_ANNOTATION]: "1", [NODE_POOL_HASH_VERSION_ANNOTATION]: "v2" };
  world.api.put(`${NODE_POOLS}/default`, { metadata: { annotations: old } });
  const metadata = { labels: { "karpenter.sh/nodepool": "default" }, annotations: old };
  const spec = { nodeClassRef, requirements: [] };
  world.api.put(`${NODE_CLAIMS}/plain`, { metadata, spec });
  world.api.put(`${NODE_CLAIMS}/drifted`, { metadata, spec, status: { conditions: [{ type: "Drifted", status: "True" }] } });
  world.start();
  await world.clock.advance(1000);
  const hashes = Object.fromEntries(
    world
      .claims()
      .map(({ metadata }) => [
        metadata!.name,
        [NODE_POOL_HASH_ANNOTATION, NODE_POOL_HASH_VERSION_ANNOTATION].map((key) => metadata!.annotations![key]),
      ]),
  );
  expect(hashes).toEqual({ plain: [nodePoolHash(pool(world)), "v3"], drifted: ["1", "v3"] });
});

test("L-188: readiness follows the node class", async () => {
  const world = createWorld();
  putPool(world);
  world.start();
  const ready = () => findPoolCondition(pool(world), "NodeClassReady");
  await world.until("ready", () => findPoolCondition(pool(world), "Ready")?.status === "True", 5000);
  world.api.put(NODE_CLASS, { status: { conditions: [{ type: "Ready", status: "False", reason: "NoSubnets", message: "none" }] } });
  await world.clock.advance(1000);
  expect(ready()).toMatchObject({ status: "False", reason: "NoSubnets", message: "none" });
  world.api.remove(NODE_CLASS);
  await world.clock.advance(1000);
  expect(ready()).toMatchObject({ status: "False", reason: "NodeClassNotFound" });
});

test.each([
  ["missing", undefined, "False", "NodeClassNotFound"],
  ["leaving", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }, "False", "NodeClassTerminating"],
  ["unknown", { status: { conditions: [{ type: "Ready", status: "Unknown" }] } }, "False", "NodeClassReadinessUnknown"],
  ["not ready without a reason", { status: { conditions: [{ type: "Ready", status: "False" }] } }, "False", "NodeClassNotReady"],
  ["without conditions", {}, "False", "NodeClassReadinessUnknown"],
  ["ready", { status: { conditions: [{ type: "Ready", status: "True" }] } }, "True", undefined],
] as const)("L-188: a node class that is %s", (_, nodeClass, status, reason) => {
  expect(verdictOn(nodeClass)).toMatchObject({ status, ...(reason && { reason }) });
});

test("L-190: what admission lets through and scheduling cannot use makes the pool not ready", async () => {
  const world = createWorld();
  const requirements = [{ key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["xspot"] }];
  putPool(world, "default", { template: { spec: { nodeClassRef, requirements } } });
  putPendingPod(world, "a");
  world.start();
  await world.clock.advance(30_000);
  expect(findPoolCondition(pool(world), "ValidationSucceeded")).toMatchObject({ status: "False", reason: "NodePoolValidationFailed" });
  expect(findPoolCondition(pool(world), "Ready")).toMatchObject({ status: "False", reason: "UnhealthyDependents" });
  expect(world.claims()).toEqual([]);
});

test.each([
  ["", "Unknown"],
  ["F", "Healthy"],
  ["FF", "Unhealthy"],
  ["FFT", "Unhealthy"],
  ["FFTT", "Unhealthy"],
  ["TFTT", "Healthy"],
  ["TTTT", "Healthy"],
])("L-112: outcomes %s are %s", (outcomes, health) => {
  expect(healthOf([...outcomes].map((letter) => ({ isGood: letter === "T" })))).toBe(health);
});

test("L-115, L-189: a registration makes the pool healthy; a new generation of it forgets", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  const healthy = () => findPoolCondition(pool(world), "NodeRegistrationHealthy")?.status;
  await world.until("unknown", () => healthy() === "Unknown");
  await world.until("healthy", () => healthy() === "True");
  world.api.put(`${NODE_POOLS}/default`, { spec: { weight: 3 } });
  await world.until("unknown again", () => healthy() === "Unknown", 1000);
});
