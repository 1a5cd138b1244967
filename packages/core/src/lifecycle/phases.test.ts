/** What holds for a NodeClaim's phases together, whichever of them works or fails. Rules of sections 1, 3, 4 and 7. */
import type { NodeClaim, NodePool } from "@joinery/api";
import type { ApiRequest, ApiResponse } from "@joinery/kube";
import { expect, test } from "vitest";
import { claimCondition, findPoolCondition } from "../state/conditions.ts";
import { createWorld, createWorldWithNode, NODE_CLAIMS, NODE_POOLS, NODES, putPendingPod, putPool, type World } from "../testing/world.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };
const claims = (world: World) => world.claims().filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
const refusal = (status: number, reason: string): ApiResponse => ({
  status,
  body: { kind: "Status", status: "Failure", code: status, reason, message: reason },
});
const isHealthPatch = ({ method, path, body }: ApiRequest, status: string) =>
  method === "PATCH" &&
  path.includes("/nodepools/") &&
  ((body as NodePool).status?.conditions ?? []).some((each) => each.type === "NodeRegistrationHealthy" && each.status === status);
const removePod = (world: World) => world.api.remove("/api/v1/namespaces/default/pods/a");
const healthOfPool = (world: World) => findPoolCondition(world.api.find<NodePool>(`${NODE_POOLS}/default`)!, "NodeRegistrationHealthy");

test("L-2: a NodePool of another provider is neither written to nor used", async () => {
  const world = createWorld();
  world.api.put(`${NODE_POOLS}/strange`, {
    spec: { template: { spec: { nodeClassRef: { ...nodeClassRef, kind: "OtherNodeClass" }, requirements: [] } } },
  });
  putPendingPod(world, "a");
  world.start();
  await world.clock.advance(HOUR_MS);
  expect(world.api.writes.filter((write) => write.includes("strange"))).toEqual([]);
  expect(world.claims()).toEqual([]);
});

test("L-77, L-78: liveness works also while registration fails, and what each found out is written", async () => {
  const world = createWorld();
  world.api.faults.before = ({ method, path }) =>
    method === "PATCH" && path.startsWith(`${NODES}/`) ? refusal(500, "InternalError") : undefined;
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  await world.until("launched", () => world.claims().some((claim) => claimCondition(claim, "Launched").status === "True"));
  const [first] = world.claims();
  await world.until("a Node", () => world.api.objects(NODES).length === 1);
  removePod(world);
  await world.clock.advance(14 * MINUTE_MS);
  expect(claims(world).map(({ metadata }) => metadata?.uid)).toEqual([first!.metadata!.uid]);
  await world.until("given up", () => world.claims().length === 0, 3 * MINUTE_MS);
  expect(world.cloud.instances.size).toBe(0);
});

test("L-79: when the NodeClaim has a new generation, each decided condition follows it", async () => {
  const { world } = await createWorldWithNode();
  const [claim] = world.claims();
  world.api.put(`${NODE_CLAIMS}/${claim!.metadata!.name}`, { spec: { expireAfter: "999h" } });
  await world.clock.advance(MINUTE_MS);
  const [now] = world.claims();
  expect(now!.metadata!.generation).toBeGreaterThan(claim!.metadata!.generation!);
  const stamps = (now!.status!.conditions ?? []).map(({ type, observedGeneration }) => [type, observedGeneration]);
  for (const type of ["Launched", "Registered", "Initialized", "Ready"]) expect(stamps).toContainEqual([type, now!.metadata!.generation]);
});

test("L-81, L-249d: what is launched is not launched again, by this process or the next", async () => {
  const { world, kill } = await createWorldWithNode();
  await kill();
  world.start();
  const [claim] = world.claims();
  world.api.put(`${NODE_CLAIMS}/${claim!.metadata!.name}`, { metadata: { annotations: { touched: "yes" } } });
  await world.clock.advance(HOUR_MS);
  expect(world.cloud.launches).toBe(1);
});

test("L-106: what registered is never given up for its time, not even without its Node", async () => {
  const { world, node } = await createWorldWithNode();
  const [claim] = world.claims();
  world.api.put(`${NODES}/${node}`, { metadata: { finalizers: [] } });
  world.api.remove(`${NODES}/${node}`);
  removePod(world);
  await world.clock.advance(HOUR_MS);
  expect(claims(world).map(({ metadata }) => metadata?.uid)).toEqual([claim!.metadata!.uid]);
});

test("L-111: without its NodePool a NodeClaim that does not come up goes all the same", async () => {
  const world = createWorld();
  world.cloud.joinsAfterMs = undefined;
  world.api.put("/apis/test.joinery.dev/v1/testnodeclasses/default", { status: { conditions: [{ type: "Ready", status: "True" }] } });
  const spec = { nodeClassRef, requirements: [] };
  world.api.put(`${NODE_CLAIMS}/orphan`, { metadata: { labels: { "karpenter.sh/nodepool": "gone" } }, spec });
  world.start();
  await world.until("launched", () => world.cloud.instances.size === 1);
  await world.until("given up", () => world.claims().length === 0, 20 * MINUTE_MS);
  expect(world.cloud.instances.size).toBe(0);
});

