import type { NodePool, Pod } from "@joinery/api";
import { expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { bindPod, createWorld, NODES, PODS, putPendingPod, putPool, type World } from "../testing/world.ts";

const MINUTE_MS = 60_000;
const options = { isPodDeletionCostManaged: true };
const ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";
const LEAVING = "-2147483648";
const path = (name: string) => `/api/v1/namespaces/default/pods/${name}`;

const cost = (world: World, name: string) => world.api.find<Pod>(path(name))?.metadata?.annotations?.[ANNOTATION];
const written = (world: World) => world.api.writes.filter((write) => write.startsWith("PATCH") && write.includes("/pods/"));

/** Nodes with a pod each, named after the pod. */
async function withNodes(pods: readonly string[], disruption: NodePool["spec"]["disruption"] = { budgets: [{ nodes: "100%" }] }) {
  const world = createWorld();
  putPool(world, "default", { disruption });
  for (const name of pods) putPendingPod(world, name, "3");
  const { controller } = world.start({ options });
  const ready = () => world.claims().filter((claim) => claimCondition(claim, "Ready").status === "True");
  await world.until("Ready", () => ready().length === pods.length);
  const nodes = new Map(pods.map((name, n) => [name, ready()[n]!.status!.nodeName!]));
  for (const [name, node] of nodes) bindPod(world, name, node);
  return { world, controller, nodeOf: (name: string) => nodes.get(name)! };
}

test("VT-41, V-85, V-82: two nodes get -2 and -1, and a second pass writes nothing", async () => {
  const { world, controller } = await withNodes(["a", "b"]);
  await world.until("ranked", () => cost(world, "a") !== undefined && cost(world, "b") !== undefined, 2 * MINUTE_MS);
  expect([cost(world, "a"), cost(world, "b")].sort()).toEqual(["-1", "-2"]);
  const before = written(world).length;
  let passes = 0;
  world.cloud.onInstanceTypes = () => void passes++;
  await world.clock.advance(30 * MINUTE_MS);
  expect(written(world)).toHaveLength(before);
  expect(passes).toBeLessThanOrEqual(7); // L-67: every five minutes, because prices change unseen
  expect(await controller.registry.metrics()).toMatch(/karpenter_pod_deletion_cost_pod_annotation_writes_total{result="updated"} 2\n/);
});

test("V-83, V-85: a node that goes comes before all others", async () => {
  const { world, nodeOf } = await withNodes(["a", "b"]);
  world.api.put(path("a"), { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } });
  world.api.remove(`${NODES}/${nodeOf("a")}`);
  await world.until("ranked", () => cost(world, "a") === LEAVING, 2 * MINUTE_MS);
  await world.until("the other too", () => cost(world, "b") === "-1", 2 * MINUTE_MS);
});

test.each<{ what: string; change: object; ranked: boolean; namespace?: string }>([
  { what: "a bare pod", change: { metadata: { ownerReferences: null } }, ranked: false },
  { what: "a StatefulSet's pod", change: owner("apps/v1", "StatefulSet", true), ranked: false },
  { what: "a pod whose ReplicaSet does not control it", change: owner("apps/v1", "ReplicaSet", false), ranked: false },
  { what: "a Job's pod", change: owner("batch/v1", "Job", true), ranked: true },
  { what: "a bare pod of kube-system", change: { metadata: { ownerReferences: null } }, ranked: true, namespace: "kube-system" },
  { what: "a protected pod", change: { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } }, ranked: false },
])("VT-42, V-83: beside $what: ranked $ranked", async ({ change, ranked, namespace = "default" }) => {
  const { world, nodeOf } = await withNodes(["a", "b"]);
  const other = `/api/v1/namespaces/${namespace}/pods/other`;
  world.api.put(other, {
    metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "w", uid: "w", controller: true }] },
    spec: { nodeName: nodeOf("a"), containers: [{ name: "main" }] },
    status: { phase: "Running" },
  });
  world.api.put(other, change);
  world.api.put(path("a"), { metadata: { annotations: { [ANNOTATION]: "7" } } });
  await world.until("ranked", () => cost(world, "a") !== "7" && cost(world, "b") !== undefined, 7 * MINUTE_MS);
  expect(cost(world, "a") !== undefined).toBe(ranked);
  const isReplicaSets = world.api
    .find<Pod>(other)!
    .metadata!.ownerReferences?.some(({ kind, controller }) => kind === "ReplicaSet" && controller);
  expect(world.api.find<Pod>(other)!.metadata!.annotations?.[ANNOTATION] !== undefined).toBe(ranked && isReplicaSets === true);
});

function owner(apiVersion: string, kind: string, controller: boolean) {
  return { metadata: { ownerReferences: [{ apiVersion, kind, name: "o", uid: "o", ...(controller && { controller }) }] } };
}

test.each([
  { what: "Never consolidated", disruption: { consolidateAfter: "Never", budgets: [{ nodes: "100%" }] } },
  { what: "without budget", disruption: { budgets: [{ nodes: "0" }] } },
])("VT-42, V-84: nodes of a pool that is $what are not ranked", async ({ disruption }) => {
  const { world } = await withNodes(["a"], disruption);
  await world.clock.advance(10 * MINUTE_MS);
  expect(cost(world, "a")).toBeUndefined();
  expect(written(world)).toEqual([]);
});

test("V-87: a pod that somebody else has written to meanwhile waits for the next pass; a refusal is tried again", async () => {
  const { world, controller } = await withNodes(["a"]);
  let asked = 0;
  world.api.faults.before = ({ method, path: at }) => {
    if (method !== "PATCH" || at !== path("a")) return undefined;
    asked++;
    if (asked === 1) return { status: 409, body: { code: 409, reason: "Conflict", message: "changed" } };
    return asked === 2 ? { status: 500, body: { code: 500, reason: "InternalError", message: "not now" } } : undefined;
  };
  await world.until("written", () => cost(world, "a") === "-1", 15 * MINUTE_MS);
  const metrics = await controller.registry.metrics();
  for (const result of ["skipped_conflict", "error", "updated"]) {
    expect(metrics).toMatch(new RegExp(`pod_annotation_writes_total{result="${result}"} 1\\n`));
  }
});

test("V-2: with the gate off nothing is written", async () => {
  const world = createWorld();
  putPool(world, "default", { disruption: { budgets: [{ nodes: "100%" }] } });
  putPendingPod(world, "a");
  world.start();
  await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  bindPod(world, "a", world.claims()[0]!.status!.nodeName!);
  await world.clock.advance(10 * MINUTE_MS);
  expect(written(world)).toEqual([]);
  expect(world.api.objects<Pod>(PODS)).toHaveLength(1);
});

test("V-81: no pass while a launch has not come off, and one a second after it has", async () => {
  const { world } = await withNodes(["a"]);
  world.cloud.onLaunch = () => ({ kind: "failed", reason: "Slow", message: "later" });
  putPendingPod(world, "b", "3");
  await world.until("a second NodeClaim", () => world.claims().length === 2);
  await world.clock.advance(3 * MINUTE_MS);
  expect(cost(world, "a")).toBeUndefined();
  world.cloud.onLaunch = undefined;
  await world.until("launched", () => world.cloud.instances.size === 2, 2 * MINUTE_MS);
  await world.until("ranked", () => cost(world, "a") !== undefined, 2000);
});
