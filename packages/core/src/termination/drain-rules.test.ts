/** Who is evicted, deleted or left alone while a node goes. Scenarios 23 to 35 of the lifecycle chapter. */
import type { Node, NodeClaim, Pod } from "@joinery/api";
import type { ApiRequest } from "@joinery/kube";
import { expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { isDrainable, isEvictable, isReschedulable, isWaitingEviction } from "../state/pod-record.ts";
import { aPodRecord, type PodWish } from "../testing/pod-records.ts";
import { bindPod, createWorldWithNode, NODE_CLAIMS, NODES, PODS, putPendingPod, type World } from "../testing/world.ts";

const MINUTE_MS = 60_000;
const NOW_MS = Date.parse("2026-01-01T12:00:00Z");
const HOLD = { metadata: { finalizers: ["example.com/hold"] } };
const path = (name: string) => `/api/v1/namespaces/default/pods/${name}`;
const podNames = (world: World) => world.api.objects<Pod>(PODS).map(({ metadata }) => metadata!.name);
const isNodeGone = (world: World, node: string) => world.api.find(`${NODES}/${node}`) === undefined;
const ago = (world: World, ms: number) => new Date(world.clock.wallMs() - ms).toISOString();

const tolerating = (toleration: object): PodWish => ({ spec: { tolerations: [toleration as never] } });
const DISRUPTED = "karpenter.sh/disrupted";

test.each<{ rule: string; pod: PodWish; drainable: boolean; evictable: boolean; reschedulable: boolean; waiting: boolean }>([
  { rule: "an ordinary pod", pod: {}, drainable: true, evictable: true, reschedulable: true, waiting: true },
  {
    rule: "L-134: tolerates by key",
    pod: tolerating({ key: DISRUPTED, operator: "Exists" }),
    drainable: false,
    evictable: false,
    reschedulable: true,
    waiting: false,
  },
  {
    rule: "L-134: tolerates with an empty value",
    pod: tolerating({ key: DISRUPTED, operator: "Equal", effect: "NoSchedule" }),
    drainable: false,
    evictable: false,
    reschedulable: true,
    waiting: false,
  },
  {
    rule: "L-134: tolerates everything",
    pod: tolerating({ operator: "Exists" }),
    drainable: false,
    evictable: false,
    reschedulable: true,
    waiting: false,
  },
  { rule: "L-136: a mirror pod", pod: { owner: "v1/Node" }, drainable: false, evictable: false, reschedulable: false, waiting: false },
  {
    rule: "L-136: a DaemonSet's pod",
    pod: { owner: "apps/v1/DaemonSet" },
    drainable: true,
    evictable: true,
    reschedulable: false,
    waiting: true,
  },
  { rule: "L-136: a pod without owner", pod: { owner: "" }, drainable: true, evictable: true, reschedulable: true, waiting: true },
  {
    rule: "L-135: terminating for a minute",
    pod: { deletionTimestamp: "2026-01-01T11:59:00Z" },
    drainable: true,
    evictable: false,
    reschedulable: false,
    waiting: true,
  },
  {
    rule: "L-135: stuck",
    pod: { deletionTimestamp: "2026-01-01T11:58:59Z" },
    drainable: false,
    evictable: false,
    reschedulable: false,
    waiting: false,
  },
  {
    rule: "L-133: a StatefulSet's pod on its way out",
    pod: { owner: "apps/v1/StatefulSet", deletionTimestamp: "2026-01-01T12:00:00Z" },
    drainable: true,
    evictable: false,
    reschedulable: true,
    waiting: true,
  },
  {
    rule: "L-132, L-137: ended",
    pod: { status: { phase: "Succeeded" } },
    drainable: true,
    evictable: false,
    reschedulable: false,
    waiting: false,
  },
  {
    rule: "L-138, L-139: do-not-disrupt",
    pod: { annotations: { "karpenter.sh/do-not-disrupt": "true" } },
    drainable: true,
    evictable: false,
    reschedulable: true,
    waiting: true,
  },
])("$rule", ({ pod, drainable, evictable, reschedulable, waiting }) => {
  const record = aPodRecord(pod);
  expect({
    drainable: isDrainable(record, NOW_MS),
    evictable: isEvictable(record, NOW_MS),
    reschedulable: isReschedulable(record),
    waiting: isWaitingEviction(record, NOW_MS),
  }).toEqual({ drainable, evictable, reschedulable, waiting });
});

test("scenario 26: pods that tolerate, mirror pods, ended and stuck ones neither hold the node nor are touched", async () => {
  const { world, node } = await createWorldWithNode(["equal", "exists", "mirror", "done", "failed", "stuck"]);
  world.api.put(path("equal"), { spec: { tolerations: [{ key: DISRUPTED, operator: "Equal", effect: "NoSchedule" }] } });
  world.api.put(path("exists"), { spec: { tolerations: [{ key: DISRUPTED, operator: "Exists" }] } });
  world.api.put(path("mirror"), { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node, uid: "n" }] } });
  world.api.put(path("done"), { status: { phase: "Succeeded" } });
  world.api.put(path("failed"), { status: { phase: "Failed" } });
  world.api.put(path("stuck"), { metadata: { ...HOLD.metadata, deletionTimestamp: ago(world, 61_000) } });
  world.api.remove(`${NODES}/${node}`);
  await world.until("gone", () => isNodeGone(world, node), MINUTE_MS);
  expect(podNames(world)).toEqual(["equal", "exists", "mirror", "done", "failed", "stuck"]);
});

