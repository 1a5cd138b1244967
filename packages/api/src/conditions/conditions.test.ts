import { describe, expect, test } from "vitest";
import type { Condition } from "../kubernetes/meta.ts";
import { ec2NodeClassConditions, NODE_CLAIM_CONDITIONS, NODE_POOL_CONDITIONS } from "./condition-kinds.ts";
import {
  type Conditioned,
  clearCondition,
  conditionStatus,
  openConditions,
  setCondition,
  setConditions,
  withConditions,
} from "./conditions.ts";

const CREATED = "2026-01-01T00:00:00Z";
const NOW = Date.parse("2026-01-01T01:00:00Z");
const LATER = NOW + 60_000;

const aPool = (conditions: readonly Condition[] = [], metadata = {}): Conditioned => ({
  metadata: { name: "default", generation: 1, creationTimestamp: CREATED, ...metadata },
  status: { conditions },
});
const brief = (conditions: readonly Condition[]) => conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`);
const ready = (conditions: readonly Condition[]) => conditions.at(-1)!;

test("A-109, L-7, L-8: a new object has its root and dependents, Unknown since its creation", () => {
  const conditions = openConditions(NODE_POOL_CONDITIONS, aPool());
  expect(brief(conditions)).toEqual([
    "ValidationSucceeded=Unknown/AwaitingReconciliation",
    "NodeClassReady=Unknown/AwaitingReconciliation",
    "Ready=Unknown/AwaitingReconciliation",
  ]);
  expect(conditions.every(({ lastTransitionTime, observedGeneration }) => lastTransitionTime === CREATED && observedGeneration === 1)).toBe(
    true,
  );
});

test("A-110, L-11: True has its type as reason and no message; a change of status moves the time", () => {
  const conditions = setCondition(NODE_POOL_CONDITIONS, aPool(), { type: "ValidationSucceeded", status: "True" }, NOW);
  expect(conditions.find(({ type }) => type === "ValidationSucceeded")).toEqual({
    type: "ValidationSucceeded",
    status: "True",
    reason: "ValidationSucceeded",
    message: "",
    lastTransitionTime: "2026-01-01T01:00:00Z",
    observedGeneration: 1,
  });
});

test("L-9: a new reason with the same status keeps the time, from creation on", () => {
  const change = { type: "Launched", status: "Unknown", reason: "LaunchFailed", message: "no room" } as const;
  const conditions = setCondition(NODE_CLAIM_CONDITIONS, aPool(), change, NOW);
  expect(conditions.find(({ type }) => type === "Launched")).toMatchObject({ reason: "LaunchFailed", lastTransitionTime: CREATED });
});

test("L-10: setting what is there already gives the very same list", () => {
  const pool = aPool();
  const change = { type: "ValidationSucceeded", status: "True" } as const;
  const once = withConditions(pool, setCondition(NODE_POOL_CONDITIONS, pool, change, NOW));
  expect(setCondition(NODE_POOL_CONDITIONS, once, change, LATER)).toBe(once.status?.conditions);
});

describe("A-111, L-12: the root", () => {
  const both = [
    { type: "ValidationSucceeded", status: "True" },
    { type: "NodeClassReady", status: "True" },
  ] as const;

  test("all True", () => {
    expect(ready(setConditions(NODE_POOL_CONDITIONS, aPool(), both, NOW))).toMatchObject({ status: "True", reason: "Ready", message: "" });
  });

  test("one False with the current generation", () => {
    const failed = { type: "NodeClassReady", status: "False", reason: "NodeClassNotFound" } as const;
    const conditions = setConditions(NODE_POOL_CONDITIONS, aPool(), [both[0], failed], NOW);
    expect(ready(conditions)).toMatchObject({ status: "False", reason: "UnhealthyDependents", message: "NodeClassReady=False" });
  });

  test("A-122: a failing validation of an EC2NodeClass", () => {
    const kind = ec2NodeClassConditions({ reservedCapacity: true });
    const good = kind.dependents.map((type) => ({ type, status: "True" }) as const);
    const conditions = setConditions(
      kind,
      aPool(),
      [...good, { type: "ValidationSucceeded", status: "False", reason: "TagValidationFailed" }],
      NOW,
    );
    expect(ready(conditions)).toMatchObject({ status: "False", reason: "UnhealthyDependents", message: "ValidationSucceeded=False" });
  });

  test("scenario 53: a spec edited, one dependent rewritten", () => {
    const before = setConditions(NODE_POOL_CONDITIONS, aPool(), both, NOW);
    const conditions = setCondition(NODE_POOL_CONDITIONS, aPool(before, { generation: 2 }), both[0], LATER);
    expect(ready(conditions)).toMatchObject({ status: "Unknown", reason: "ReconcilingDependents", message: "NodeClassReady=True" });
  });

  test("the message begins with the newest transition", () => {
    const first = setCondition(NODE_CLAIM_CONDITIONS, aPool(), { type: "Registered", status: "False", reason: "MultipleNodesFound" }, NOW);
    expect(ready(first).message).toBe("Registered=False, Launched=Unknown, Initialized=Unknown");
  });

  test("L-6: independents do not count", () => {
    const object = aPool(setConditions(NODE_POOL_CONDITIONS, aPool(), both, NOW));
    const conditions = setCondition(
      NODE_POOL_CONDITIONS,
      object,
      { type: "NodeRegistrationHealthy", status: "False", reason: "RegistrationFailed" },
      LATER,
    );
    expect(ready(conditions).status).toBe("True");
  });
});

test("A-112, L-13: ascending time, root last", () => {
  const one = aPool(setCondition(NODE_CLAIM_CONDITIONS, aPool(), { type: "Launched", status: "True" }, LATER));
  const conditions = setCondition(NODE_CLAIM_CONDITIONS, one, { type: "Drifted", status: "True", reason: "AMIDrift" }, NOW);
  expect(conditions.map(({ type }) => type)).toEqual(["Registered", "Initialized", "Drifted", "Launched", "Ready"]);
});

test("A-113: while the object leaves, every set brings all conditions to the current generation", () => {
  const before = setCondition(NODE_CLAIM_CONDITIONS, aPool(), { type: "Launched", status: "True" }, NOW);
  const leaving = aPool(before, { generation: 2, deletionTimestamp: "2026-01-01T02:00:00Z" });
  const conditions = setCondition(NODE_CLAIM_CONDITIONS, leaving, { type: "Drained", status: "Unknown", reason: "Draining" }, LATER);
  expect(conditions.map(({ observedGeneration }) => observedGeneration)).toEqual([2, 2, 2, 2, 2]);
});

describe("A-114: clear", () => {
  const drifted = setCondition(NODE_CLAIM_CONDITIONS, aPool(), { type: "Drifted", status: "True", reason: "AMIDrift" }, NOW);

  test("removes an independent condition and leaves the root", () => {
    const conditions = clearCondition(NODE_CLAIM_CONDITIONS, aPool(drifted), "Drifted");
    expect(conditions.map(({ type }) => type)).not.toContain("Drifted");
    expect(ready(conditions)).toBe(ready(drifted));
  });

  test("L-13: cannot remove what Ready depends on", () => {
    expect(() => clearCondition(NODE_CLAIM_CONDITIONS, aPool(drifted), "Launched")).toThrow(/Ready depends on it/);
  });
});

test("L-14: absent is Unknown", () => {
  expect(conditionStatus(aPool(), "Drifted")).toBe("Unknown");
});
