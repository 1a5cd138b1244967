import { CORE_VOCABULARY, type NodeClaim, type NodeOverlay, type NodePool } from "@joinery/api";
import { evaluateOverlays } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { createWorld, putPendingPod, putPool, type World } from "../testing/world.ts";
import { conditionOf } from "./evaluation.ts";
import { createOverlayStore } from "./overlay-store.ts";

const OVERLAYS = "/apis/karpenter.sh/v1alpha1/nodeoverlays";
const options = { isNodeOverlayOn: true };
const SMALL = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["small"] };

const putOverlay = (world: World, name: string, spec: object) =>
  world.api.put(`${OVERLAYS}/${name}`, { spec: { requirements: [SMALL], ...spec } });
const validation = (world: World, name: string) =>
  world.api.find<NodeOverlay>(`${OVERLAYS}/${name}`)?.status?.conditions?.find(({ type }) => type === "ValidationSucceeded");
const isReady = (claim: NodeClaim) => claimCondition(claim, "Ready").status === "True";

test("L-235, L-243: of two overlays of equal weight the later name holds, and the other is told why not", async () => {
  const world = createWorld();
  putPool(world);
  putOverlay(world, "overlay-a", { weight: 10, price: "1" });
  putOverlay(world, "overlay-b", { weight: 10, price: "2" });
  world.start({ options });
  await world.until("told", () => validation(world, "overlay-a") !== undefined, 2000);
  expect(validation(world, "overlay-b")).toMatchObject({ status: "True" });
  expect(validation(world, "overlay-a")).toMatchObject({
    status: "False",
    reason: "Conflict",
    message: 'conflict with another overlay: "overlay-b" of equal weight sets price of small in NodePool "default" too',
  });
  // Once the other is gone, nothing is in its way.
  world.api.remove(`${OVERLAYS}/overlay-b`);
  await world.until("holds", () => validation(world, "overlay-a")?.status === "True", 2000);
});

test("L-227, L-235: what admission lets through and cannot be done is told", () => {
  const message = 'spec.capacity.cpu: resource "cpu" cannot be changed by an overlay';
  const invalid = [{ kind: "restricted-resource", path: ["spec", "capacity", "cpu"], message: message.slice(19) }] as const;
  expect(conditionOf({ kind: "invalid", invalid })).toMatchObject({ status: "False", reason: "RuntimeValidation", message });
});

test("L-238, L-240, S-183: pods can have what an overlay adds; the NodeClaim says so", async () => {
  const world = createWorld();
  putPool(world);
  putOverlay(world, "fuse", { capacity: { "example.com/fuse": "3" }, price: "0.01" });
  const fuse = { containers: [{ name: "main", resources: { requests: { cpu: "1", "example.com/fuse": "1" } } }] };
  putPendingPod(world, "a", "1", fuse);
  world.start({ options });
  await world.until("a NodeClaim", () => world.claims().length === 1);
  expect(world.claims()[0]!.metadata!.annotations).toMatchObject({
    "karpenter.sh/price-overlay-applied": "true",
    "karpenter.sh/capacity-overlay-applied": "true",
  });
});

test("L-225, L-238, scenario 53: a pool whose types cannot be had is not used until they can; the others are", async () => {
  const world = createWorld();
  let isBroken = true;
  world.cloud.onInstanceTypes = ({ metadata }) => {
    if (metadata!.name === "broken" && isBroken) throw new Error("the types cannot be had");
  };
  putPool(world, "broken", { weight: 50 });
  putPool(world, "works");
  putOverlay(world, "cheap", { price: "0.01" });
  putPendingPod(world, "a", "3");
  world.start({ options });
  await world.until("Ready", () => world.claims().some(isReady));
  expect(world.claims().map(({ metadata }) => metadata!.labels!["karpenter.sh/nodepool"])).toEqual(["works"]);
  expect(validation(world, "cheap")).toMatchObject({ status: "True" });
  isBroken = false;
  await world.clock.advance(120_000);
  putPendingPod(world, "b", "3");
  await world.until("another", () => world.claims().length === 2);
  expect(
    world
      .claims()
      .map(({ metadata }) => metadata!.labels!["karpenter.sh/nodepool"])
      .sort(),
  ).toEqual(["broken", "works"]);
});

test("L-237: a pool that is made later is evaluated before it is used, and then at once", async () => {
  const world = createWorld();
  const { controller } = world.start({ options });
  await world.clock.advance(60_000);
  putPool(world);
  putPendingPod(world, "a");
  await world.until("a NodeClaim", () => world.claims().length === 1, 5000);
  expect(controller.cluster?.sync.hasCaughtUp).toBe(true);
});

test("L-235: while an overlay's status cannot be written nothing new is in force", async () => {
  const world = createWorld();
  let refused = 0;
  world.api.faults.before = ({ method, path }) => {
    if (method !== "PATCH" || !path.startsWith(OVERLAYS) || refused++ >= 5) return undefined;
    return { status: 500, body: { code: 500, reason: "InternalError", message: "not now" } };
  };
  putPool(world);
  putOverlay(world, "cheap", { price: "0.01" });
  putPendingPod(world, "a");
  world.start({ options });
  await world.until("a NodeClaim", () => world.claims().length === 1);
  expect(refused).toBeGreaterThanOrEqual(5);
  expect(world.claims()[0]!.metadata!.annotations).toMatchObject({ "karpenter.sh/price-overlay-applied": "true" });
});

test("gate off: overlays are neither read nor applied", async () => {
  const world = createWorld();
  putPool(world);
  putOverlay(world, "cheap", { price: "0.01" });
  putPendingPod(world, "a");
  world.start();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  expect(world.claims()[0]!.metadata!.annotations).not.toHaveProperty("karpenter.sh/price-overlay-applied");
  expect(validation(world, "cheap")).toBeUndefined();
});

test("L-236, L-238: a pool that no evaluation has seen has no types", () => {
  const store = createOverlayStore();
  const [known, unknown] = ["known", "unknown"].map((uid) => ({ metadata: { name: uid, uid } }) as NodePool);
  expect(() => store.typesFor(known!, [])).toThrow('not been evaluated for nodepool "known"');
  const { overlays } = evaluateOverlays([], [], CORE_VOCABULARY);
  store.replace(overlays, new Set(["known"]));
  expect(store.typesFor(known!, [])).toEqual([]);
  expect(() => store.typesFor(unknown!, [])).toThrow('not been evaluated for nodepool "unknown"');
});