test("scenario 25, L-141…L-145: tier after tier, and the next not before the one before is gone", async () => {
  const { world, node } = await createWorldWithNode(["ds-critical", "critical", "ds", "app"]);
  const daemon = { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "ds", uid: "ds" }] };
  for (const name of ["ds", "ds-critical"]) world.api.put(path(name), { metadata: daemon });
  for (const name of ["critical", "ds-critical"]) world.api.put(path(name), { spec: { priorityClassName: "system-node-critical" } });
  const evicted: string[] = [];
  world.api.onEvicted = (name) => void evicted.push(name);
  for (const name of ["app", "ds", "critical", "ds-critical"]) world.api.put(path(name), HOLD);
  world.api.remove(`${NODES}/${node}`);
  for (const [n, name] of ["app", "ds", "critical", "ds-critical"].entries()) {
    await world.clock.advance(20_000);
    expect(evicted).toHaveLength(n + 1);
    expect(evicted.at(-1)).toBe(name);
    world.api.put(path(name), { metadata: { finalizers: [] } });
  }
  await world.until("gone", () => isNodeGone(world, node));
});

test("scenario 28, L-143: with a deadline, who needs more grace than is left does not wait for its tier", async () => {
  const { world, node } = await createWorldWithNode(["app", "slow"], { terminationGracePeriod: "5m" });
  world.api.put(path("app"), { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } });
  world.api.put(path("slow"), { spec: { priorityClassName: "system-cluster-critical", terminationGracePeriodSeconds: 600 } });
  world.api.remove(`${NODES}/${node}`);
  await world.until("deleted", () => !podNames(world).includes("slow"), 10_000);
  expect(podNames(world)).toEqual(["app"]);
});

/** Deletions of pods, as the API server gets them. */
function followDeletions(world: World): { readonly name: string; readonly grace: number; readonly uid: string }[] {
  const seen: { name: string; grace: number; uid: string }[] = [];
  world.api.faults.before = ({ method, path: at, body }: ApiRequest) => {
    const name = /\/pods\/([^/]+)$/.exec(at)?.[1];
    const { gracePeriodSeconds = -1, preconditions } = (body ?? {}) as { gracePeriodSeconds?: number; preconditions?: { uid: string } };
    if (method === "DELETE" && name !== undefined) seen.push({ name, grace: gracePeriodSeconds, uid: preconditions?.uid ?? "" });
    return undefined;
  };
  return seen;
}

