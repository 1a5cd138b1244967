import type { Node, NodeClaim, NodePool } from "@joinery/api";
import type { Transport } from "@joinery/kube";
import { expect, test } from "vitest";
import type { RegistrationHook } from "../cloud-provider.ts";
import type { ProviderFactory } from "../controller.ts";
import { silentLogger } from "../logger.ts";
import { claimCondition, findPoolCondition } from "../state/conditions.ts";
import { createWorld, NODE_CLAIMS, NODE_POOLS, NODES, putPendingPod, putPool, type World } from "../testing/world.ts";
import { cutText } from "./events.ts";

const MINUTE_MS = 60_000;

async function withClaim(prepare: (world: World) => void = () => {}): Promise<World> {
  const world = createWorld();
  prepare(world);
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  return world;
}

/** Answers take a while, and the watch of NodeClaims is behind that of Nodes. */
function withSlowNodeClaims({ api, clock }: World): Transport {
  const { signal } = new AbortController();
  async function* late(values: AsyncIterable<unknown>): AsyncIterable<unknown> {
    for await (const value of values) {
      await clock.sleep(500, signal);
      yield value;
    }
  }
  return {
    ...api.transport,
    async send(request, until) {
      const response = await api.transport.send(request, until);
      await clock.sleep(20, signal);
      return response;
    },
    async stream(request, until) {
      const stream = await api.transport.stream(request, until);
      return request.path.includes("/nodeclaims") ? { ...stream, values: late(stream.values) } : stream;
    },
  };
}

const condition = (world: World, type: string) => claimCondition(world.claims()[0]!, type);
test("L-76, L-83: finalizer before launch; labels, capacity and provider ID of the instance afterwards", async () => {
  const world = await withClaim();
  await world.until("launched", () => condition(world, "Launched").status === "True");
  const [claim] = world.claims();
  const patches = world.api.writes.filter((write) => write.includes("/nodeclaims/"));
  expect(patches.length).toBeGreaterThanOrEqual(3); // finalizer, metadata, status
  expect(claim!.metadata?.labels).toMatchObject({ "node.kubernetes.io/instance-type": "small", "karpenter.sh/nodepool": "default" });
  expect(claim!.status).toMatchObject({ providerID: `fake:///${claim!.metadata?.uid}`, imageID: "image-1", capacity: { cpu: "4" } });
  expect(condition(world, "Registered")).toMatchObject({ status: "Unknown", reason: "NodeNotFound" });
  expect(condition(world, "Ready")).toMatchObject({ status: "Unknown", reason: "ReconcilingDependents" });
});

test("L-84, V-94: without capacity the NodeClaim is deleted, and it and its pods are told", async () => {
  const world = createWorld();
  world.cloud.onLaunch = () => ({ kind: "insufficient-capacity", message: "none left" });
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  const messages = () => world.events().flatMap(({ reason, message }) => (reason === "InsufficientCapacityError" ? [message] : []));
  await world.until("told", () => messages().length === 2, 5000);
  expect(world.claims()).toEqual([]);
  expect(messages()).toEqual([
    expect.stringMatching(/^NodeClaim default-\w{5} event: none left$/),
    expect.stringMatching(/^NodeClaim default-\w{5} nominated for this pod failed to launch: none left$/),
  ]);
});

test("L-88, L-80: a launch that throws is told in the condition and tried again, doubling from one second", async () => {
  const world = createWorld();
  const at: number[] = [];
  world.cloud.onLaunch = () => {
    at.push(world.clock.monotonicMs());
    throw new Error("the cloud is down");
  };
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  await world.until("four tries", () => at.length === 4);
  expect(at.map((ms) => ms - at[0]!)).toEqual([0, 1000, 3000, 7000]);
  expect(condition(world, "Launched")).toMatchObject({ status: "Unknown", reason: "LaunchFailed", message: "the cloud is down" });
});

test("L-87: a provider's own reason and message stand in the condition", async () => {
  const world = await withClaim(({ cloud }) => {
    cloud.onLaunch = () => ({ kind: "failed", reason: "Unauthorized", message: "no permission" });
  });
  await world.until("told", () => condition(world, "Launched").reason === "Unauthorized");
  expect(condition(world, "Launched")).toMatchObject({ status: "Unknown", message: "no permission" });
});

