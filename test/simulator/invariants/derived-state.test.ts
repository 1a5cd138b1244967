/** Each sum can be wrong, and is then told. */
import type { Node, NodePool, Pod } from "@joinery/api";
import type { Cluster } from "@joinery/core";
import { expect, test } from "vitest";
import type { Truth } from "../truth.ts";
import { derivedFaults } from "./derived-state.ts";

const node = {
  metadata: { name: "n", labels: { "karpenter.sh/nodepool": "default" } },
  spec: { providerID: "p" },
  status: { capacity: { cpu: "4" } },
} as unknown as Node;
const pod = (phase: string) =>
  ({ spec: { nodeName: "n", containers: [{ name: "c", resources: { requests: { cpu: "1" } } }] }, status: { phase } }) as Pod;
const truth = {
  nodes: () => [node],
  pods: () => [pod("Running"), pod("Succeeded")],
  pools: () => [{ metadata: { name: "default" } } as NodePool],
} as unknown as Truth;

interface View {
  readonly keys: readonly string[];
  readonly cpu: number;
  readonly pool: Readonly<Record<string, number>> | undefined;
  readonly isSynced: boolean;
  readonly waiting: readonly string[];
  readonly marked: readonly string[];
}

const right: View = { keys: ["p"], cpu: 1000, pool: { cpu: 4000, nodes: 1 }, isSynced: true, waiting: [], marked: [] };

test.each<{ view: Partial<View>; told: readonly string[] }>([
  { view: {}, told: [] },
  { view: { isSynced: false }, told: ["holds the cluster for not synced"] },
  { view: { waiting: ["a"] }, told: ["wants capacity for a"] },
  { view: { keys: [] }, told: ["does not count p"] },
  { view: { keys: ["p", "q"] }, told: ["counts q, which has no Node"] },
  { view: { cpu: 2000 }, told: ["n: pods ask for 2000 cpu, and it is 1000"] },
  { view: { marked: ["p"] }, told: ["p is marked"] },
  { view: { pool: undefined }, told: ["NodePool default holds 0 cpu, and it is 4000"] },
  { view: { pool: { cpu: 4000, nodes: 2 } }, told: ["NodePool default holds 2 nodes, and it is 1"] },
])("$view → $told", ({ view, told }) => {
  const { keys, cpu, pool, isSynced, waiting, marked } = { ...right, ...view };
  const cluster = {
    sync: { isSynced },
    hasProvisionable: waiting.length > 0,
    provisionable: () => waiting.map((name) => ({ metadata: { name } })),
    nodes: () => keys.map((key) => ({ key })),
    usageOf: () => ({ requests: { cpu, pods: 1 } }),
    isMarked: ({ key }: { key: string }) => marked.includes(key),
    poolResources: () => pool,
  } as unknown as Cluster;
  expect([...derivedFaults(cluster, truth)]).toEqual(told);
});
