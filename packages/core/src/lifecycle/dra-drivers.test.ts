import type { NodeClaim, ResourceSlice } from "@joinery/api";
import { expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { createWorld, NODE_CLAIMS, putPool } from "../testing/world.ts";
import { missingDraDriver } from "./dra-drivers.ts";

const slice = (driver: string, name: string, generation: number, resourceSliceCount: number): ResourceSlice => ({
  spec: { driver, nodeName: "n", pool: { name, generation, resourceSliceCount } },
});
const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };
const asking = (drivers: string): NodeClaim => ({
  metadata: { annotations: { "karpenter.sh/requested-dra-drivers": drivers } },
  spec: { nodeClassRef, requirements: [] },
});

test.each([
  { what: "nothing asked for", drivers: "", slices: [], missing: undefined },
  { what: "blanks and empty entries", drivers: " a , ,", slices: [slice("a", "p", 1, 1)], missing: undefined },
  { what: "nothing published", drivers: "a", slices: [], missing: "a" },
  { what: "one of two (scenario 14a)", drivers: "a,b", slices: [slice("a", "p", 1, 1)], missing: "b" },
  { what: "half a pool (14b)", drivers: "a", slices: [slice("a", "p", 2, 2), slice("a", "p", 1, 1)], missing: "a" },
  {
    what: "a newer generation, whole",
    drivers: "a",
    slices: [slice("a", "p", 2, 2), slice("a", "p", 1, 3), slice("a", "p", 2, 2)],
    missing: undefined,
  },
  { what: "one whole pool beside half a one", drivers: "a", slices: [slice("a", "p", 1, 2), slice("a", "q", 1, 1)], missing: undefined },
  { what: "a pool that says it has none", drivers: "a", slices: [slice("a", "p", 1, 0)], missing: "a" },
])("L-105: $what: waits for $missing", ({ drivers, slices, missing }) => {
  expect(missingDraDriver(asking(drivers), slices)).toBe(missing);
});

test.each([
  { isDraIgnored: false, isInitialized: false },
  { isDraIgnored: true, isInitialized: true },
])("L-105, scenario 14c: requests ignored: $isDraIgnored", async ({ isDraIgnored, isInitialized }) => {
  const world = createWorld();
  putPool(world);
  world.api.put(`${NODE_CLAIMS}/dra`, asking("gpu.example.com"));
  world.start({ options: { isDraIgnored } });
  const initialized = () => claimCondition(world.claims()[0]!, "Initialized");
  await world.clock.advance(120_000);
  expect(initialized().status === "True").toBe(isInitialized);
  if (isInitialized) return;
  expect(initialized()).toMatchObject({
    reason: "DRADriverPoolsNotPublished",
    message: 'DRA driver "gpu.example.com" has not published a complete resource pool',
  });
  const nodeName = world.claims()[0]!.status!.nodeName!;
  const { driver, pool } = slice("gpu.example.com", "gpus", 1, 1).spec;
  // Local to the Node by its owner.
  const ownerReferences = [{ apiVersion: "v1", kind: "Node", name: nodeName, uid: "n" }];
  world.api.put("/apis/resource.k8s.io/v1/resourceslices/one", { metadata: { ownerReferences }, spec: { driver, pool } });
  await world.until("initialized", () => initialized().status === "True", 2000);
});