test("L-82: a launch whose status could not be written is not repeated", async () => {
  const world = createWorld();
  let refused = 0;
  world.api.faults.before = ({ method, path, body }) => {
    const isLaunched = JSON.stringify(body ?? {}).includes("fake:///");
    if (method !== "PATCH" || !path.endsWith("/status") || !isLaunched || refused >= 2) return undefined;
    refused++;
    return { status: 503, body: { reason: "ServiceUnavailable", message: "not now", code: 503 } };
  };
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  await world.until("launched", () => world.claims().some((claim) => claimCondition(claim, "Launched").status === "True"));
  expect({ refused, launches: world.cloud.launches }).toEqual({ refused: 2, launches: 1 });
});

test("L-107, L-114: five minutes without a launch, then it is given up and the pool is told", async () => {
  const world = createWorld();
  world.cloud.onLaunch = () => ({ kind: "failed", reason: "Unauthorized", message: "no permission" });
  putPool(world);
  putPendingPod(world, "a");
  const { controller } = world.start();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  const first = world.claims()[0]!.metadata!.uid;
  await world.until("given up", () => world.claims().every(({ metadata }) => metadata?.uid !== first));
  expect(Math.floor(world.clock.monotonicMs() / MINUTE_MS)).toBe(5);
  expect(await controller.registry.metrics()).toMatch(
    /karpenter_nodeclaims_disrupted_total{reason="launch_timeout",nodepool="default",.*} 1/,
  );
  await world.until("the second is given up", () =>
    (world.api.find<NodePool>(`${NODE_POOLS}/default`)?.status?.conditions ?? []).some(
      ({ type, status }) => type === "NodeRegistrationHealthy" && status === "False",
    ),
  );
  expect(findPoolCondition(world.api.find<NodePool>(`${NODE_POOLS}/default`)!, "NodeRegistrationHealthy")).toMatchObject({
    reason: "Unauthorized",
    message: "no permission",
  });
});

test("L-108: fifteen minutes without a node, then NodeClaim and instance go", async () => {
  const world = createWorld();
  world.cloud.joinsAfterMs = undefined;
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  await world.until("an instance", () => world.cloud.instances.size === 1);
  const [first] = world.cloud.instances.keys();
  world.api.remove("/api/v1/namespaces/default/pods/a");
  await world.until("its end", () => !world.cloud.instances.has(first!), 20 * MINUTE_MS);
  expect(world.clock.monotonicMs() / MINUTE_MS).toBeGreaterThanOrEqual(15);
  await world.until("no NodeClaim", () => world.claims().length === 0);
});

