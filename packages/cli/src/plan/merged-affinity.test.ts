import type { PodAffinityTerm } from "@joinery/api";
import { expect, test } from "vitest";
import { mergedAffinity } from "./merged-affinity.ts";

const term = (more: Partial<PodAffinityTerm>): PodAffinityTerm => ({
  topologyKey: "zone",
  labelSelector: { matchLabels: { app: "x" } },
  ...more,
});
const required = (more: Partial<PodAffinityTerm>) => ({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(more)] } });
const merge = (more: Partial<PodAffinityTerm>) =>
  mergedAffinity(required(more), { rev: "a" }).podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.[0];

test.each<{ what: string; more: Partial<PodAffinityTerm>; expected: readonly unknown[] | undefined }>([
  { what: "matchLabelKeys", more: { matchLabelKeys: ["rev"] }, expected: [{ key: "rev", operator: "In", values: ["a"] }] },
  { what: "mismatchLabelKeys", more: { mismatchLabelKeys: ["rev"] }, expected: [{ key: "rev", operator: "NotIn", values: ["a"] }] },
  { what: "a key that the pod lacks", more: { matchLabelKeys: ["other"] }, expected: undefined },
])("S-138: $what", ({ more, expected }) => {
  expect(merge(more)).toEqual(
    term({ labelSelector: { matchLabels: { app: "x" }, ...(expected && { matchExpressions: expected as never }) } }),
  );
});

test("S-138: without keys the affinity is the same object; without a selector the keys select nothing", () => {
  const plain = required({});
  expect(mergedAffinity(plain, { rev: "a" })).toBe(plain);
  const affinity = {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: "zone", matchLabelKeys: ["rev"] } }],
    },
  };
  expect(mergedAffinity(affinity, { rev: "a" })).toEqual({
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: "zone" } }] },
  });
});