test.each([
  { what: "scenario 29a, L-149: terminating past the deadline", leavingInMs: 6_000_000, deadlineInMs: 210_000, deletions: [210] },
  { what: "L-147: terminating before the deadline", leavingInMs: 100_000, deadlineInMs: 210_000, deletions: [] },
  { what: "scenario 29b: the deadline has passed", leavingInMs: 6_000_000, deadlineInMs: -3_600_000, deletions: [1] },
])("$what: $deletions", async ({ leavingInMs, deadlineInMs, deletions }) => {
  const { world, node, controller } = await createWorldWithNode(["a"]);
  world.api.put(path("a"), { metadata: { ...HOLD.metadata, deletionTimestamp: ago(world, -leavingInMs) } });
  const annotations = { "karpenter.sh/nodeclaim-termination-timestamp": ago(world, -deadlineInMs) };
  world.api.put(`${NODE_CLAIMS}/${world.claims()[0]!.metadata!.name}`, { metadata: { annotations } });
  const seen = followDeletions(world);
  world.api.remove(`${NODES}/${node}`);
  await world.clock.advance(2000);
  expect(seen.map(({ grace }) => grace)).toEqual(deletions);
  expect(seen.every(({ uid }) => uid !== "")).toBe(true);
  // L-256: who let it go before has counted it.
  expect(await controller.registry.metrics()).not.toMatch(/karpenter_pods_drained_total{/);
});

test("L-148: what happens to the pod is told, with the grace that it gets", async () => {
  const { world, node } = await createWorldWithNode(["a"], { terminationGracePeriod: "0s" });
  // Or it would be evicted before the deadline is written.
  world.api.put(path("a"), { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } });
  world.api.remove(`${NODES}/${node}`);
  await world.until("deleted", () => podNames(world).length === 0, 5000);
  await world.clock.advance(1000);
  const told = world.events().filter(({ reason }) => reason === "Disrupted");
  expect(told.map(({ message }) => message)).toEqual([expect.stringContaining("granted 1 seconds of grace-period")]);
});

test("L-256: a pod that does not go is deleted by force once, and counted once", async () => {
  const { world, node, controller } = await createWorldWithNode(["a"], { terminationGracePeriod: "1m" });
  world.api.put(path("a"), { ...HOLD, spec: { terminationGracePeriodSeconds: 30 } });
  world.api.put(path("a"), { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } });
  const seen = followDeletions(world);
  world.api.remove(`${NODES}/${node}`);
  await world.clock.advance(MINUTE_MS);
  for (let second = 0; second < 30; second++) {
    world.api.put(path("a"), { metadata: { labels: { at: String(second) } } });
    await world.clock.advance(1000);
  }
  expect(seen.map(({ name }) => name)).toEqual(["a"]);
  expect(await controller.registry.metrics()).toMatch(/karpenter_pods_drained_total{reason="Forceful Termination"} 1\n/);
  // L-135: it is stuck by then, and the node goes.
  await world.until("gone", () => isNodeGone(world, node), 3 * MINUTE_MS);
});

test.each([
  { code: 429, message: "Cannot evict pod as it would violate the pod's disruption budget.", text: "evicting pod violates a PDB" },
  {
    code: 500,
    message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    text: "eviction does not support multiple PDBs",
  },
])("scenario 30, L-152: $code: $text", async ({ code, message, text }) => {
  const { world, node, controller } = await createWorldWithNode(["a"]);
  let isRefusing = true;
  world.api.faults.before = ({ path: at }) =>
    at.endsWith("/eviction") && isRefusing ? { status: code, body: { code, reason: "X", message } } : undefined;
  world.api.remove(`${NODES}/${node}`);
  await world.clock.advance(10_000);
  expect(podNames(world)).toEqual(["a"]);
  expect(world.events().filter(({ message: told }) => told.includes(text)).length).toBe(1);
  expect(await controller.registry.metrics()).toMatch(new RegExp(`karpenter_pods_eviction_requests_total{code="${code}"} \\d+`));
  isRefusing = false;
  await world.until("gone", () => isNodeGone(world, node));
});