test("L-110, L-251: a NodeClaim that nobody looked at for too long is given up without a launch", async () => {
  const world = createWorld();
  putPool(world);
  const creationTimestamp = new Date(world.clock.wallMs() - 20 * MINUTE_MS).toISOString();
  world.api.put(`${NODE_CLAIMS}/old`, {
    metadata: { creationTimestamp },
    spec: { nodeClassRef: { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" }, requirements: [] },
  });
  const { controller } = world.start();
  await world.until("given up", () => world.claims().length === 0, MINUTE_MS);
  expect(world.cloud.launches).toBe(0);
  expect(await controller.registry.metrics()).toMatch(/karpenter_nodeclaims_disrupted_total{reason="launch_timeout",.*} 1/);
  expect(await controller.registry.metrics()).not.toMatch(/reason="registration_timeout"/);
});

test("L-90, L-98: a Node that joins while the launch is being written down is registered at once", async () => {
  const world = createWorld();
  world.cloud.joinsAfterMs = undefined;
  let hasJoined = false;
  world.api.faults.before = ({ method, path }) => {
    const [instance] = world.cloud.instances.values();
    if (method !== "PATCH" || !/\/nodeclaims\/[^/]+\/status$/.test(path) || instance === undefined || hasJoined) return undefined;
    hasJoined = true;
    world.api.put(`${NODES}/early`, {
      metadata: { labels: instance.labels },
      spec: { providerID: instance.providerId, taints: [{ key: "karpenter.sh/unregistered", effect: "NoExecute" }] },
      status: { allocatable: { cpu: "4", pods: "110" }, conditions: [{ type: "Ready", status: "True" }] },
    });
    return undefined;
  };
  putPool(world);
  putPendingPod(world, "a");
  world.start({ transport: withSlowNodeClaims(world) });
  await world.until("launched", () => hasJoined);
  await world.clock.advance(5000);
  expect(condition(world, "Registered").status).toBe("True");
});

test("L-90, L-93: no Node is let in for an instance that its NodeClaim does not know yet", async () => {
  const world = createWorld();
  let isRefusing = true;
  world.api.faults.before = ({ method, path, body }) => {
    const isLaunched = method === "PATCH" && path.endsWith("/status") && JSON.stringify(body).includes("fake:///");
    return isRefusing && isLaunched ? { status: 503, body: { reason: "ServiceUnavailable", message: "not now", code: 503 } } : undefined;
  };
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  const node = () => world.api.objects<Node>(NODES)[0];
  await world.until("a Node that is ready", () => node()?.status?.conditions?.[0]?.status === "True");
  await world.clock.advance(MINUTE_MS);
  expect(node()?.metadata?.finalizers ?? []).toEqual([]);
  expect(node()?.spec?.taints?.map(({ key }) => key)).toContain("karpenter.sh/unregistered");
  isRefusing = false;
  await world.until("let in", () => condition(world, "Registered").status === "True", 2 * MINUTE_MS);
  expect(node()?.metadata?.finalizers).toEqual(["karpenter.sh/termination"]);
});

test("L-91: two Nodes of one instance are nobody's choice", async () => {
  const world = createWorld();
  world.cloud.joinsAfterMs = undefined;
  putPool(world);
  putPendingPod(world, "a");
  const first = world.start();
  await world.until("launched", () => world.claims().some((claim) => claimCondition(claim, "Launched").status === "True"));
  await first.kill();
  const providerID = world.claims()[0]!.status!.providerID;
  for (const name of ["one", "two"]) world.api.put(`${NODES}/${name}`, { spec: { providerID, taints: [] } });
  world.start();
  await world.until("told", () => condition(world, "Registered").reason !== "NodeNotFound");
  expect(condition(world, "Registered")).toMatchObject({ status: "False", reason: "MultipleNodesFound" });
});

test("L-93, L-94, L-98: the Node gets finalizer, owner, labels and taints, and loses the unregistered taint", async () => {
  const world = createWorld();
  const taint = (key: string) => ({ key, value: "v", effect: "NoSchedule" as const });
  putPool(world, "default", {
    template: {
      metadata: { labels: { team: "a" }, annotations: { note: "b" } },
      spec: {
        nodeClassRef: { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" },
        requirements: [],
        startupTaints: [taint("startup")],
      },
    },
  });
  putPendingPod(world, "a");
  world.start();
  await world.until("registered", () => world.claims().some((claim) => claimCondition(claim, "Registered").status === "True"));
  const [node] = world.api.objects<Node>(NODES);
  expect(node!.metadata).toMatchObject({
    finalizers: ["karpenter.sh/termination"],
    labels: { team: "a", "karpenter.sh/registered": "true" },
    annotations: { note: "b" },
    ownerReferences: [{ kind: "NodeClaim", name: world.claims()[0]!.metadata!.name, blockOwnerDeletion: true }],
  });
  expect(node!.spec?.taints?.map(({ key }) => key).sort()).toEqual(["node.kubernetes.io/not-ready", "startup"]);

  // L-102: the startup taint keeps it from being initialized until something removes it.
  await world.clock.advance(MINUTE_MS);
  expect(condition(world, "Initialized")).toMatchObject({
    reason: "StartupTaintsExist",
    message: 'StartupTaint "startup=v:NoSchedule" still exists',
  });
  world.api.put(`${NODES}/${node!.metadata!.name}`, { spec: { taints: [] } });
  await world.until("initialized", () => condition(world, "Initialized").status === "True");
});

test("L-92: a Node that joined without the unregistered taint is registered, with a warning", async () => {
  const world = await withClaim(({ cloud }) => {
    cloud.joinsAfterMs = undefined;
  });
  await world.until("launched", () => condition(world, "Launched").status === "True");
  world.api.put(`${NODES}/n`, { spec: { providerID: world.claims()[0]!.status!.providerID } });
  await world.until("registered", () => condition(world, "Registered").status === "True");
  await world.clock.settle();
  expect(world.events().map(({ reason }) => reason)).toContain("UnregisteredTaintMissing");
});

test("L-1, L-75: NodeClaims of another provider are left alone", async () => {
  const world = createWorld();
  world.api.put(`${NODE_CLAIMS}/foreign`, { spec: { nodeClassRef: { group: "other", kind: "Other", name: "x" }, requirements: [] } });
  world.start();
  await world.clock.advance(MINUTE_MS);
  expect(world.api.find<NodeClaim>(`${NODE_CLAIMS}/foreign`)?.metadata?.finalizers).toBeUndefined();
  expect(world.api.writes.filter((write) => write.includes("foreign"))).toEqual([]);
});

test("L-82, L-120: a NodeClaim that is deleted while it is launched leaves no instance behind", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a");
  world.cloud.onLaunched = (claim) => {
    world.api.remove("/api/v1/namespaces/default/pods/a");
    world.api.remove(`${NODE_CLAIMS}/${claim.metadata?.name}`);
  };
  world.start();
  await world.until("launched", () => world.cloud.launches === 1);
  await world.until("both gone", () => world.cloud.instances.size === 0 && world.claims().length === 0, 10_000);
});

test("L-85, L-101, scenario 3: without a node class that is ready the NodeClaim is deleted, counted, and nobody is told", async () => {
  const world = createWorld();
  world.cloud.onLaunch = () => ({ kind: "node-class-not-ready", message: "not ready" });
  putPool(world);
  putPendingPod(world, "a");
  const { controller } = world.start();
  await world.until("a NodeClaim", () => world.cloud.launches === 1);
  world.api.remove("/api/v1/namespaces/default/pods/a");
  await world.until("deleted", () => world.claims().length === 0, 5000);
  await world.clock.advance(1000);
  const metrics = await controller.registry.metrics();
  expect(metrics).toMatch(/karpenter_nodeclaims_disrupted_total{reason="nodeclass_not_ready",.*} \d/);
  // Section 17: no pods are disrupted by it, and L-101: it says nothing about registrations.
  expect(metrics).not.toMatch(/karpenter_pods_disruption_initiated_total{/);
  expect(world.events().map(({ reason }) => reason)).not.toContain("NodeClassNotReady");
  const pool = world.api.find<NodePool>(`${NODE_POOLS}/default`)!;
  expect(findPoolCondition(pool, "NodeRegistrationHealthy")?.status).toBe("Unknown");
});

/** A provider with hooks of registration. */
function withHooks(world: World, hooks: readonly RegistrationHook[]): ProviderFactory {
  const { factory } = world.cloud;
  return {
    ...factory,
    create: async (context) => ({ cloud: { ...(await factory.create(context)).cloud, registrationHooks: hooks } }),
  };
}

test("L-96, scenario 11: all hooks that wait are named in their order, and the soonest wake-up counts", async () => {
  const world = createWorld();
  const asked: Record<string, number[]> = { A: [], B: [] };
  const hook = (name: "A" | "B", afterMs: number): RegistrationHook => ({
    name,
    async ask() {
      asked[name]!.push(world.clock.monotonicMs());
      return world.clock.monotonicMs() < 4 * MINUTE_MS ? { kind: "pending", afterMs } : { kind: "ready" };
    },
  });
  putPool(world);
  putPendingPod(world, "a");
  world.start({ provider: withHooks(world, [hook("A", 50_000), hook("B", 100_000)]) });
  await world.until("waits", () =>
    world.claims().some((claim) => claimCondition(claim, "Registered").reason === "RegistrationHookPending"),
  );
  expect(condition(world, "Registered").message).toBe("A, B");
  await world.clock.advance(10_000); // the node becomes ready, which wakes it too
  const at = asked.A!.at(-1)!;
  const count = asked.A!.length;
  await world.until("asked again", () => asked.A!.length > count, 120_000);
  expect(asked.A!.at(-1)! - at).toBe(50_000);
  await world.until("registered", () => condition(world, "Registered").status === "True");
});

test("L-96, scenario 11c: a hook that fails holds the node back, and is asked again", async () => {
  const world = createWorld();
  let asked = 0;
  const hook: RegistrationHook = {
    name: "Breaks",
    async ask() {
      if (++asked < 3) throw new Error("no answer");
      return { kind: "ready" };
    },
  };
  const errors: string[] = [];
  const log = { ...silentLogger, child: () => log, error: (fields: object) => void errors.push(JSON.stringify(fields)) };
  putPool(world);
  putPendingPod(world, "a");
  world.start({ provider: withHooks(world, [hook]), log });
  await world.until("waits", () => world.claims().some((claim) => claimCondition(claim, "Registered").message === "Breaks"));
  expect(world.claims()[0]!.status!.nodeName).toBeUndefined();
  await world.until("registered", () => condition(world, "Registered").status === "True");
  expect(errors.join()).toContain('registration hook \\"Breaks\\" failed, no answer');
});

test("L-113, scenario 17: what becomes of a NodeClaim of an earlier pool of that name says nothing about this one", async () => {
  const world = createWorld();
  world.cloud.joinsAfterMs = undefined;
  putPool(world);
  for (const name of ["old-a", "old-b"]) {
    world.api.put(`${NODE_CLAIMS}/${name}`, {
      metadata: {
        labels: { "karpenter.sh/nodepool": "default" },
        ownerReferences: [{ apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "default", uid: "earlier" }],
      },
      spec: { nodeClassRef: { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" }, requirements: [] },
    });
  }
  world.start();
  await world.until("given up", () => world.claims().length === 0, 20 * MINUTE_MS);
  const pool = world.api.find<NodePool>(`${NODE_POOLS}/default`)!;
  expect(findPoolCondition(pool, "NodeRegistrationHealthy")?.status).toBe("Unknown");
});

test("L-109, scenario 15: time counts from the condition, and a node that is nearly too late is waited for", async () => {
  const world = await withClaim(({ cloud }) => {
    cloud.joinsAfterMs = undefined;
  });
  await world.until("launched", () => condition(world, "Launched").status === "True");
  const { uid, creationTimestamp } = world.claims()[0]!.metadata!;
  world.api.remove("/api/v1/namespaces/default/pods/a");
  const endMs = Date.parse(creationTimestamp!) + 15 * MINUTE_MS;
  await world.clock.advance(endMs - 1000 - world.clock.wallMs());
  expect(world.claims().map(({ metadata }) => [metadata!.uid, metadata!.deletionTimestamp])).toEqual([[uid, undefined]]);
  await world.until("deleted", () => world.claims().every(({ metadata }) => metadata!.deletionTimestamp !== undefined), 2000);
});

test("L-4, L-119, L-121, scenario 19: a NodeClaim that never registered leaves Nodes alone", async () => {
  const world = createWorld();
  world.cloud.joinsAfterMs = undefined;
  world.cloud.onLaunch = () => ({ kind: "failed", reason: "Slow", message: "later" });
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  for (let n = 0; n < 3; n++) world.api.put(`${NODES}/nameless-${n}`, {});
  world.api.remove("/api/v1/namespaces/default/pods/a");
  world.api.remove(`${NODE_CLAIMS}/${world.claims()[0]!.metadata!.name}`);
  await world.until("gone", () => world.claims().length === 0, 5000);
  expect(world.api.objects(NODES)).toHaveLength(3);
});

test("L-120, scenario 20: an instance that cannot be ended is tried again", async () => {
  const world = await withClaim();
  await world.until("Ready", () => condition(world, "Ready").status === "True");
  world.api.remove("/api/v1/namespaces/default/pods/a");
  let tries = 0;
  world.cloud.onTerminate = () => {
    if (++tries < 4) throw new Error("not now");
  };
  world.api.remove(`${NODE_CLAIMS}/${world.claims()[0]!.metadata!.name}`);
  await world.until("gone", () => world.claims().length === 0);
  expect(tries).toBeGreaterThanOrEqual(4);
  expect(world.cloud.instances.size).toBe(0);
});

test("L-96, L-97: a hook of the provider holds the node back, and may label it", async () => {
  const world = createWorld();
  let answers = 0;
  const { create } = world.cloud.factory;
  const hook = {
    name: "Waits",
    ask: async () =>
      ++answers < 3 ? ({ kind: "pending", afterMs: 2000 } as const) : ({ kind: "ready", labels: { partition: "7" } } as const),
  };
  putPool(world);
  putPendingPod(world, "a");
  world.start({
    provider: {
      ...world.cloud.factory,
      create: async (context) => ({ cloud: { ...(await create(context)).cloud, registrationHooks: [hook] } }),
    },
  });
  await world.until("pending", () =>
    world.claims().some((claim) => claimCondition(claim, "Registered").reason === "RegistrationHookPending"),
  );
  const node = () => world.api.objects<Node>(NODES)[0]!;
  expect(condition(world, "Registered").message).toBe("Waits");
  expect(node().spec?.taints?.map(({ key }) => key)).toContain("karpenter.sh/unregistered");
  expect(node().metadata?.labels?.["karpenter.sh/registered"]).toBeUndefined();
  await world.until("registered", () => condition(world, "Registered").status === "True");
  expect(node().metadata?.labels).toMatchObject({ partition: "7", "karpenter.sh/registered": "true" });
  expect(world.claims()[0]!.metadata?.labels).toMatchObject({ partition: "7" });
});

test.each([
  [1024, "x".repeat(1024)],
  [1025, `${"x".repeat(1021)}...`],
])("V-95: a text of %i bytes", (length, shown) => {
  expect(cutText("x".repeat(length))).toBe(shown);
});
