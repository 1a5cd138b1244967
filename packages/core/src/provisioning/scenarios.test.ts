/**
 * Scenarios T3, T4, T20, T21, T54, T58 of the scheduling chapter: what belongs to those who ask the solver. T1: batcher.test.ts;
 * T2: pods.test.ts in scheduling; T5, T6: state/volume-claims.test.ts; the others: scenarios/ in scheduling.
 */
import { CORE_VOCABULARY, type NodePool, type Pod } from "@joinery/api";
import { createKubeClient, createRandom, createVirtualClock } from "@joinery/kube";
import { type InstanceType, type Plan, solve } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { silentLogger } from "../logger.ts";
import { createCaches } from "../state/caches.ts";
import { createCluster } from "../state/cluster.ts";
import { problemAt } from "../state/problem.ts";
import { createFakeApi, type FakeApi } from "../testing/fake-api.ts";
import { createFakeCloud, TestNodeClasses } from "../testing/fake-cloud.ts";
import { createWorld, NODE_CLAIMS, NODE_POOLS, putPendingPod, putPool, type World } from "../testing/world.ts";

const MINUTE_MS = 60_000;
const INSTANCE_TYPE = "node.kubernetes.io/instance-type";
const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };

const eventsOf = (world: World, name: string, reason: string) =>
  world.events().filter((event) => event.involvedObject.name === name && event.reason === reason);

test.each<{ what: string; spoil: (world: World) => void }>([
  {
    what: "is being deleted",
    spoil: (world) =>
      world.api.put(`${NODE_POOLS}/default`, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x"] } }),
  },
  {
    what: "is not ready",
    spoil: (world) =>
      world.api.put("/apis/test.joinery.dev/v1/testnodeclasses/default", { status: { conditions: [{ type: "Ready", status: "False" }] } }),
  },
  { what: "is static", spoil: (world) => world.api.put(`${NODE_POOLS}/default`, { spec: { replicas: 0 } }) },
])("T3 S-8: a pool that $what gives no NodeClaim; the pod is decided about", async ({ spoil }) => {
  const world = createWorld();
  putPool(world);
  spoil(world);
  putPendingPod(world, "a");
  const { controller } = world.start();
  await world.clock.advance(MINUTE_MS);
  expect(world.claims()).toEqual([]);
  expect(await controller.registry.metrics()).toMatch(/karpenter_pods_scheduling_decision_duration_seconds_count 1/);
  expect(eventsOf(world, "a", "FailedScheduling")).toEqual([]);
});

test("T4 S-18, S-22: a pod whose claim is not there is ignored, counted and told; the other goes on", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a", "1", { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "invalid" } }] });
  putPendingPod(world, "b");
  const { controller } = world.start();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  await world.clock.settle();
  expect(await controller.registry.metrics()).toMatch(/karpenter_scheduler_ignored_pods_count 1/);
  expect(eventsOf(world, "a", "FailedScheduling")).toHaveLength(1);
  expect(eventsOf(world, "b", "Nominated")).toHaveLength(1);
});

test("T54 S-64, S-98: minValues 3 of one type: the pool is told why under Strict; BestEffort relaxes, and the metric says so", async () => {
  const requirements: NodePool["spec"]["template"]["spec"]["requirements"] = [{ key: INSTANCE_TYPE, operator: "Exists", minValues: 3 }];
  const run = async (minValuesPolicy: "Strict" | "BestEffort") => {
    const world = createWorld();
    putPool(world, "default", { template: { spec: { nodeClassRef, requirements, expireAfter: "Never" } } });
    putPendingPod(world, "a");
    const { controller } = world.start({ options: { minValuesPolicy } });
    await world.clock.advance(MINUTE_MS);
    return { world, metrics: await controller.registry.metrics() };
  };
  const strict = (await run("Strict")).world;
  expect(strict.claims()).toEqual([]);
  expect(eventsOf(strict, "default", "NoCompatibleInstanceTypes")[0]?.message).toContain("minValues");
  const { world, metrics } = await run("BestEffort");
  expect(world.claims()[0]?.metadata?.annotations).toMatchObject({ "karpenter.sh/nodeclaim-min-values-relaxed": "true" });
  expect(metrics).toMatch(/karpenter_nodeclaims_created_total\{.*min_values_relaxed="true".*\} 1/);
});

/** One solve of what an API server holds. */
async function planOf(put: (api: FakeApi) => void, pool: Partial<NodePool["spec"]["template"]["spec"]> = {}): Promise<Plan> {
  const clock = createVirtualClock({ startMs: Date.parse("2026-01-01T00:00:00Z") });
  const api = createFakeApi(clock);
  put(api);
  const nodeClassKinds = [TestNodeClasses];
  const caches = createCaches({ kube: createKubeClient(api.transport), clock, random: createRandom(1), nodeClassKinds, log: silentLogger });
  const stop = new AbortController();
  void caches.run(stop.signal).catch(() => {});
  await clock.settle();
  const cluster = createCluster({ caches, clock, nodeClassKinds, nominationMs: 20_000 });
  const nodePool = {
    metadata: { name: "default", uid: "default" },
    spec: { template: { spec: { nodeClassRef, requirements: [], expireAfter: "Never", ...pool } } },
  } as NodePool;
  const [small] = createFakeCloud(api, clock).types;
  const withGpu: InstanceType = { ...small!, capacity: { ...small!.capacity, "vendor-a": 2 } };
  const options = { preferencePolicy: "Respect", minValuesPolicy: "Strict" } as const;
  const { problem } = problemAt({
    cluster,
    caches,
    pools: [{ nodePool, instanceTypes: [withGpu] }],
    options,
    vocabulary: CORE_VOCABULARY,
    nowMs: clock.wallMs(),
  });
  stop.abort();
  return solve(problem);
}

