import { expect, test } from "vitest";
import type { Reason } from "./reason.ts";
import { sentence, sentences } from "./sentence.ts";

const filter = { category: 7, requirements: "a In [b]", least: { cpu: 2100, pods: 3 } } as const;

test.each<{ rule: string; reason: Reason; text: string }>([
  { rule: "S-8", reason: { kind: "no-node-pool" }, text: "no dynamic nodepools found" },
  {
    rule: "S-59",
    reason: { kind: "node-pool-not-ready", nodePool: "a", message: "its node class is not ready" },
    text: "nodepool is not ready, its node class is not ready (NodePool=a)",
  },
  {
    rule: "S-114",
    reason: {
      kind: "untolerated-taint",
      nodePool: "a",
      taints: [
        { key: "k", value: "v", effect: "NoSchedule" },
        { key: "l", effect: "NoExecute" },
      ],
    },
    text: "did not tolerate taint (taint=k=v:NoSchedule); did not tolerate taint (taint=l:NoExecute)",
  },
  {
    rule: "S-43",
    reason: { kind: "incompatible-requirements", nodePool: "a", key: "k", wanted: "k In [x]", offered: "k In [y]" },
    text: "incompatible requirements, key k, k In [x] not in k In [y]",
  },
  {
    rule: "S-42",
    reason: { kind: "undefined-label", nodePool: "a", key: "k" },
    text: 'incompatible requirements, label "k" does not have known values',
  },
  {
    rule: "S-102, S-103",
    reason: {
      kind: "insufficient-resources",
      nodePool: "a",
      requests: { cpu: 1100 },
      message: "no instance type has enough resources",
      filter,
    },
    text: 'no instance type has enough resources, requirements=a In [b], resources={"cpu":"2100m","pods":"3"}',
  },
  {
    rule: "S-103",
    reason: { kind: "no-offering", nodePool: "a", message: "none", filter: { ...filter, most: { cpu: 3000 } } },
    text: 'none, requirements=a In [b], resources=min={"cpu":"2100m","pods":"3"}, max={"cpu":"3"}',
  },
  {
    rule: "S-161",
    reason: { kind: "over-limit", nodePool: "a", resource: "nodes", used: 2, limit: 2 },
    text: "node limits have been exhausted for nodepool (NodePool=a)",
  },
  {
    rule: "S-161",
    reason: { kind: "over-limit", nodePool: "a", resource: "cpu", used: 2000, limit: 2000 },
    text: "all available instance types exceed limits for nodepool (NodePool=a)",
  },
])("$rule: $text", ({ reason, text }) => {
  expect(sentence(reason)).toBe(text);
});

test("S-100: joined in order, each text once", () => {
  const reason: Reason = { kind: "untolerated-taint", nodePool: "a", taints: [{ key: "k", effect: "NoSchedule" }] };
  expect(sentences([reason, { kind: "undefined-label", nodePool: "b", key: "x" }, { ...reason, nodePool: "c" }])).toBe(
    'did not tolerate taint (taint=k:NoSchedule); incompatible requirements, label "x" does not have known values',
  );
});
