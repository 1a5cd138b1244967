import type { NodeClaim } from "@joinery/api";
import type { InstanceType } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { aPodRecord } from "../testing/pod-records.ts";
import { isBlockingPod, nodeObstacle, priceOf } from "./node-checks.ts";
import type { NodeRecord } from "./node-record.ts";
import type { StateNode } from "./state-node.ts";

const LABELS = { "karpenter.sh/nodepool": "a", "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true" };

interface Wish {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly isManaged?: boolean;
  readonly hasNode?: boolean;
  readonly conditions?: readonly string[];
  readonly isMarked?: boolean;
  readonly isNominated?: boolean;
}

function aState({ labels = LABELS, annotations, isManaged = true, hasNode = true, conditions = [] }: Wish): StateNode {
  const node = { metadata: { name: "n", labels, annotations } } as unknown as NodeRecord;
  const claim = { metadata: { name: "c" }, status: { conditions: conditions.map((type) => ({ type, status: "True" })) } };
  return { key: "n", ...(hasNode && { node }), ...(isManaged && { claim: claim as unknown as NodeClaim }) };
}

test.each<{ what: string; wish: Wish; obstacle: string | undefined }>([
  { what: "as it should be", wish: {}, obstacle: undefined },
  { what: "not ours", wish: { isManaged: false, conditions: ["Rebooting"] }, obstacle: "no-node-claim" },
  { what: "not there yet", wish: { hasNode: false }, obstacle: "no-node" },
  { what: "rebooting, and marked", wish: { conditions: ["Rebooting"], isMarked: true }, obstacle: "rebooting" },
  { what: "marked, and not initialized", wish: { isMarked: true, labels: {} }, obstacle: "marked" },
  { what: "registered only", wish: { labels: { "karpenter.sh/registered": "true" }, isNominated: true }, obstacle: "not-initialized" },
  { what: "not even registered", wish: { labels: {} }, obstacle: "not-registered" },
  {
    what: "nominated, and protected",
    wish: { isNominated: true, annotations: { "karpenter.sh/do-not-disrupt": "true" } },
    obstacle: "nominated",
  },
  { what: "protected", wish: { annotations: { "karpenter.sh/do-not-disrupt": "true" } }, obstacle: "do-not-disrupt" },
  { what: "protected in another word", wish: { annotations: { "karpenter.sh/do-not-disrupt": "1h" } }, obstacle: undefined },
  {
    what: "of no pool",
    wish: { labels: { "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true" } },
    obstacle: "no-node-pool",
  },
])("V-15, L-70: a node that is $what: $obstacle", ({ wish, obstacle }) => {
  const cluster = { isMarked: () => wish.isMarked ?? false, isNominated: () => wish.isNominated ?? false };
  expect(nodeObstacle(aState(wish), cluster)).toBe(obstacle);
});

test.each([
  { what: "an ordinary pod", pod: aPodRecord(), blocks: false },
  { what: "a protected one", pod: aPodRecord({ annotations: { "karpenter.sh/do-not-disrupt": "true" } }), blocks: true },
  {
    what: "a DaemonSet's protected one",
    pod: aPodRecord({ owner: "apps/v1/DaemonSet", annotations: { "karpenter.sh/do-not-disrupt": "true" } }),
    blocks: true,
  },
  {
    what: "a protected one that has ended",
    pod: aPodRecord({ annotations: { "karpenter.sh/do-not-disrupt": "true" }, status: { phase: "Succeeded" } }),
    blocks: false,
  },
])("D-24: $what blocks: $blocks", ({ pod, blocks }) => {
  expect(isBlockingPod(pod, [], 0)).toBe(blocks);
});

test("D-32: the price is that of the node's own offering, whether or not it can be had now", () => {
  const offering = (zone: string, priceUsdPerHour: number, isAvailable: boolean) => ({
    requirements: [
      { key: "topology.kubernetes.io/zone", operator: "In" as const, values: [zone] },
      { key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["on-demand"] },
    ],
    priceUsdPerHour,
    isAvailable,
  });
  const type = { name: "m", offerings: [offering("zone-1", 1, false), offering("zone-2", 5, true)] } as unknown as InstanceType;
  const inZone = (zone: string) =>
    aState({ labels: { ...LABELS, "topology.kubernetes.io/zone": zone, "karpenter.sh/capacity-type": "on-demand" } });
  expect(priceOf(inZone("zone-1"), type)).toBe(1);
  expect(priceOf(inZone("zone-3"), type)).toBe(0);
});
