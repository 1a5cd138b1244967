import type { NodeClaim, Pod } from "@joinery/api";
import type { Clock } from "@joinery/kube";
import { expect, test } from "vitest";
import type { ProviderFactory } from "../controller.ts";
import { claimCondition } from "../state/conditions.ts";
import { createWorld, NODE_CLAIMS, NODE_POOLS, NODES, PODS, putPendingPod, putPool, type World } from "../testing/world.ts";

const MINUTE_MS = 60_000;
const eventsOf = (world: World, name: string) =>
  world.events().flatMap(({ involvedObject, reason, message }) => (involvedObject.name === name ? [`${reason}: ${message}`] : []));

test("S-3, S-9: pods that come within one window share nodes", async () => {
  const world = createWorld();
  putPool(world);
  world.start();
  await world.clock.advance(2000);
  for (let n = 0; n < 8; n++) world.clock.after(n * 500, () => putPendingPod(world, `pod-${n}`));
  await world.until("NodeClaims", () => world.claims().length > 0);
  expect(world.claims()).toHaveLength(2);
  expect(world.claims()[0]!.metadata).toMatchObject({
    generateName: "default-",
    labels: { "karpenter.sh/nodepool": "default" },
    ownerReferences: [{ kind: "NodePool", name: "default", blockOwnerDeletion: true }],
  });
});

test.each([
  ["a DaemonSet's", { metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d" }] } }],
  ["mirrored from a node", { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "n" }] } }],
  ["behind a gate", { status: { conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] } }],
  ["nominated", { status: { nominatedNodeName: "n" } }],
  ["bound", { spec: { nodeName: "n" } }],
  ["at its end (S-12)", { status: { phase: "Failed" } }],
])("S-11, S-13: a pod that is %s gets no node", async (_, change) => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a");
  world.api.put("/api/v1/namespaces/default/pods/a", change);
  world.start();
  await world.clock.advance(MINUTE_MS);
  expect(world.claims()).toEqual([]);
});

test("S-188: a pod that fits nowhere is told why, every five minutes", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "huge", "64");
  world.start();
  await world.clock.advance(MINUTE_MS);
  expect(eventsOf(world, "huge")).toEqual([
    expect.stringMatching(/^FailedScheduling: Failed to schedule pod, .*no instance type has enough resources/),
  ]);
  const count = () =>
    (world.events() as unknown as { reason: string; count: number }[]).find(({ reason }) => reason === "FailedScheduling")!.count;
  expect(count()).toBe(1);
  await world.clock.advance(5 * MINUTE_MS);
  expect(count()).toBe(2);
});

test("S-18…S-20: a pod with a restricted selector is ignored, told and counted; the others go on", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "wrong", "1", { nodeSelector: { "kubernetes.io/hostname": "x" } });
  putPendingPod(world, "right");
  const { controller } = world.start();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  await world.clock.settle();
  expect(eventsOf(world, "wrong")[0]).toMatch(/^FailedScheduling: Failed to schedule pod, label kubernetes.io\/hostname is restricted/);
  expect(await controller.registry.metrics()).toMatch(/karpenter_scheduler_ignored_pods_count 1/);
});

test("S-19: a pod that opts out is left alone without a word", async () => {
  const world = createWorld();
  putPool(world);
  const matchExpressions = [{ key: "karpenter.sh/nodepool", operator: "DoesNotExist" as const }];
  putPendingPod(world, "own", "1", {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } } },
  });
  world.start();
  await world.clock.advance(MINUTE_MS);
  expect(world.claims()).toEqual([]);
  expect(eventsOf(world, "own")).toEqual([]);
});

test("S-72, S-187: a node that somebody else made and that has room is used", async () => {
  const world = createWorld();
  putPool(world);
  world.api.put(`${NODES}/hand-made`, {
    spec: {},
    status: { allocatable: { cpu: "2", memory: "4Gi", pods: "10" }, capacity: { cpu: "2", memory: "4Gi", pods: "10" } },
  });
  putPendingPod(world, "a");
  world.start();
  await world.clock.advance(MINUTE_MS);
  expect(world.claims()).toEqual([]);
  expect(eventsOf(world, "a")).toEqual(["Nominated: Pod should schedule on: node/hand-made"]);
});

