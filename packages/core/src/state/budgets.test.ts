import type { PodDisruptionBudget } from "@joinery/api";
import { expect, test } from "vitest";
import { isBlockedNow, isFullyBlocked } from "./budgets.ts";
import type { PodRecord } from "./pod-record.ts";

const aPod = (change: Partial<PodRecord> = {}): PodRecord =>
  ({
    metadata: { name: "p", namespace: "default", uid: "u", resourceVersion: "1" },
    phase: "Running",
    owner: "other",
    shape: { namespace: "default", labels: { app: "web" }, requests: {}, tolerations: [] },
    isUnready: false,
    ...change,
  }) as PodRecord;

const aBudget = (spec: object, namespace = "default"): PodDisruptionBudget => ({
  metadata: { name: "b", namespace },
  spec: { selector: { matchLabels: { app: "web" } }, ...spec },
});

test.each<{ what: string; budgets: PodDisruptionBudget[]; pod?: Partial<PodRecord>; blocked: boolean }>([
  { what: "no budget", budgets: [], blocked: false },
  { what: "maxUnavailable 0", budgets: [aBudget({ maxUnavailable: 0 })], blocked: true },
  { what: "maxUnavailable 0%", budgets: [aBudget({ maxUnavailable: "0%" })], blocked: true },
  { what: "maxUnavailable 1", budgets: [aBudget({ maxUnavailable: 1 })], blocked: false },
  { what: "minAvailable 100%", budgets: [aBudget({ minAvailable: "100%" })], blocked: true },
  { what: "minAvailable as many as there are", budgets: [aBudget({ minAvailable: 3 })], blocked: false },
  { what: "two budgets", budgets: [aBudget({ maxUnavailable: 1 }), aBudget({ minAvailable: 1 })], blocked: true },
  { what: "another namespace's", budgets: [aBudget({ maxUnavailable: 0 }, "other")], blocked: false },
  { what: "an empty selector, which is every pod", budgets: [aBudget({ maxUnavailable: 0, selector: {} })], blocked: true },
  {
    what: "AlwaysAllow and a pod that is not ready",
    budgets: [aBudget({ maxUnavailable: 0, unhealthyPodEvictionPolicy: "AlwaysAllow" })],
    pod: { isUnready: true },
    blocked: false,
  },
  {
    what: "AlwaysAllow and a ready pod",
    budgets: [aBudget({ maxUnavailable: 0, unhealthyPodEvictionPolicy: "AlwaysAllow" })],
    blocked: true,
  },
  { what: "a pod that ends already", budgets: [aBudget({ maxUnavailable: 0 })], pod: { deletingAtMs: 1 }, blocked: false },
  {
    what: "a pod that may not be disrupted anyway",
    budgets: [aBudget({ maxUnavailable: 0 })],
    pod: { doNotDisrupt: "true" },
    blocked: false,
  },
])("S-16, L-54: $what: blocked $blocked", ({ budgets, pod, blocked }) => {
  expect(isFullyBlocked(aPod(pod), budgets, 10)).toBe(blocked);
});

const counted = (disruptionsAllowed: number | undefined, spec: object = { maxUnavailable: 1 }): PodDisruptionBudget => ({
  ...aBudget(spec),
  ...(disruptionsAllowed !== undefined && { status: { disruptionsAllowed } }),
});

test.each<{ what: string; budgets: PodDisruptionBudget[]; pod?: Partial<PodRecord>; blocked: boolean }>([
  { what: "one that lets one go", budgets: [counted(1)], blocked: false },
  { what: "one that lets none go", budgets: [counted(0)], blocked: true },
  { what: "one that nobody has counted", budgets: [counted(undefined)], blocked: true },
  { what: "two that both let one go", budgets: [counted(1), counted(1)], blocked: true },
  {
    what: "AlwaysAllow and a pod that is not ready",
    budgets: [counted(0, { maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow" })],
    pod: { isUnready: true },
    blocked: false,
  },
  { what: "a mirror pod", budgets: [counted(0)], pod: { owner: "node" }, blocked: false },
  { what: "a pod that ends already", budgets: [counted(0)], pod: { deletingAtMs: 1 }, blocked: false },
])("L-71, D-46c: $what: blocked now $blocked", ({ budgets, pod, blocked }) => {
  expect(isBlockedNow(aPod(pod), budgets, 10)).toBe(blocked);
});
