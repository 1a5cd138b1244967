/** How many more nodes of a NodePool may be disrupted for a reason. Rules D-35…D-39, V-20. */
import { allowedDisruptions, type DisruptionReason, isConditionTrue, type NodePool } from "@joinery/api";
import type { Cluster } from "./cluster.ts";
import { isInitialized, poolOf, type StateNode } from "./state-node.ts";

export interface DisruptionAllowance {
  readonly allowed: number;
  /** Nodes that use up part of it. */
  readonly disrupting: number;
  readonly remaining: number;
}

/** D-37…D-39: of the nodes as they are now. */
export function disruptionAllowance(
  pool: NodePool,
  reason: DisruptionReason,
  cluster: Pick<Cluster, "nodes" | "isMarked">,
  nowMs: number,
): DisruptionAllowance {
  let nodeCount = 0;
  let disrupting = 0;
  for (const state of cluster.nodes()) {
    if (poolOf(state) !== pool.metadata?.name || !isCounted(state)) continue;
    nodeCount++;
    if (isDisrupting(state, reason, cluster)) disrupting++;
  }
  const { allowed } = allowedDisruptions({ budgets: pool.spec.disruption?.budgets, reason, nodeCount, nowMs });
  return { allowed, disrupting, remaining: Math.max(0, allowed - disrupting) };
}

/** D-37, V-20 (a). */
function isCounted(state: StateNode): boolean {
  const { claim } = state;
  if (claim === undefined || isConditionTrue(claim, "InstanceTerminating")) return false;
  return isInitialized(state) || isConditionTrue(claim, "Rebooting");
}

/** D-38, V-20 (b), (c). */
function isDisrupting(state: StateNode, reason: DisruptionReason, cluster: Pick<Cluster, "isMarked">): boolean {
  if (cluster.isMarked(state) || (state.claim !== undefined && isConditionTrue(state.claim, "Rebooting"))) return true;
  return reason !== "Unhealthy" && state.node?.ready !== "True";
}