test("S-61, S-65: a pool whose types cannot be had does not keep pods from nodes that exist, and says so", async () => {
  const world = createWorld();
  Object.defineProperty(world.cloud, "types", {
    get() {
      throw new Error("the cloud does not answer");
    },
  });
  putPool(world);
  world.api.put(`${NODES}/hand-made`, {
    spec: {},
    status: { allocatable: { cpu: "2", memory: "4Gi", pods: "10" }, capacity: { cpu: "2", memory: "4Gi", pods: "10" } },
  });
  putPendingPod(world, "small", "1");
  putPendingPod(world, "large", "3");
  world.start();
  await world.clock.advance(MINUTE_MS);
  expect(eventsOf(world, "small")).toEqual(["Nominated: Pod should schedule on: node/hand-made"]);
  expect(eventsOf(world, "large")).toEqual([
    expect.stringMatching(/^FailedScheduling: Failed to schedule pod, nodepool requirements filtered out all available instance types/),
  ]);
  expect(eventsOf(world, "default").map((text) => text.split(":")[0])).toContain("NoCompatibleInstanceTypes");
});

test("S-186: a node stays nominated while its pods are on their way, also when nothing changes", async () => {
  const world = createWorld();
  putPool(world);
  world.api.put(`${NODES}/hand-made`, {
    spec: { providerID: "hand:///1" },
    status: { allocatable: { cpu: "2", memory: "4Gi", pods: "10" }, capacity: { cpu: "2", memory: "4Gi", pods: "10" } },
  });
  putPendingPod(world, "a");
  const { controller } = world.start();
  await world.until("told", () => eventsOf(world, "a").length > 0);
  for (let n = 0; n < 12; n++) {
    expect(controller.cluster!.isNominated("hand:///1")).toBe(true);
    await world.clock.advance(10_000);
  }
});

test("S-87: pods that a solve had no time for are neither placed nor told; the next solve takes them", async () => {
  const world = createWorld();
  let spentMs = 0;
  const clock: Clock = { ...world.clock, monotonicMs: () => world.clock.monotonicMs() + spentMs };
  const [type] = world.cloud.types;
  // Read when the solver first sees the type, in the middle of the solve.
  const slow = Object.defineProperty({ ...type! }, "capacity", {
    get() {
      spentMs += 61_000;
      return type!.capacity;
    },
  });
  world.cloud.types = [slow];
  putPool(world);
  putPendingPod(world, "a");
  world.start({ clock });
  await world.clock.advance(9000);
  expect(spentMs).toBeGreaterThan(0);
  expect(world.claims()).toEqual([]);
  expect(eventsOf(world, "a")).toEqual([]);
  await world.until("a NodeClaim", () => world.claims().length === 1, 15_000);
});

test("S-141, S-188: a pod whose companion has no decided zone yet is told, unlike one that the solve had no time for", async () => {
  const world = createWorld();
  const [type] = world.cloud.types;
  const zones = ["zone-a", "zone-b"];
  const inZone = (zone: string) => [
    { key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["on-demand"] },
    { key: "topology.kubernetes.io/zone", operator: "In" as const, values: [zone] },
  ];
  world.cloud.types = [
    {
      ...type!,
      requirements: type!.requirements.map((item) => (item.key === "topology.kubernetes.io/zone" ? { ...item, values: zones } : item)),
      offerings: zones.map((zone) => ({ requirements: inZone(zone), priceUsdPerHour: 0.2, isAvailable: true })),
    },
  ];
  putPool(world);
  putPendingPod(world, "target", "2");
  world.api.put("/api/v1/namespaces/default/pods/target", { metadata: { labels: { app: "target" } } });
  const term = { topologyKey: "topology.kubernetes.io/zone", labelSelector: { matchLabels: { app: "target" } } };
  putPendingPod(world, "friend", "1", { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } });
  world.start();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  await world.clock.settle();
  expect(eventsOf(world, "friend")).toEqual([
    expect.stringMatching(/^FailedScheduling: Failed to schedule pod, a pod that this one must be with/),
  ]);
});

test("S-5, L-34: no second plan before the first has its instances", async () => {
  const world = createWorld();
  let isHeld = true;
  world.cloud.onLaunch = () => (isHeld ? { kind: "failed", reason: "Slow", message: "later" } : undefined);
  putPool(world);
  putPendingPod(world, "a", "3");
  world.start();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  putPendingPod(world, "b", "3");
  await world.clock.advance(MINUTE_MS);
  expect(world.claims()).toHaveLength(1);
  isHeld = false;
  await world.until("the second", () => world.claims().length === 2, 2 * MINUTE_MS);
});

