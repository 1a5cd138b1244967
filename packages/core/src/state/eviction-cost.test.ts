import type { NodeClaim } from "@joinery/api";
import { expect, test } from "vitest";
import { aPodRecord } from "../testing/pod-records.ts";
import { evictionCost, lifetimeRemaining, reschedulingCost } from "./eviction-cost.ts";

const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";
const DISRUPTION_COST = "karpenter.sh/disruption-cost";
const off = { isDeletionCostManaged: false };
const on = { isDeletionCostManaged: true };

interface Case {
  readonly rule: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly priority?: number;
  readonly options?: typeof off;
  readonly cost: number;
}

test.each<Case>([
  { rule: "D-47: nothing said", annotations: {}, cost: 1 },
  { rule: "D-47: greatest deletion cost", annotations: { [DELETION_COST]: "2147483647" }, cost: 10 },
  { rule: "D-47: least deletion cost", annotations: { [DELETION_COST]: "-2147483647" }, cost: -10 },
  { rule: "D-47: priority", annotations: {}, priority: 33_554_432, cost: 2 },
  { rule: "V-80: the user's own cost wins", annotations: { [DELETION_COST]: "100", [DISRUPTION_COST]: "134217728" }, cost: 2 },
  { rule: "V-80: also when it cannot be read", annotations: { [DELETION_COST]: "134217728", [DISRUPTION_COST]: "much" }, cost: 1 },
  { rule: "V-80: a fraction", annotations: { [DELETION_COST]: "1.5" }, cost: 1 },
  { rule: "V-80: an exponent", annotations: { [DELETION_COST]: "1e3" }, cost: 1 },
  { rule: "V-80: beyond an int32", annotations: { [DELETION_COST]: "2147483648" }, cost: 1 },
  { rule: "V-126: left over from when the gate was on", annotations: { [DELETION_COST]: "-2147483648" }, cost: 1 },
  { rule: "V-80: gate on, deletion cost", annotations: { [DELETION_COST]: "134217728" }, options: on, cost: 1 },
  { rule: "VT-40: gate on, both", annotations: { [DELETION_COST]: "100", [DISRUPTION_COST]: "2000000000" }, options: on, cost: 10 },
])("$rule: $cost", ({ annotations, priority, options = off, cost }) => {
  expect(evictionCost(aPodRecord({ annotations, spec: { priority } }), options)).toBe(cost);
});

test("D-48, L-51: reschedulable pods alone count, and none takes anything off", () => {
  const pods = [
    aPodRecord(),
    aPodRecord({ annotations: { [DELETION_COST]: "-2147483647" } }),
    aPodRecord({ owner: "apps/v1/DaemonSet" }),
    aPodRecord({ deletionTimestamp: "2026-01-01T00:00:00Z" }),
    aPodRecord({ owner: "apps/v1/StatefulSet", deletionTimestamp: "2026-01-01T00:00:00Z" }),
  ];
  expect(reschedulingCost(pods, off)).toBe(3);
});

test.each([
  { expireAfter: "Never", ageMs: 3_600_000, part: 1 },
  { expireAfter: "1h", ageMs: 0, part: 1 },
  { expireAfter: "1h", ageMs: 900_000, part: 0.75 },
  { expireAfter: "1h", ageMs: 7_200_000, part: 0 },
])("D-47: of $expireAfter $part is left after $ageMs ms", ({ expireAfter, ageMs, part }) => {
  const claim: NodeClaim = {
    metadata: { creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { nodeClassRef: { group: "g", kind: "k", name: "n" }, requirements: [], expireAfter },
  };
  expect(lifetimeRemaining(claim, Date.parse("2026-01-01T00:00:00Z") + ageMs)).toBe(part);
});
