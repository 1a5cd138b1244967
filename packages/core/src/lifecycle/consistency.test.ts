import type { NodeClaim } from "@joinery/api";
import { expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { nodeRecord } from "../state/node-record.ts";
import { createWorldWithNode, NODES } from "../testing/world.ts";
import { shapeIssues } from "./consistency.ts";

const MINUTE_MS = 60_000;
const claimOf = (requests: object, capacity: object, change: Partial<NodeClaim["metadata"]> = {}, status = "True"): NodeClaim => ({
  metadata: { name: "n", ...change },
  spec: { nodeClassRef: { group: "g", kind: "k", name: "n" }, requirements: [], resources: { requests: requests as never } },
  status: {
    capacity: capacity as never,
    conditions: [{ type: "Initialized", status: status as "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
  },
});

test.each([
  {
    what: "half the memory (scenario 39)",
    claim: claimOf({ memory: "1Gi" }, { memory: "128Gi" }),
    capacity: { memory: "64Gi" },
    issues: ["expected 128Gi of resource memory, but found 64Gi (50.0% of expected)"],
  },
  { what: "exactly nine tenths", claim: claimOf({ cpu: "1" }, { cpu: "10" }), capacity: { cpu: "9" }, issues: [] },
  {
    what: "a little less than nine tenths",
    claim: claimOf({ cpu: "1" }, { cpu: "10" }),
    capacity: { cpu: "8999m" },
    issues: ["expected 10 of resource cpu, but found 8999m (90.0% of expected)"],
  },
  { what: "not asked for", claim: claimOf({ memory: "0" }, { cpu: "10", memory: "1Gi" }), capacity: { cpu: "1" }, issues: [] },
  { what: "not promised", claim: claimOf({ cpu: "1" }, {}), capacity: {}, issues: [] },
  {
    what: "on its way out",
    claim: claimOf({ cpu: "1" }, { cpu: "10" }, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    capacity: { cpu: "1" },
    issues: [],
  },
  { what: "not initialized", claim: claimOf({ cpu: "1" }, { cpu: "10" }, {}, "Unknown"), capacity: { cpu: "1" }, issues: [] },
])("L-174: $what", ({ claim, capacity, issues }) => {
  expect(shapeIssues(claim, nodeRecord({ metadata: { name: "n" }, status: { capacity: capacity as never } }))).toEqual(issues);
});

test("L-173, L-175: a node that lost memory is told in condition and event, at most every ten minutes", async () => {
  const { world, node } = await createWorldWithNode();
  const condition = () => claimCondition(world.claims()[0]!, "ConsistentStateFound");
  await world.until("looked at", () => condition().status === "True", 11 * MINUTE_MS);
  const told = () => world.events().filter(({ reason }) => reason === "FailedConsistencyCheck");
  const writes = world.api.writes.length;
  world.api.put(`${NODES}/${node}`, { status: { capacity: { cpu: "2" } } });
  await world.until("told", () => condition().status === "False", 11 * MINUTE_MS);
  expect(condition()).toMatchObject({ reason: "ConsistencyCheckFailed", message: "Consistency Check Failed" });
  await world.clock.settle();
  expect(told()).toMatchObject([{ message: "expected 4 of resource cpu, but found 2 (50.0% of expected)" }]);
  const toldAtMs = world.clock.monotonicMs();
  // Repaired at once, seen ten minutes later.
  world.api.put(`${NODES}/${node}`, { status: { capacity: { cpu: "4" } } });
  await world.until("fine again", () => condition().status === "True", 11 * MINUTE_MS);
  expect(world.clock.monotonicMs() - toldAtMs).toBe(10 * MINUTE_MS);
  const conditions = world.api.writes.slice(writes).filter((write) => /nodeclaims\/.*\/status/.test(write));
  expect(conditions).toHaveLength(2);
});
