import type { Node, NodeClaim, Pod } from "@joinery/api";
import { type Transport, TransportError } from "@joinery/kube";
import { expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import {
  bindPod,
  createWorld,
  createWorldWithNode,
  NODE_CLAIMS,
  NODES,
  PODS,
  putPendingPod,
  putPool,
  type World,
} from "../testing/world.ts";

const MINUTE_MS = 60_000;

const podNames = (world: World) => world.api.objects<Pod>(PODS).map(({ metadata }) => metadata!.name);
const isGone = (world: World) => world.claims().length === 0 && world.api.objects(NODES).length === 0 && world.cloud.instances.size === 0;

test("L-125, L-161, L-162: a deleted Node takes its pods, its instance and its NodeClaim along, in that order", async () => {
  const { world, node } = await createWorldWithNode(["a", "b"]);
  const deletedAtMs = world.clock.monotonicMs();
  world.api.remove(`${NODES}/${node}`);
  await world.until("cordoned", () => world.api.find<Node>(`${NODES}/${node}`)!.spec!.taints!.length > 0);
  expect(world.api.find<Node>(`${NODES}/${node}`)).toMatchObject({
    spec: { taints: [{ key: "karpenter.sh/disrupted", effect: "NoSchedule" }] },
    metadata: { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "karpenter" } },
  });
  await world.until("evicted", () => podNames(world).length === 0);
  expect(world.cloud.instances.size).toBe(1);
  await world.until("all gone", () => isGone(world));
  expect(world.clock.monotonicMs() - deletedAtMs).toBeGreaterThanOrEqual(5000); // L-146
  expect(world.clock.monotonicMs() - deletedAtMs).toBeLessThan(20_000);
});

test("L-119: a deleted NodeClaim takes its Node along", async () => {
  const { world } = await createWorldWithNode();
  world.api.remove(`${NODE_CLAIMS}/${world.claims()[0]!.metadata!.name}`);
  await world.until("all gone", () => isGone(world));
});

test.each([{ isAnswered: true }, { isAnswered: false }])(
  "L-119: a Node that was let in is drained though its NodeClaim was deleted before that was written down (answered: $isAnswered)",
  async ({ isAnswered }) => {
    const world = createWorld();
    putPool(world);
    putPendingPod(world, "a");
    let isDeleted = false;
    const { stream } = world.api.transport;
    // Where the answer is lost, the watch does not bring it either.
    const deaf: Transport["stream"] = async (request, signal) => {
      const inner = await stream(request, signal);
      async function* values() {
        for await (const value of inner.values) {
          if (isDeleted && !isAnswered && request.path === NODES) await world.clock.sleep(MINUTE_MS, signal);
          yield value;
        }
      }
      return { ...inner, values: values() };
    };
    world.start({ transport: { ...world.api.transport, stream: deaf } });
    world.api.faults.after = ({ method, path, body }) => {
      if (isDeleted || method !== "PATCH" || !/\/nodes\/[^/]+$/.test(path) || !JSON.stringify(body).includes("registered")) return;
      isDeleted = true;
      bindPod(world, "a", path.slice(path.lastIndexOf("/") + 1));
      world.api.remove(`${NODE_CLAIMS}/${world.claims()[0]!.metadata!.name}`);
      if (!isAnswered) throw new TransportError("broken", "socket hang up");
    };
    let instancesAtEviction = 0;
    world.api.onEvicted = () => {
      instancesAtEviction = world.cloud.instances.size;
    };
    await world.until("all gone", () => isDeleted && isGone(world));
    expect(instancesAtEviction).toBe(1);
  },
);

test("L-123: while it goes, Ready does not fall back", async () => {
  const { world } = await createWorldWithNode();
  world.api.remove(`${NODE_CLAIMS}/${world.claims()[0]!.metadata!.name}`);
  await world.until("ending", () => claimCondition(world.claims()[0]!, "InstanceTerminating").status === "True");
  const [claim] = world.claims();
  for (const { type, status, observedGeneration } of claim!.status!.conditions!) {
    expect({ type, status, observedGeneration }).toMatchObject({ status: "True", observedGeneration: claim!.metadata!.generation });
  }
});