function putNode(api: FakeApi, { isInitialized = false, taints = [] as object[], status = {}, claim = {} } = {}): void {
  const labels = { "karpenter.sh/nodepool": "default", [INSTANCE_TYPE]: "small", "karpenter.sh/registered": "true" };
  const amounts = { cpu: "4", memory: "16Gi", pods: "110" };
  api.put(`${NODE_CLAIMS}/c`, {
    metadata: { labels },
    spec: { nodeClassRef, requirements: [], startupTaints: [{ key: "startup", effect: "NoSchedule" }] },
    ...claim,
    status: { providerID: "p", nodeName: "n", capacity: amounts, allocatable: amounts, ...(claim as { status?: object }).status },
  });
  api.put("/api/v1/nodes/n", {
    metadata: { labels: { ...labels, ...(isInitialized && { "karpenter.sh/initialized": "true" }) } },
    spec: { providerID: "p", taints },
    status: { capacity: { ...amounts, ...status }, allocatable: { ...amounts, ...status } },
  });
}

function putPod(
  api: FakeApi,
  name: string,
  { spec = {}, metadata = {}, status = {} }: { spec?: object; metadata?: object; status?: object } = {},
): void {
  api.put(`/api/v1/namespaces/default/pods/${name}`, {
    metadata: { labels: { app: name }, ...metadata },
    spec: { containers: [{ name: "c", resources: { requests: { cpu: "1" } } }], ...spec },
    status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }], ...status },
  });
}

const places = ({ existingNodes, newNodes }: Plan) => [existingNodes.length, newNodes.length];

test.each([{ taint: { key: "node.kubernetes.io/not-ready", effect: "NoExecute" } }, { taint: { key: "startup", effect: "NoSchedule" } }])(
  "T20 S-74: $taint.key is waited out until the node is initialized, then it counts",
  async ({ taint }) => {
    const startupTaints = [{ key: "startup", effect: "NoSchedule" }] as NodePool["spec"]["template"]["spec"]["startupTaints"];
    const plan = (isInitialized: boolean) =>
      planOf(
        (api) => {
          putNode(api, { isInitialized, taints: [taint] });
          putPod(api, "a");
        },
        { startupTaints },
      );
    expect(places(await plan(false))).toEqual([1, 0]);
    expect(places(await plan(true))).toEqual([0, 1]);
  },
);

test("T21 S-73: a device that the kubelet has not found yet counts as the NodeClaim has it", async () => {
  const gpu = { containers: [{ name: "c", resources: { requests: { "vendor-a": "1" } } }] };
  const plan = (isInitialized: boolean) =>
    planOf((api) => {
      putNode(api, {
        isInitialized,
        status: { "vendor-a": "0" },
        claim: { status: { capacity: { "vendor-a": "2" }, allocatable: { "vendor-a": "2" } } },
      });
      putPod(api, "first", { spec: { ...gpu, nodeName: "n" }, status: { phase: "Running", conditions: [] } });
      putPod(api, "second", { spec: gpu });
    });
  expect(places(await plan(false))).toEqual([1, 0]);
  expect(places(await plan(true))).toEqual([0, 1]);
});

test("T58 S-15, S-16: of a node that leaves, only pods that may and will go elsewhere get a place", async () => {
  const owner = (kind: string) => ({ ownerReferences: [{ apiVersion: "apps/v1", kind, name: "o", uid: "o", controller: true }] });
  const ending = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x"] };
  const pods: Readonly<Record<string, Pod["metadata"] & object>> = {
    active: owner("ReplicaSet"),
    "ending-replica": { ...owner("ReplicaSet"), ...ending },
    "ending-stateful": { ...owner("StatefulSet"), ...ending },
    daemon: owner("DaemonSet"),
    budgeted: owner("ReplicaSet"),
    "twice-budgeted": owner("ReplicaSet"),
  };
  const plan = await planOf((api) => {
    putNode(api, {
      isInitialized: true,
      claim: { metadata: { labels: {}, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x"] } },
    });
    for (const [name, metadata] of Object.entries(pods)) {
      putPod(api, name, {
        metadata: { labels: { app: name }, ...metadata },
        spec: { nodeName: "n" },
        status: { phase: "Running", conditions: [] },
      });
    }
    const budget = (name: string, app: string, spec: object) =>
      api.put(`/apis/policy/v1/namespaces/default/poddisruptionbudgets/${name}`, { spec: { selector: { matchLabels: { app } }, ...spec } });
    budget("none", "budgeted", { maxUnavailable: 0 });
    budget("one", "twice-budgeted", { minAvailable: 1 });
    budget("two", "twice-budgeted", { minAvailable: 1 });
  });
  expect(plan.existingNodes).toEqual([]);
  expect(plan.newNodes.flatMap((node) => node.pods).sort()).toEqual(["default/active", "default/ending-stateful"]);
});
