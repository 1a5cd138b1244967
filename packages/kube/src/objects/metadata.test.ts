import { findCondition, isConditionTrue } from "@joinery/api";
import { expect, test } from "vitest";
import { withCondition, withoutCondition } from "./conditions.ts";
import { withAnnotations, withFinalizer, withLabels, withoutFinalizer, withoutTaint, withTaint } from "./metadata.ts";

const node = {
  metadata: { name: "n", finalizers: ["a"], labels: { x: "1" }, annotations: { y: "2" } },
  spec: { providerID: "p", taints: [{ key: "k", value: "v", effect: "NoSchedule" as const }] },
};
const frozen = JSON.stringify(node);

test.each([
  { edit: "adds a finalizer", result: withFinalizer(node, "b").metadata.finalizers, wish: ["a", "b"] },
  { edit: "removes a finalizer", result: withoutFinalizer(node, "a").metadata.finalizers, wish: [] },
  { edit: "sets and removes labels", result: withLabels(node, { x: undefined, z: "3" }).metadata.labels, wish: { z: "3" } },
  { edit: "sets annotations", result: withAnnotations(node, { y: "4" }).metadata.annotations, wish: { y: "4" } },
  { edit: "adds a taint of another effect", result: withTaint(node, { key: "k", effect: "NoExecute" }).spec?.taints?.length, wish: 2 },
  {
    edit: "replaces a taint of another value",
    result: withTaint(node, { key: "k", value: "w", effect: "NoSchedule" }).spec?.taints,
    wish: [{ key: "k", value: "w", effect: "NoSchedule" }],
  },
  { edit: "removes a taint whatever its value", result: withoutTaint(node, { key: "k", effect: "NoSchedule" }).spec?.taints, wish: [] },
])("$edit", ({ result, wish }) => {
  expect(result).toEqual(wish);
  expect(JSON.stringify(node)).toBe(frozen);
});

test("nothing to change gives the same object", () => {
  for (const same of [
    withFinalizer(node, "a"),
    withoutFinalizer(node, "b"),
    withLabels(node, { x: "1", w: undefined }),
    withAnnotations(node, {}),
    withTaint(node, { key: "k", value: "v", effect: "NoSchedule" }),
    withoutTaint(node, { key: "other", effect: "NoSchedule" }),
  ]) {
    expect(same).toBe(node);
  }
});

test("L-9: the transition time moves only with the status; L-14: an absent condition is not True", () => {
  const [first, later] = [Date.UTC(2026, 11, 1, 10), Date.UTC(2026, 11, 1, 11)];
  const one = withCondition(undefined, { type: "Ready", status: "False", reason: "A" }, first);
  const other = withCondition(one, { type: "Ready", status: "False", reason: "B" }, later);
  expect(other).toEqual([{ type: "Ready", status: "False", reason: "B", lastTransitionTime: "2026-12-01T10:00:00Z" }]);
  const turned = withCondition(other, { type: "Ready", status: "True" }, later);
  expect(findCondition({ status: { conditions: turned } }, "Ready")?.lastTransitionTime).toBe("2026-12-01T11:00:00Z");
  expect(withCondition(other, { type: "Ready", status: "False", reason: "B" }, later)).toBe(other);
  expect(["Ready", "Other"].map((type) => isConditionTrue({ status: { conditions: turned } }, type))).toEqual([true, false]);
  expect(turned[0]).not.toHaveProperty("reason");
  expect(withCondition(turned, { type: "Ready", status: "True" }, later)).toBe(turned);
  expect(withoutCondition(turned, "Ready")).toEqual([]);
});