test("L-146: a node is not drained while the API server has a pod on it that the watch has not brought", async () => {
  let isHeldBack = false;
  const { world, node } = await createWorldWithNode(["a"], {}, {}, (transport) => ({
    ...transport,
    async stream(request, signal) {
      const stream = await transport.stream(request, signal);
      async function* held() {
        for await (const value of stream.values) {
          while (isHeldBack) await world.clock.sleep(100, signal);
          yield value;
        }
      }
      return request.path === PODS ? { ...stream, values: held() } : stream;
    },
  }));
  const [instance] = world.cloud.instances.keys();
  world.api.remove("/api/v1/namespaces/default/pods/a");
  await world.clock.settle();
  isHeldBack = true;
  putPendingPod(world, "b");
  bindPod(world, "b", node);
  world.api.remove(`${NODES}/${node}`);
  await world.clock.advance(5 * MINUTE_MS);
  expect(world.cloud.instances.has(instance!)).toBe(true);
  isHeldBack = false;
  await world.until("ended", () => !world.cloud.instances.has(instance!));
  expect(podNames(world)).toEqual([]);
});

test("L-146: nor when the watch brings the pod while the API server is asked", async () => {
  let isHeldBack = false;
  const { world, node } = await createWorldWithNode(["a"], {}, {}, (transport) => ({
    ...transport,
    async send(request, signal) {
      const response = await transport.send(request, signal);
      if (request.query?.fieldSelector?.startsWith("spec.nodeName=") === true) {
        isHeldBack = false;
        await world.clock.sleep(1000, signal);
      }
      return response;
    },
    async stream(request, signal) {
      const stream = await transport.stream(request, signal);
      async function* held() {
        for await (const value of stream.values) {
          while (isHeldBack) await world.clock.sleep(100, signal);
          yield value;
        }
      }
      return request.path === PODS ? { ...stream, values: held() } : stream;
    },
  }));
  const [instance] = world.cloud.instances.keys();
  world.api.remove("/api/v1/namespaces/default/pods/a");
  await world.clock.settle();
  isHeldBack = true;
  putPendingPod(world, "b");
  bindPod(world, "b", node);
  let hadMachine = false;
  world.api.onEvicted = () => {
    hadMachine = world.cloud.instances.has(instance!);
  };
  world.api.remove(`${NODES}/${node}`);
  await world.until("ended", () => !world.cloud.instances.has(instance!));
  expect(hadMachine).toBe(true);
});

test("L-144: critical pods wait for the others; DaemonSets' come after", async () => {
  const { world, node } = await createWorldWithNode(["plain", "critical"]);
  world.api.put("/api/v1/namespaces/default/pods/critical", { spec: { priorityClassName: "system-cluster-critical" } });
  const order: string[] = [];
  world.api.faults.after = ({ path }) => {
    const evicted = /pods\/([^/]+)\/eviction$/.exec(path)?.[1];
    if (evicted !== undefined) order.push(evicted);
  };
  world.api.remove(`${NODES}/${node}`);
  await world.until("all gone", () => isGone(world));
  expect(order).toEqual(["plain", "critical"]);
});

test("L-152, L-155: an eviction that a budget refuses is tried again with back-off, and told", async () => {
  const { world, node } = await createWorldWithNode();
  let tries = 0;
  world.api.faults.before = ({ path }) => {
    if (!path.endsWith("/eviction") || ++tries > 8) return undefined;
    return {
      status: 429,
      body: { code: 429, reason: "TooManyRequests", message: "Cannot evict pod as it would violate the pod's disruption budget." },
    };
  };
  world.api.remove(`${NODES}/${node}`);
  await world.until("the node gone", () => world.api.find(`${NODES}/${node}`) === undefined, 5 * MINUTE_MS);
  expect(tries).toBe(9);
  const draining = world.events().filter(({ reason }) => reason === "FailedDraining");
  expect(draining.length).toBeGreaterThan(0);
});

test("L-118, L-147, L-148: with a deadline a protected pod is deleted by force, with what grace is left", async () => {
  const { world, node } = await createWorldWithNode(["a"], { terminationGracePeriod: "5m" });
  world.api.put("/api/v1/namespaces/default/pods/a", {
    metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } },
    spec: { terminationGracePeriodSeconds: 60 },
  });
  const deletions: unknown[] = [];
  world.api.faults.before = ({ method, path, body }) => {
    if (method === "DELETE" && path.endsWith("/pods/a")) deletions.push({ atMs: world.clock.monotonicMs() - startMs, body });
    return undefined;
  };
  const startMs = world.clock.monotonicMs();
  world.api.remove(`${NODES}/${node}`);
  await world.until(
    "a deadline",
    () => world.claims()[0]!.metadata!.annotations!["karpenter.sh/nodeclaim-termination-timestamp"] !== undefined,
  );
  await world.until("the node gone", () => world.api.find(`${NODES}/${node}`) === undefined, 10 * MINUTE_MS);
  expect(deletions).toHaveLength(1);
  const [{ atMs, body }] = deletions as [{ atMs: number; body: { gracePeriodSeconds: number } }];
  expect(atMs).toBeGreaterThan(4 * MINUTE_MS - 1000);
  expect(atMs).toBeLessThan(4 * MINUTE_MS + 2000);
  expect(body.gracePeriodSeconds).toBeLessThanOrEqual(60);
});

