import { expect, test } from "vitest";
import type { Taint, Toleration } from "./kubernetes/pod.ts";
import { tolerates } from "./tolerations.ts";

const taint: Taint = { key: "k", value: "950", effect: "NoSchedule" };

test.each<{ toleration: Toleration; verdict: boolean }>([
  { toleration: { key: "k", operator: "Exists" }, verdict: true },
  { toleration: { operator: "Exists" }, verdict: true },
  { toleration: { operator: "Exists", effect: "NoExecute" }, verdict: false },
  { toleration: { key: "k", value: "950" }, verdict: true },
  { toleration: { key: "k", operator: "Equal", value: "950", effect: "NoSchedule" }, verdict: true },
  { toleration: { key: "k", operator: "Equal", value: "951" }, verdict: false },
  { toleration: { key: "other", operator: "Exists" }, verdict: false },
  { toleration: { key: "k", operator: "Gt", value: "750" }, verdict: true },
  { toleration: { key: "k", operator: "Gt", value: "950" }, verdict: false },
  { toleration: { key: "k", operator: "Lt", value: "1000" }, verdict: true },
  { toleration: { key: "k", operator: "Lt", value: "many" }, verdict: false },
])("S-115: $toleration → $verdict", ({ toleration, verdict }) => {
  expect(tolerates(toleration, taint)).toBe(verdict);
});