test("S-5: a NodeClaim that appears while the types are asked for is waited for, and no trigger is lost", async () => {
  const world = createWorld();
  const { factory } = world.cloud;
  let isAsked = false;
  const provider: ProviderFactory = {
    ...factory,
    async create(context) {
      const { cloud } = await factory.create(context);
      const instanceTypes: typeof cloud.instanceTypes = async (pool, signal) => {
        if (!isAsked) {
          const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };
          world.api.put(`${NODE_CLAIMS}/by-hand`, { spec: { nodeClassRef, requirements: [], resources: { requests: { cpu: "1" } } } });
        }
        isAsked = true;
        await world.clock.sleep(100, signal!);
        return cloud.instanceTypes(pool, signal);
      };
      return { cloud: { ...cloud, instanceTypes } };
    },
  };
  world.cloud.onLaunch = (claim) =>
    claim.metadata?.name === "by-hand" && world.clock.monotonicMs() < MINUTE_MS
      ? { kind: "failed", reason: "Slow", message: "later" }
      : undefined;
  putPool(world);
  putPendingPod(world, "a");
  world.start({ provider });
  await world.until("the instance of the NodeClaim", () => world.cloud.instances.size === 1);
  expect(world.claims()).toHaveLength(1);
  // It has room for the pod: no second node, and the pod is told at once.
  await world.clock.advance(200);
  expect(eventsOf(world, "a")).toEqual(["Nominated: Pod should schedule on: nodeclaim/by-hand"]);
});

test("S-10, S-59: without a ready pool nothing is made; when one becomes ready the pods need not call again", async () => {
  const world = createWorld();
  putPendingPod(world, "a");
  world.start();
  await world.clock.advance(MINUTE_MS);
  expect(eventsOf(world, "a")).toEqual([]); // S-8
  putPool(world);
  const atMs = world.clock.monotonicMs();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  expect(world.clock.monotonicMs() - atMs).toBeLessThan(3000);
});

test("S-161, L-55: a pool at its limit grows no more", async () => {
  const world = createWorld();
  putPool(world, "default", { limits: { cpu: "5" } });
  for (let n = 0; n < 3; n++) putPendingPod(world, `pod-${n}`, "3");
  world.start();
  await world.clock.advance(5 * MINUTE_MS);
  expect(world.claims()).toHaveLength(1);
  expect(world.events().filter(({ reason }) => reason === "FailedScheduling")).toHaveLength(2);
});

test("S-66, S-71: room for DaemonSets is part of the wish", async () => {
  const world = createWorld();
  putPool(world);
  world.api.put("/apis/apps/v1/namespaces/kube-system/daemonsets/agent", {
    spec: { template: { metadata: {}, spec: { containers: [{ name: "c", resources: { requests: { cpu: "2" } } }] } } },
  });
  for (let n = 0; n < 2; n++) putPendingPod(world, `pod-${n}`, "2");
  world.start();
  await world.until("NodeClaims", () => world.claims().length > 0);
  expect(world.claims()).toHaveLength(2);
  expect(world.claims()[0]!.spec.resources!.requests).toMatchObject({ cpu: "4", pods: "2" });
});

test("S-66, L-32: a DaemonSet's newest pod speaks for it, with the node affinity of the template", async () => {
  const world = createWorld();
  putPool(world);
  const asks = (cpu: string, expression: object, fields?: object) => ({
    containers: [{ name: "c", resources: { requests: { cpu } } }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [expression], ...(fields && { matchFields: [fields] }) }],
        },
      },
    },
  });
  const isLinux = { key: "kubernetes.io/os", operator: "In", values: ["linux"] };
  world.api.put("/apis/apps/v1/namespaces/kube-system/daemonsets/agent", {
    spec: { template: { metadata: {}, spec: asks("4", isLinux) } },
  });
  const { uid } = world.api.find("/apis/apps/v1/namespaces/kube-system/daemonsets/agent")!.metadata!;
  const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "agent", uid, controller: true };
  const putLive = (name: string, cpu: string, minute: number) =>
    world.api.put(`/api/v1/namespaces/kube-system/pods/${name}`, {
      metadata: { ownerReferences: [owner], creationTimestamp: new Date(world.clock.wallMs() - minute * MINUTE_MS).toISOString() },
      spec: {
        ...asks(
          cpu,
          { key: "kubernetes.io/os", operator: "In", values: ["windows"] },
          { key: "metadata.name", operator: "In", values: ["n"] },
        ),
        nodeName: "n",
      },
    });
  putLive("agent-old", "3", 2);
  putLive("agent-new", "2", 1);
  putPendingPod(world, "a", "1");
  world.start();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  expect(world.claims()[0]!.spec.resources!.requests).toMatchObject({ cpu: "3", pods: "2" });
});

test("S-9: a NodeClaim that another leader made for the same pods is not made twice", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a");
  let isStolen = false;
  world.api.faults.before = ({ method, path, body }) => {
    if (method !== "POST" || path !== NODE_CLAIMS || isStolen) return undefined;
    isStolen = true;
    world.api.put(`${NODE_CLAIMS}/${(body as NodeClaim).metadata!.name}`, body as object);
    return undefined;
  };
  world.start();
  await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  expect(world.claims()).toHaveLength(1);
  expect(world.cloud.launches).toBe(1);
});

