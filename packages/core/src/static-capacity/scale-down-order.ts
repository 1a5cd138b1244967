/** Which nodes of a static NodePool go first. Rules L-201, L-204. */
import type { NodeClaim } from "@joinery/api";
import { compareTexts } from "@joinery/scheduling";
import { type CostOptions, evictionCost, lifetimeRemaining } from "../state/eviction-cost.ts";
import { isActive, isProtected, type PodRecord } from "../state/pod-record.ts";

/** A NodeClaim with the pods on its node; no node, no pods. */
export interface Occupied {
  readonly claim: NodeClaim;
  readonly pods: readonly PodRecord[];
}

interface Rank {
  readonly stage: Stage;
  readonly cost: number;
  readonly name: string;
}

/** Without an instance yet; without a pod that matters; without a pod that must not be disrupted; the rest. */
const STAGES = ["unlaunched", "empty", "free", "protected"] as const;
type Stage = (typeof STAGES)[number];

/** Those whose end costs least come first; equals by name, so that a repeated pass chooses the same. */
export function scaleDownOrder(nodes: readonly Occupied[], options: CostOptions, nowMs: number): readonly NodeClaim[] {
  return nodes
    .map((node) => ({ claim: node.claim, rank: rankOf(node, options, nowMs) }))
    .sort((one, other) => compareRanks(one.rank, other.rank))
    .map(({ claim }) => claim);
}

function rankOf({ claim, pods }: Occupied, options: CostOptions, nowMs: number): Rank {
  const cost = pods.reduce((sum, pod) => sum + evictionCost(pod, options), 0) * lifetimeRemaining(claim, nowMs);
  return { stage: stageOf(claim, pods, nowMs), cost, name: claim.metadata?.name ?? "" };
}

function stageOf(claim: NodeClaim, pods: readonly PodRecord[], nowMs: number): Stage {
  if (!claim.status?.providerID) return "unlaunched";
  if (pods.some((pod) => isActive(pod) && isProtected(pod, nowMs))) return "protected";
  return pods.every(({ owner }) => owner === "daemon-set") ? "empty" : "free";
}

function compareRanks(one: Rank, other: Rank): number {
  return STAGES.indexOf(one.stage) - STAGES.indexOf(other.stage) || one.cost - other.cost || compareTexts(one.name, other.name);
}
