/** What a PodDisruptionBudget expects: figures observed on the disruption controller of Kubernetes 1.37. */
import type { PodDisruptionBudget } from "@joinery/api";
import { expect, test } from "vitest";
import { aPod } from "../world/builders.ts";
import { budgetTarget, type Scale, unmanagedMessage } from "./budget-target.ts";

const BARE = [aPod(), aPod()];
const OWNED = BARE.map((pod) => ({
  ...pod,
  metadata: { ...pod.metadata, ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "w", uid: "w", controller: true }] },
}));
const scale = (): Scale => ({ kind: "scale", uid: "w", replicas: 5 });

test.each([
  { what: "minAvailable counts pods", spec: { minAvailable: 1 }, pods: BARE, expected: 2, desired: 1 },
  { what: "a percentage asks the owner", spec: { minAvailable: "50%" }, pods: OWNED, expected: 5, desired: 3 },
  { what: "maxUnavailable asks the owner", spec: { maxUnavailable: 1 }, pods: OWNED, expected: 5, desired: 4 },
  { what: "without either bound nothing may be evicted", spec: {}, pods: OWNED, expected: 0, desired: 0 },
  { what: "pods without owner are not expected", spec: { maxUnavailable: 1 }, pods: BARE, expected: 0, desired: 0, hasUnmanaged: true },
  { what: "nor by a percentage", spec: { minAvailable: "50%" }, pods: BARE, expected: 0, desired: 0, hasUnmanaged: true },
] as { what: string; spec: PodDisruptionBudget["spec"]; pods: typeof BARE; expected: number; desired: number; hasUnmanaged?: boolean }[])(
  "$what",
  ({ spec, pods, expected, desired, hasUnmanaged = false }) => {
    expect(budgetTarget({ spec }, pods, scale)).toEqual({ kind: "target", expected, desired, hasUnmanaged });
  },
);

test("pods of an owner without scale make the budget fail, which holds all of them", () => {
  const unscalable = (): Scale => ({ kind: "unscalable", resource: "daemonsets.apps" });
  const message = "daemonsets.apps does not implement the scale subresource";
  expect(budgetTarget({ spec: { maxUnavailable: 1 } }, OWNED, unscalable)).toEqual({ kind: "failed", message });
  expect(budgetTarget({ spec: { minAvailable: 1 } }, OWNED, unscalable).kind).toBe("target");
});

test("the warning about unmanaged pods shows the selector as Kubernetes prints it", () => {
  const selector = { matchLabels: { app: "b" }, matchExpressions: [{ key: "tier", operator: "In" as const, values: ["x", "y"] }] };
  expect(unmanagedMessage({ spec: { selector } })).toContain(
    "(selector: &LabelSelector{MatchLabels:map[string]string{app: b,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:tier,Operator:In,Values:[x y],},},})",
  );
});