test("V-41, V-122: an eviction that is refused for a node that is gone is given up", async () => {
  const { world, node } = await createWorldWithNode(["a"]);
  let tries = 0;
  world.api.faults.before = ({ path: at }) => {
    if (!at.endsWith("/eviction")) return undefined;
    tries++;
    return { status: 429, body: { code: 429, reason: "TooManyRequests", message: "no" } };
  };
  world.api.remove(`${NODES}/${node}`);
  await world.until("a try", () => tries > 0);
  world.api.put(`${NODES}/${node}`, { metadata: { finalizers: [] } });
  await world.clock.advance(15_000);
  const before = tries;
  await world.clock.advance(10 * MINUTE_MS);
  expect(tries).toBe(before);
});

test("V-41, L-153: a deletion that failed is not tried again for a node that is gone", async () => {
  const { world, node } = await createWorldWithNode(["a"], { terminationGracePeriod: "1m" });
  let tries = 0;
  world.api.faults.before = ({ method, path: at }) => {
    if (!at.includes("/pods/") || method === "GET") return undefined;
    if (method === "DELETE") tries++;
    return { status: 500, body: { code: 500, reason: "InternalError", message: "no" } };
  };
  world.api.remove(`${NODES}/${node}`);
  await world.until("a try", () => tries > 0);
  world.api.put(`${NODES}/${node}`, { metadata: { finalizers: [] } });
  await world.clock.advance(1000);
  const before = tries;
  await world.clock.advance(10 * MINUTE_MS);
  expect(tries).toBe(before);
});

test("scenario 33, L-154: what is evicted is counted under the reason for which its node goes", async () => {
  const { world, node, controller } = await createWorldWithNode(["a"]);
  const [claim] = world.claims();
  const time = ago(world, 0);
  const condition = { type: "DisruptionReason", status: "True", reason: "SpotInterruption", lastTransitionTime: time };
  world.api.put(`${NODE_CLAIMS}/${claim!.metadata!.name}`, { status: { conditions: [...claim!.status!.conditions!, condition] } });
  const patched = { status: { ...claim!.status, conditions: [...claim!.status!.conditions!, condition] } };
  await world.api.transport.send({
    method: "PATCH",
    path: `${NODE_CLAIMS}/${claim!.metadata!.name}/status`,
    contentType: "application/merge-patch+json",
    body: patched,
  });
  world.api.remove(`${NODES}/${node}`);
  await world.until("gone", () => isNodeGone(world, node));
  expect(await controller.registry.metrics()).toMatch(/karpenter_pods_drained_total{reason="SpotInterruption"} 1\n/);
});

test("scenario 32, L-150, L-151: a pod of the same name that came later is not touched", async () => {
  const { world, node } = await createWorldWithNode(["a"]);
  let tries = 0;
  world.api.faults.before = ({ path: at }) => {
    if (!at.endsWith("/eviction")) return undefined;
    tries++;
    return { status: 429, body: { code: 429, reason: "TooManyRequests", message: "no" } };
  };
  world.api.remove(`${NODES}/${node}`);
  await world.until("a try", () => tries > 0);
  world.api.remove(path("a"));
  world.api.put(`${NODES}/other`, {});
  putPendingPod(world, "a");
  bindPod(world, "a", "other");
  await world.clock.settle();
  const before = tries;
  await world.clock.advance(5 * MINUTE_MS);
  expect(tries).toBe(before);
});

test("scenario 31, L-150: a deadline that comes later is kept, and never loosened", async () => {
  const { world, node } = await createWorldWithNode(["a"]);
  world.api.put(path("a"), {
    metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } },
    spec: { terminationGracePeriodSeconds: 120 },
  });
  world.api.remove(`${NODES}/${node}`);
  await world.clock.advance(30_000);
  expect(podNames(world)).toEqual(["a"]);
  const annotations = { "karpenter.sh/nodeclaim-termination-timestamp": ago(world, -MINUTE_MS) };
  world.api.put(`${NODE_CLAIMS}/${world.claims()[0]!.metadata!.name}`, { metadata: { annotations } });
  await world.until("deleted", () => podNames(world).length === 0, 2000);
});

