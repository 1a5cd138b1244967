import type { NodeClaim, NodePool } from "@joinery/api";
import { expect, test } from "vitest";
import type { NodeRecord } from "./node-record.ts";
import { disruptionAllowance } from "./pool-budgets.ts";
import type { StateNode } from "./state-node.ts";

const pool = (nodes: string): NodePool => ({
  metadata: { name: "a" },
  spec: {
    template: { spec: { nodeClassRef: { group: "g", kind: "k", name: "n" }, requirements: [] } },
    disruption: { budgets: [{ nodes }] },
  },
});

interface Wish {
  readonly conditions?: readonly string[];
  readonly ready?: "True" | "Unknown";
  readonly isInitialized?: boolean;
  readonly isManaged?: boolean;
  readonly isMarked?: boolean;
  readonly of?: string;
}

function state(key: string, { conditions = [], ready = "True", isInitialized = true, isManaged = true, of = "a" }: Wish): StateNode {
  const labels = {
    "karpenter.sh/nodepool": of,
    "karpenter.sh/registered": "true",
    ...(isInitialized && { "karpenter.sh/initialized": "true" }),
  };
  const node = { metadata: { name: key, labels }, ready } as unknown as NodeRecord;
  const claim = { status: { conditions: conditions.map((type) => ({ type, status: "True" })) } } as unknown as NodeClaim;
  return { key, node, ...(isManaged && { claim }) };
}

const ten = (change: readonly Wish[] = []) => Array.from({ length: 10 }, (_, n) => change[n] ?? {});

test.each<{ rule: string; nodes: string; wishes: readonly Wish[]; remaining: number; reason?: "Unhealthy" | "Drifted" }>([
  { rule: "D-39: all of ten", nodes: "100%", wishes: ten(), remaining: 10 },
  {
    rule: "D-37: others do not count",
    nodes: "100%",
    wishes: [...ten(), { isManaged: false }, { isInitialized: false }, { of: "b" }],
    remaining: 10,
  },
  { rule: "D-37: nor what is ending", nodes: "100%", wishes: [...ten(), { conditions: ["InstanceTerminating"] }], remaining: 10 },
  { rule: "D-38: two not ready", nodes: "100%", wishes: ten([{ ready: "Unknown" }, { ready: "Unknown" }]), remaining: 8 },
  { rule: "V-20c: they do not use up repairs", nodes: "100%", wishes: ten([{ ready: "Unknown" }]), reason: "Unhealthy", remaining: 10 },
  { rule: "D-38: two marked", nodes: "100%", wishes: ten([{ isMarked: true }, { isMarked: true }]), remaining: 8 },
  { rule: "D-38: both at once is one", nodes: "100%", wishes: ten([{ isMarked: true, ready: "Unknown" }]), remaining: 9 },
  { rule: "D-39: never below none", nodes: "10%", wishes: ten(Array(10).fill({ isMarked: true })), remaining: 0 },
  { rule: "V-20b: a rebooting node", nodes: "10", wishes: ten([{ conditions: ["Rebooting"] }]), reason: "Unhealthy", remaining: 9 },
  {
    rule: "V-20a: also uninitialized",
    nodes: "100%",
    wishes: [...ten(), { conditions: ["Rebooting"], isInitialized: false }],
    remaining: 10,
  },
])("$rule: $remaining", ({ nodes, wishes, remaining, reason = "Drifted" }) => {
  const states = wishes.map((wish, n) => state(String(n), wish));
  const cluster = { nodes: () => states, isMarked: ({ key }: StateNode) => wishes[Number(key)]!.isMarked ?? false };
  expect(disruptionAllowance(pool(nodes), reason, cluster, 0).remaining).toBe(remaining);
});