test("L-138, L-151: without a deadline a protected pod keeps its node", async () => {
  const { world, node } = await createWorldWithNode();
  world.api.put("/api/v1/namespaces/default/pods/a", { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } });
  world.api.remove(`${NODES}/${node}`);
  await world.clock.advance(10 * MINUTE_MS);
  expect(podNames(world)).toEqual(["a"]);
  world.api.put("/api/v1/namespaces/default/pods/a", { metadata: { annotations: null } });
  await world.until("all gone", () => isGone(world));
});

test("L-126: a Node that is not ready and whose machine is gone is released at once", async () => {
  const { world, node } = await createWorldWithNode();
  world.cloud.instances.clear();
  world.api.put(`${NODES}/${node}`, { status: { conditions: [{ type: "Ready", status: "Unknown" }] } });
  world.api.remove(`${NODES}/${node}`);
  await world.until("released", () => world.api.objects(NODES).length === 0, 1000);
  expect(podNames(world)).toEqual(["a"]);
});

test("L-131: a Node without NodeClaim drains and goes", async () => {
  const { world, node } = await createWorldWithNode();
  const claim = world.claims()[0] as NodeClaim;
  // As after a restore from a backup without NodeClaims.
  world.api.put(`${NODES}/${node}`, { spec: { providerID: "fake:///other" } });
  world.api.remove(`${NODES}/${node}`);
  await world.until("gone", () => world.api.objects(NODES).length === 0);
  expect(podNames(world)).toEqual([]);
  expect(world.claims()[0]!.metadata!.name).toBe(claim.metadata!.name);
});

test("L-156…L-160: the instance waits for volumes to be detached", async () => {
  const { world, node } = await createWorldWithNode();
  const path = "/apis/storage.k8s.io/v1/volumeattachments/va";
  world.api.put(path, { spec: { nodeName: node, attacher: "ebs", source: { persistentVolumeName: "pv-1" } } });
  world.api.remove(`${NODES}/${node}`);
  await world.clock.advance(2 * MINUTE_MS);
  expect(world.cloud.instances.size).toBe(1);
  expect(claimCondition(world.claims()[0]!, "VolumesDetached")).toMatchObject({ status: "Unknown", reason: "AwaitingVolumeDetachment" });
  expect(world.api.writes.filter((write) => write.includes("volumeattachments"))).toEqual([]);
  world.api.remove(path);
  await world.until("all gone", () => isGone(world));
});

test("S-2, S-15: pods of a node that goes get a place before they are evicted", async () => {
  const { world, node } = await createWorldWithNode();
  world.api.put("/api/v1/namespaces/default/pods/a", { metadata: { annotations: { x: "y" } } });
  world.api.faults.before = ({ path }) =>
    path.endsWith("/eviction") ? { status: 429, body: { code: 429, reason: "TooManyRequests", message: "no" } } : undefined;
  world.api.remove(`${NODES}/${node}`);
  await world.until("a replacement", () => world.claims().length === 2, MINUTE_MS);
  world.api.faults.before = undefined;
  await world.until("the old one gone", () => world.claims().length === 1 && world.cloud.instances.size === 1);
});

test.each([
  ["10m", 10, "DoNotDisruptUntil"],
  ["soon", 0, "InvalidDoNotDisruptAnnotation"],
  ["-1h", 0, "InvalidDoNotDisruptAnnotation"],
])("L-138: do-not-disrupt %s protects for %i minutes, and says so", async (value, minutes, reason) => {
  const { world, node } = await createWorldWithNode();
  const startTime = new Date(world.clock.wallMs()).toISOString();
  world.api.put("/api/v1/namespaces/default/pods/a", {
    metadata: { annotations: { "karpenter.sh/do-not-disrupt": value } },
    status: { startTime },
  });
  const startMs = world.clock.monotonicMs();
  world.api.remove(`${NODES}/${node}`);
  await world.until("gone", () => podNames(world).length === 0, 20 * MINUTE_MS);
  expect(Math.floor((world.clock.monotonicMs() - startMs) / MINUTE_MS)).toBe(minutes);
  await world.clock.advance(1000);
  expect(world.events().map((event) => event.reason)).toContain(reason);
});
