import type { NodePool } from "@joinery/api";
import { expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { bindPod, createWorld, NODE_CLAIMS, NODE_POOLS, putPendingPod, putPool, type World } from "../testing/world.ts";

const MINUTE_MS = 60_000;
const options = { isStaticCapacityOn: true };
const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };

const living = (world: World) => world.claims().filter(({ metadata }) => metadata!.deletionTimestamp === undefined);
const ready = (world: World) => living(world).filter((claim) => claimCondition(claim, "Ready").status === "True");
const scale = (world: World, replicas: number) => world.api.put(`${NODE_POOLS}/default`, { spec: { replicas } });

/** A static pool of that many nodes, all Ready. */
async function withReplicas(replicas: number): Promise<World> {
  const world = createWorld();
  putPool(world, "default", { replicas });
  world.start({ options });
  await world.until("Ready", () => ready(world).length === replicas);
  return world;
}

test("L-192, L-196: a static pool gets its nodes without a pod, from the template alone", async () => {
  const world = createWorld();
  putPool(world, "default", {
    replicas: 3,
    template: {
      metadata: { labels: { team: "a" }, annotations: { note: "b" } },
      spec: {
        nodeClassRef,
        requirements: [
          { key: "example.com/generation", operator: "Gt", values: ["2"] },
          { key: "topology.kubernetes.io/zone", operator: "In", values: ["zone-a", "zone-b"] },
        ],
        expireAfter: "720h",
        taints: [{ key: "team", value: "a", effect: "NoSchedule" }],
      },
    },
  });
  const { controller } = world.start({ options });
  await world.until("Ready", () => ready(world).length === 3);
  const [claim] = world.claims();
  expect(claim).toMatchObject({
    metadata: {
      labels: { team: "a", "karpenter.sh/nodepool": "default", "example.com/generation": "3" },
      annotations: { note: "b", "karpenter.sh/nodepool-hash-version": "v3" },
      ownerReferences: [{ kind: "NodePool", name: "default", blockOwnerDeletion: true }],
    },
    spec: { expireAfter: "720h", taints: [{ key: "team" }] },
  });
  expect(claim!.spec.resources).toBeUndefined();
  expect(claim!.spec.requirements).toEqual([
    { key: "example.com/generation", operator: "Gte", values: ["3"] },
    { key: "karpenter.sh/nodepool", operator: "In", values: ["default"] },
    { key: "team", operator: "In", values: ["a"] },
    { key: "test.joinery.dev/testnodeclass", operator: "In", values: ["default"] },
    { key: "topology.kubernetes.io/zone", operator: "In", values: ["zone-a", "zone-b"] },
  ]);
  expect(await controller.registry.metrics()).toMatch(
    /karpenter_nodeclaims_created_total{reason="provisioned",nodepool="default",min_values_relaxed="false"} 3/,
  );
  await world.until("counted", () => world.api.find<NodePool>(`${NODE_POOLS}/default`)!.status?.nodes === 3, MINUTE_MS);
});

test.each([
  { what: "the gate is off", options: {}, spec: { replicas: 2 }, count: 0 },
  { what: "the pool is dynamic", options, spec: {}, count: 0 },
  { what: "no replicas are wished for", options, spec: { replicas: 0 }, count: 0 },
  { what: "limits.nodes allows one", options, spec: { replicas: 3, limits: { nodes: "1" } }, count: 1 },
  { what: "limits.nodes allows ten of fifteen", options, spec: { replicas: 15, limits: { nodes: "10" } }, count: 10 },
])("L-192, L-195, L-198: $what: $count", async ({ options: given, spec, count }) => {
  const world = createWorld();
  putPool(world, "default", spec);
  world.start({ options: given });
  await world.clock.advance(5 * MINUTE_MS);
  expect(world.claims()).toHaveLength(count);
});

test("L-191, L-192: a pool that is not ready waits, and gets its nodes as soon as it is", async () => {
  const world = createWorld();
  putPool(world, "default", { replicas: 2 });
  const NODE_CLASS = "/apis/test.joinery.dev/v1/testnodeclasses/default";
  world.api.put(NODE_CLASS, { status: { conditions: [{ type: "Ready", status: "False" }] } });
  world.start({ options });
  await world.clock.advance(MINUTE_MS);
  expect(world.claims()).toEqual([]);
  world.api.put(NODE_CLASS, { status: { conditions: [{ type: "Ready", status: "True" }] } });
  await world.until("two", () => world.claims().length === 2, 2000);
});

test("L-192: a node that is deleted is replaced at once, and a raised limit is used", async () => {
  const world = createWorld();
  putPool(world, "default", { replicas: 3, limits: { nodes: "2" } });
  world.start({ options });
  await world.until("two", () => ready(world).length === 2);
  world.api.put(`${NODE_POOLS}/default`, { spec: { limits: { nodes: "4" } } });
  await world.until("three", () => ready(world).length === 3);
  world.api.remove(`${NODE_CLAIMS}/${world.claims()[0]!.metadata!.name}`);
  await world.until("replaced", () => living(world).length === 3, 2000);
  await world.until("calm", () => world.claims().length === 3 && ready(world).length === 3);
  expect(world.cloud.instances.size).toBe(3);
});

