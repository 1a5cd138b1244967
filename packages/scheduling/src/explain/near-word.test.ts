import { expect, test } from "vitest";
import { nearKey, nearWord } from "./near-word.ts";

test.each([
  { word: "amd46", known: ["amd64", "arm64"], near: "amd64", why: "neighbours swapped" },
  { word: "defualt", known: ["default", "gpu"], near: "default", why: "neighbours swapped" },
  {
    word: "topology.kubernetes.io/zonne",
    known: ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"],
    near: "topology.kubernetes.io/zone",
    why: "a letter too many",
  },
  { word: "LINUX", known: ["linux"], near: "linux", why: "case" },
  { word: "zone-x", known: ["zone-a", "zone-b"], near: undefined, why: "two are equally near" },
  { word: "x", known: ["a"], near: undefined, why: "one letter is no misspelling of another" },
  { word: "m7i", known: ["r7g"], near: undefined, why: "too far for a short word" },
  { word: "payments", known: ["default"], near: undefined, why: "another word" },
])("$word: $why", ({ word, known, near }) => {
  expect(nearWord(word, known)).toBe(near);
});

const ZONE = "topology.kubernetes.io/zone";

test.each([
  { key: "karpenter.sh/zone", known: [ZONE, "kubernetes.io/arch"], near: ZONE, why: "another domain" },
  { key: "zone", known: [ZONE], near: ZONE, why: "no domain" },
  { key: "a/zone", known: [ZONE, "b.c/zone"], near: undefined, why: "two of another domain" },
  { key: "karpenter.sh/provisioner-name", known: ["karpenter.sh/nodepool"], near: "karpenter.sh/nodepool", why: "an earlier API" },
  { key: "eks.amazonaws.com/capacityType", known: [ZONE], near: undefined, why: "its successor is not known here" },
])("$key: $why", ({ key, known, near }) => {
  expect(nearKey(key, new Set(known))).toBe(near);
});