test("scenario 35, L-156: volumes of pods that stay do not hold the instance", async () => {
  const { world, node } = await createWorldWithNode(["stays"]);
  world.api.put(path("stays"), {
    spec: {
      tolerations: [{ key: DISRUPTED, operator: "Exists" }],
      volumes: [
        { name: "data", persistentVolumeClaim: { claimName: "data" } },
        { name: "scratch", ephemeral: {} },
      ],
    },
  });
  const CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims";
  world.api.put(`${CLAIMS}/data`, { spec: { volumeName: "pv-1" } });
  world.api.put(`${CLAIMS}/stays-scratch`, { spec: { volumeName: "pv-2" } });
  const attach = (name: string, source: object) =>
    world.api.put(`/apis/storage.k8s.io/v1/volumeattachments/${name}`, { spec: { nodeName: node, attacher: "ebs", source } });
  attach("one", { persistentVolumeName: "pv-1" });
  attach("two", { persistentVolumeName: "pv-2" });
  attach("inline", {});
  world.api.remove(`${NODES}/${node}`);
  await world.until("gone", () => isNodeGone(world, node), MINUTE_MS);
});

test("scenario 35, L-159: when the deadline has passed the instance goes, volumes or not", async () => {
  const { world, node } = await createWorldWithNode(["a"], { terminationGracePeriod: "2m" });
  const attachment = { spec: { nodeName: node, attacher: "ebs", source: { persistentVolumeName: "pv-1" } } };
  world.api.put("/apis/storage.k8s.io/v1/volumeattachments/one", attachment);
  const deletedAtMs = world.clock.monotonicMs();
  let reason: string | undefined;
  world.api.remove(`${NODES}/${node}`);
  await world.until("ending", () => {
    reason ??= world
      .claims()
      .flatMap((claim) => claimCondition(claim, "VolumesDetached").reason ?? [])
      .find((text) => text.startsWith("Termin"));
    return world.cloud.instances.size === 0;
  });
  expect(world.clock.monotonicMs() - deletedAtMs).toBeGreaterThan(2 * MINUTE_MS);
  expect(world.clock.monotonicMs() - deletedAtMs).toBeLessThan(3 * MINUTE_MS);
  expect(reason).toBe("TerminationGracePeriodElapsed");
  // L-160: it is not ours to delete.
  expect(world.api.find("/apis/storage.k8s.io/v1/volumeattachments/one")).toBeDefined();
});

test("scenario 23, L-5, L-125: a Node of two NodeClaims goes alone, and no instance is ended", async () => {
  const { world, node } = await createWorldWithNode(["a"]);
  world.api.remove(path("a"));
  const [claim] = world.claims();
  world.api.put(`${NODE_CLAIMS}/double`, { spec: claim!.spec });
  const status = { providerID: claim!.status!.providerID, conditions: claim!.status!.conditions };
  await world.api.transport.send({
    method: "PATCH",
    path: `${NODE_CLAIMS}/double/status`,
    contentType: "application/merge-patch+json",
    body: { status },
  });
  await world.clock.settle();
  world.api.remove(`${NODES}/${node}`);
  await world.until("gone", () => world.api.find<Node>(`${NODES}/${node}`) === undefined, 2000);
  expect(world.cloud.instances.size).toBe(1);
  expect(world.claims().filter(({ metadata }) => metadata!.deletionTimestamp === undefined)).toHaveLength(2);
});

test("L-127: a deadline that is no time stops the drain, with an error", async () => {
  const { world, node } = await createWorldWithNode(["a"]);
  const annotations = { "karpenter.sh/nodeclaim-termination-timestamp": "tomorrow" };
  world.api.put(`${NODE_CLAIMS}/${world.claims()[0]!.metadata!.name}`, { metadata: { annotations } });
  world.api.remove(`${NODES}/${node}`);
  await world.clock.advance(5 * MINUTE_MS);
  expect(podNames(world)).toEqual(["a"]);
  expect(world.api.find<NodeClaim>(`${NODE_CLAIMS}/${world.claims()[0]!.metadata!.name}`)!.metadata!.deletionTimestamp).toBeDefined();
});