test("L-111: a NodePool that somebody else has just written to is told before the NodeClaim goes", async () => {
  const world = createWorld();
  let conflicts = 0;
  let toldAtMs: number | undefined;
  world.api.faults.before = (request) => {
    if (!isHealthPatch(request, "False")) return undefined;
    if (++conflicts <= 2) return refusal(409, "Conflict");
    toldAtMs ??= world.clock.monotonicMs();
    return undefined;
  };
  world.cloud.onLaunch = () => ({ kind: "failed", reason: "Slow", message: "later" });
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  await world.until("told", () => healthOfPool(world)?.status === "False", 20 * MINUTE_MS);
  expect([conflicts, toldAtMs !== undefined]).toEqual([3, true]);
  expect(healthOfPool(world)).toMatchObject({ reason: "Slow", message: "later" });
});

test("L-100, L-260: a registration whose pool could not be told is not written down before it is", async () => {
  const world = createWorld();
  let conflicts = 0;
  const registeredWhileUntold: boolean[] = [];
  world.api.faults.before = (request) => {
    if (!isHealthPatch(request, "True") || conflicts >= 3) return undefined;
    conflicts++;
    registeredWhileUntold.push(world.claims().some((claim) => claimCondition(claim, "Registered").status === "True"));
    return refusal(409, "Conflict");
  };
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  await world.until("registered", () => world.claims().some((claim) => claimCondition(claim, "Registered").status === "True"));
  expect(registeredWhileUntold).toEqual([false, false, false]);
  expect(healthOfPool(world)?.status).toBe("True");
});

test("L-101, L-116: a pool whose nodes did not come up twice is told so, stays ready, and is used", async () => {
  const world = createWorld();
  world.cloud.onLaunch = () => ({ kind: "failed", reason: "Slow", message: "later" });
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  await world.until("two failures", () => healthOfPool(world)?.status === "False", 20 * MINUTE_MS);
  expect(findPoolCondition(world.api.find<NodePool>(`${NODE_POOLS}/default`)!, "Ready")?.status).toBe("True");
  world.cloud.onLaunch = undefined;
  await world.until("a node all the same", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
});

test("L-117: a NodeClaim that goes without our finalizer is not ours to end", async () => {
  const { world, kill } = await createWorldWithNode();
  await kill();
  const [claim] = world.claims();
  world.api.put(`${NODE_CLAIMS}/${claim!.metadata!.name}`, { metadata: { finalizers: ["example.com/other"] } });
  world.api.remove(`${NODE_CLAIMS}/${claim!.metadata!.name}`);
  let ends = 0;
  world.cloud.onTerminate = () => void ends++;
  world.start();
  await world.clock.advance(10 * MINUTE_MS);
  expect([ends, world.cloud.instances.size]).toEqual([0, 1]);
});

test("L-122: the end of a NodeClaim is counted and timed, once", async () => {
  const { world, controller } = await createWorldWithNode();
  removePod(world);
  world.api.remove(`${NODE_CLAIMS}/${world.claims()[0]!.metadata!.name}`);
  await world.until("gone", () => world.claims().length === 0);
  const metrics = await controller.registry.metrics();
  expect(metrics).toMatch(/karpenter_nodeclaims_terminated_total{nodepool="default",capacity_type="on-demand",zone="zone-a"} 1\n/);
  expect(metrics).toMatch(/karpenter_nodeclaims_termination_duration_seconds_count{nodepool="default"} 1\n/);
});

test.each([
  { grace: undefined, mode: "graceful" },
  { grace: "0s", mode: "forceful" },
  { grace: "5m", mode: "eventual" },
])("L-166: a terminationGracePeriod of $grace is told as $mode", async ({ grace, mode }) => {
  const world = createWorld();
  world.cloud.onLaunch = () => ({ kind: "insufficient-capacity", message: "none left" });
  putPool(world, "default", { template: { spec: { nodeClassRef, requirements: [], ...(grace && { terminationGracePeriod: grace }) } } });
  putPendingPod(world, "a");
  const { controller } = world.start();
  await world.clock.advance(5000);
  const counted = (await controller.registry.metrics())
    .split("\n")
    .filter((line) => line.startsWith("karpenter_nodeclaims_disrupted_total{"));
  expect(counted).toHaveLength(1);
  expect(counted[0]).toContain(`termination_mode="${mode}"`);
});

test("L-172: a Node with our finalizer and no NodeClaim stays until somebody deletes it", async () => {
  const world = createWorld();
  putPool(world);
  world.api.put(`${NODES}/lonely`, {
    metadata: {
      finalizers: ["karpenter.sh/termination"],
      labels: { "karpenter.sh/nodepool": "default", "karpenter.sh/registered": "true" },
    },
    spec: { providerID: "fake:///lonely" },
  });
  world.start();
  await world.clock.advance(5 * HOUR_MS);
  expect(world.api.find<NodeClaim>(`${NODES}/lonely`)?.metadata?.deletionTimestamp).toBeUndefined();
});

test.each([
  { rule: "L-88, L-89, V-95", what: "an error that is thrown", isThrown: true, bytes: 1024 },
  { rule: "L-87, L-89", what: "a provider's own message", isThrown: false, bytes: 2000 },
])("$rule: of $what with 2,000 bytes the condition has $bytes", async ({ isThrown, bytes }) => {
  const world = createWorld();
  const message = "x".repeat(2000);
  world.cloud.onLaunch = () => {
    if (isThrown) throw new Error(message);
    return { kind: "failed", reason: "Unauthorized", message };
  };
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  const told = () => world.claims().map((claim) => claimCondition(claim, "Launched").message ?? "")[0] ?? "";
  await world.until("told", () => told().includes("xxx"));
  expect(told()).toHaveLength(bytes);
  expect(told().endsWith("...")).toBe(isThrown);
});