test("L-60, L-195: a node that takes its time to go still counts against the limit", async () => {
  const world = createWorld();
  putPool(world, "default", { replicas: 2, limits: { nodes: "2" } });
  world.start({ options });
  await world.until("two", () => ready(world).length === 2);
  const { metadata, status } = world.claims()[0]!;
  putPendingPod(world, "stays", "100m");
  bindPod(world, "stays", status!.nodeName!);
  world.api.put("/api/v1/namespaces/default/pods/stays", { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } });
  world.api.remove(`${NODE_CLAIMS}/${metadata!.name}`);
  await world.clock.advance(5 * MINUTE_MS);
  expect([world.claims().length, living(world).length]).toEqual([2, 1]);
  world.api.remove("/api/v1/namespaces/default/pods/stays");
  await world.until("replaced", () => ready(world).length === 2);
});

test.each(["before", "after"] as const)("law 3: a creation whose answer is lost %s it took effect is not doubled", async (moment) => {
  const world = createWorld();
  let lost = 0;
  world.api.faults[moment] = ({ method, path }) => {
    if (method === "POST" && path.endsWith("/nodeclaims") && lost++ < 2) throw new Error("connection reset");
    return undefined;
  };
  putPool(world, "default", { replicas: 5 });
  world.start({ options });
  await world.until("Ready", () => ready(world).length === 5);
  await world.clock.advance(MINUTE_MS);
  expect([world.claims().length, world.cloud.instances.size]).toEqual([5, 5]);
});

test("L-193, law 3: a new leader creates nothing that its predecessor created", async () => {
  const world = createWorld();
  world.cloud.onLaunch = () => ({ kind: "failed", reason: "Slow", message: "later" });
  putPool(world, "default", { replicas: 4 });
  const first = world.start({ options });
  await world.until("four", () => world.claims().length === 4);
  await first.kill();
  world.start({ options });
  await world.clock.advance(MINUTE_MS);
  expect(world.claims()).toHaveLength(4);
});

test("L-84, L-192: what finds no capacity is tried again after ten seconds, not at once; what is wished for beside it does not wait", async () => {
  const world = createWorld();
  const noCapacity = () => ({ kind: "insufficient-capacity", message: "none left" }) as const;
  world.cloud.onLaunch = noCapacity;
  putPool(world, "default", { replicas: 3 });
  world.start({ options });
  await world.clock.advance(9_000);
  expect(world.cloud.launches).toBe(3);
  scale(world, 4);
  await world.clock.advance(100);
  expect(world.cloud.launches, "the fourth").toBe(4);
  await world.clock.advance(MINUTE_MS);
  expect(world.cloud.launches).toBeLessThanOrEqual(4 * 8);
  world.cloud.onLaunch = undefined;
  await world.until("Ready", () => ready(world).length === 4, MINUTE_MS);
});

test("L-200…L-203: the pool shrinks by its cheapest nodes, whatever its budgets say", async () => {
  const world = await withReplicas(3);
  world.api.put(`${NODE_POOLS}/default`, { spec: { disruption: { budgets: [{ nodes: "0" }] } } });
  const [busy, idle, guarded] = world.claims().map(({ metadata, status }) => ({ name: metadata!.name!, node: status!.nodeName! }));
  for (const [pod, at, annotations] of [
    ["a", busy!, {}],
    ["b", guarded!, { "karpenter.sh/do-not-disrupt": "true" }],
  ] as const) {
    putPendingPod(world, pod, "100m");
    bindPod(world, pod, at.node);
    world.api.put(`/api/v1/namespaces/default/pods/${pod}`, { metadata: { annotations } });
  }
  await world.clock.settle();
  scale(world, 2);
  await world.until("two", () => world.claims().length === 2);
  expect(world.claims().map(({ metadata }) => metadata!.name)).not.toContain(idle!.name);
  scale(world, 1);
  await world.until("one", () => world.claims().length === 1);
  expect(world.claims().map(({ metadata }) => metadata!.name)).toEqual([guarded!.name]);
});

test("L-201, scenario 47: NodeClaims without an instance go first", async () => {
  const world = await withReplicas(2);
  const launched = world.claims().map(({ metadata }) => metadata!.name);
  world.cloud.onLaunch = () => ({ kind: "failed", reason: "Slow", message: "later" });
  scale(world, 4);
  await world.until("four", () => world.claims().length === 4);
  scale(world, 2);
  await world.until("two", () => world.claims().length === 2);
  expect(world.claims().map(({ metadata }) => metadata!.name)).toEqual(launched);
});

test("L-202, scenario 48: a deletion that fails is tried again, and only the excess goes", async () => {
  const world = await withReplicas(4);
  let refused = 0;
  world.api.faults.before = ({ method, path }) => {
    if (method !== "DELETE" || !path.startsWith(NODE_CLAIMS) || refused++ >= 3) return undefined;
    return { status: 500, body: { code: 500, reason: "InternalError", message: "not now" } };
  };
  scale(world, 2);
  await world.until("two", () => world.claims().length === 2);
  await world.clock.advance(MINUTE_MS);
  expect(ready(world)).toHaveLength(2);
});

test("a static pool that is as wished for costs nothing", async () => {
  const world = await withReplicas(2);
  await world.clock.advance(15 * MINUTE_MS);
  const requests: string[] = [];
  world.api.faults.before = ({ path }) => void requests.push(path);
  await world.clock.advance(24 * 60 * MINUTE_MS);
  expect(requests).toEqual(Array(24).fill("/version")); // O-70, whatever else there is
});
