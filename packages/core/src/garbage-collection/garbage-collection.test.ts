import type { Node } from "@joinery/api";
import { expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { bindPod, createWorld, NODES, putPendingPod, putPool, type World } from "../testing/world.ts";
import { isLeaked } from "./instances.ts";

const MINUTE_MS = 60_000;

async function withNode(): Promise<World> {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  bindPod(world, "a", world.claims()[0]!.status!.nodeName!);
  await world.clock.advance(5000);
  return world;
}

const setReady = (world: World, status: string) =>
  world.api.put(`${NODES}/${world.api.objects<Node>(NODES)[0]!.metadata!.name}`, { status: { conditions: [{ type: "Ready", status }] } });

test("L-167, L-168: a NodeClaim whose instance is gone goes too, once its kubelet is silent", async () => {
  const world = await withNode();
  const uid = world.claims()[0]!.metadata!.uid;
  world.cloud.instances.clear();
  await world.clock.advance(5 * MINUTE_MS);
  expect(world.claims().map(({ metadata }) => metadata!.uid)).toEqual([uid]);
  setReady(world, "Unknown");
  await world.until("collected", () => world.claims().every(({ metadata }) => metadata!.uid !== uid), 5 * MINUTE_MS);
});

test("L-255: while Nodes cannot be asked for, a NodeClaim whose Node was ready is not taken for one without", async () => {
  const world = await withNode();
  const uid = world.claims()[0]!.metadata!.uid;
  world.api.faults.before = ({ path }) =>
    path.startsWith(NODES) ? { status: 500, body: { kind: "Status", code: 500, reason: "InternalError", message: "no" } } : undefined;
  world.cloud.instances.clear();
  await world.clock.advance(10 * MINUTE_MS);
  expect(world.claims().map(({ metadata }) => [metadata!.uid, metadata!.deletionTimestamp])).toEqual([[uid, undefined]]);
});

test("L-169: an instance without its Node object keeps its NodeClaim", async () => {
  const world = await withNode();
  const uid = world.claims()[0]!.metadata!.uid;
  world.api.put(`${NODES}/${world.claims()[0]!.status!.nodeName}`, { metadata: { finalizers: [] } });
  world.api.remove(`${NODES}/${world.claims()[0]!.status!.nodeName}`);
  await world.clock.advance(10 * MINUTE_MS);
  expect(world.claims()[0]!.metadata!.uid).toBe(uid);
});

test("L-170, L-171: an instance that no NodeClaim knows is ended after its grace, and its Node with it", async () => {
  const world = await withNode();
  const [known] = [...world.cloud.instances.values()];
  const leaked = {
    ...known!,
    uid: "leaked",
    providerId: "fake:///leaked",
    nodeClaimName: "default-gone0",
    createdAtMs: world.clock.wallMs(),
  };
  world.cloud.instances.set(leaked.providerId, leaked);
  world.api.put(`${NODES}/leaked`, { spec: { providerID: leaked.providerId } });
  await world.clock.advance(25_000);
  expect(world.cloud.instances.has(leaked.providerId)).toBe(true);
  await world.until("ended", () => !world.cloud.instances.has(leaked.providerId), 3 * MINUTE_MS);
  await world.until("its Node gone", () => world.api.find(`${NODES}/leaked`) === undefined, MINUTE_MS);
  expect(world.cloud.instances.size).toBe(1);
});

const claim = (name: string, providerID?: string) => ({
  metadata: { name },
  spec: { nodeClassRef: { group: "g", kind: "K", name: "n" }, requirements: [] },
  ...(providerID && { status: { providerID } }),
});
const instance = (nodeClaimName?: string) => ({
  providerId: "i-1",
  capacity: {},
  allocatable: {},
  labels: {},
  annotations: {},
  ...(nodeClaimName && { nodeClaimName }),
});

test.each([
  { what: "known by its ID", of: instance("a"), claims: [claim("a", "i-1")], leaked: false },
  { what: "the launch of its NodeClaim is not written yet", of: instance("a"), claims: [claim("a")], leaked: false },
  { what: "nameless, while a NodeClaim has no instance yet", of: instance(), claims: [claim("b")], leaked: false },
  { what: "of a NodeClaim that has another instance", of: instance("a"), claims: [claim("a", "i-2")], leaked: true },
  { what: "of a NodeClaim that is gone", of: instance("a"), claims: [claim("b")], leaked: true },
  { what: "nameless, and all have theirs", of: instance(), claims: [claim("b", "i-2")], leaked: true },
])("L-170: $what", ({ of, claims, leaked }) => {
  expect(isLeaked(of, claims)).toBe(leaked);
});