test("S-1, S-6: after an hour in which nothing could be created, pods wait no longer than ever", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a");
  let tries = 0;
  world.api.faults.before = ({ method, path }) => {
    if (method !== "POST" || path !== NODE_CLAIMS) return undefined;
    tries++;
    return { status: 500, body: { kind: "Status", status: "Failure", code: 500, reason: "InternalError", message: "out of order" } };
  };
  world.start();
  await world.clock.advance(60 * MINUTE_MS);
  expect(tries).toBeLessThan(400);
  world.api.faults.before = undefined;
  await world.until("a NodeClaim", () => world.claims().length === 1, 12_000);
});

test("L-263: NodeClaims point at their pool, so that they go with it", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  expect(world.claims()[0]!.metadata!.ownerReferences![0]!.uid).toBe(world.api.find(`${NODE_POOLS}/default`)!.metadata!.uid);
  expect(world.api.objects<Pod>(PODS)).toHaveLength(1);
});

test("T47 S-157…S-159: with default constraints the pods of a ReplicaSet are spread, bare ones are not", async () => {
  const ownerReferences = [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "rs", controller: true }];
  const claimsOf = async (isOwned: boolean) => {
    const world = createWorld();
    putPool(world);
    world.api.put("/apis/apps/v1/namespaces/default/replicasets/web", {
      spec: { replicas: 4, selector: { matchLabels: { app: "web" } }, template: { spec: { containers: [] } } },
    });
    for (let n = 0; n < 4; n++) {
      putPendingPod(world, `pod-${n}`, "100m");
      world.api.put(`/api/v1/namespaces/default/pods/pod-${n}`, { metadata: { ownerReferences: isOwned ? ownerReferences : [] } });
    }
    const byHost = { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "DoNotSchedule" } as const;
    world.start({ options: { defaultSpread: [byHost] } });
    await world.until("NodeClaims", () => world.claims().length > 0);
    await world.clock.settle();
    return world.claims().length;
  };
  expect(await claimsOf(true)).toBe(4);
  expect(await claimsOf(false)).toBe(1);
});

test("S-159: a role that may not read Services does not stop the controller; owners still tell whose pods are spread", async () => {
  const world = createWorld();
  putPool(world);
  world.api.faults.before = ({ path }) =>
    path === "/api/v1/services"
      ? { status: 403, body: { kind: "Status", status: "Failure", reason: "Forbidden", code: 403, message: "no" } }
      : undefined;
  world.api.put("/apis/apps/v1/namespaces/default/replicasets/web", {
    spec: { selector: { matchLabels: { app: "web" } }, template: { spec: { containers: [] } } },
  });
  for (let n = 0; n < 2; n++) {
    putPendingPod(world, `pod-${n}`, "100m");
    const ownerReferences = [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "rs", controller: true }];
    world.api.put(`/api/v1/namespaces/default/pods/pod-${n}`, { metadata: { ownerReferences } });
  }
  const byHost = { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "DoNotSchedule" } as const;
  const { controller } = world.start({ options: { defaultSpread: [byHost] } });
  await world.until("NodeClaims", () => world.claims().length === 2);
  expect(controller.isReady).toBe(true);
});

test("S-205: a static pool takes no part in a solve, its nodes do", async () => {
  const world = createWorld();
  putPool(world, "dynamic");
  putPool(world, "static", { replicas: 1, weight: 100 });
  const amounts = { cpu: "2", memory: "4Gi", pods: "10" };
  world.api.put(`${NODES}/of-static`, {
    metadata: { labels: { team: "a" } },
    spec: {},
    status: { allocatable: amounts, capacity: amounts },
  });
  putPendingPod(world, "small", "1");
  putPendingPod(world, "large", "3");
  world.start();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  await world.clock.settle();
  expect(world.claims()[0]?.metadata?.labels).toMatchObject({ "karpenter.sh/nodepool": "dynamic" });
  expect(eventsOf(world, "small")).toEqual(["Nominated: Pod should schedule on: node/of-static"]);
});

test("S-194, S-195: a pod that asks for devices is told that it cannot be weighed; the others go on", async () => {
  const world = createWorld();
  putPool(world);
  const resources = { requests: { cpu: "1" }, claims: [{ name: "gpu" }] };
  putPendingPod(world, "devices", "1", { containers: [{ name: "c", resources }], resourceClaims: [{ name: "gpu" }] });
  putPendingPod(world, "plain");
  const { controller } = world.start();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  await world.clock.settle();
  expect(eventsOf(world, "devices")).toEqual([
    expect.stringMatching(/^FailedScheduling: Failed to schedule pod, .*dynamic resource claims/),
  ]);
  expect(await controller.registry.metrics()).toMatch(/karpenter_scheduler_unschedulable_pods_count\{controller="provisioner"\} 1/);
});
