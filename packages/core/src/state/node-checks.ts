/** Why a node must not be disrupted as things are, and what it would save. Rules V-15, L-70, D-24, D-25, D-32, D-50. */
import {
  CAPACITY_TYPE_LABEL,
  INSTANCE_TYPE_LABEL,
  isConditionTrue,
  isNotToBeDisrupted,
  NODE_POOL_LABEL,
  type PodDisruptionBudget,
  ZONE_LABEL,
} from "@joinery/api";
import type { InstanceType } from "@joinery/scheduling";
import { isBlockedNow } from "./budgets.ts";
import type { Cluster } from "./cluster.ts";
import { isActive, isProtected, type PodRecord } from "./pod-record.ts";
import { isInitialized, labelsOf, type StateNode } from "./state-node.ts";

export type NodeObstacle =
  | "no-node-claim"
  | "no-node"
  | "rebooting"
  | "marked"
  | "not-registered"
  | "not-initialized"
  | "nominated"
  | "do-not-disrupt"
  | "no-node-pool";

/** V-15: the first that is met; undefined when the node may be disrupted as far as it is concerned itself. */
export function nodeObstacle(state: StateNode, cluster: Pick<Cluster, "isMarked" | "isNominated">): NodeObstacle | undefined {
  const { node, claim } = state;
  if (claim === undefined) return "no-node-claim";
  if (node === undefined) return "no-node";
  if (isConditionTrue(claim, "Rebooting")) return "rebooting";
  if (cluster.isMarked(state)) return "marked";
  if (!isInitialized(state)) return node.metadata.labels?.["karpenter.sh/registered"] === "true" ? "not-initialized" : "not-registered";
  if (cluster.isNominated(state.key)) return "nominated";
  if (isNotToBeDisrupted(node)) return "do-not-disrupt";
  return labelsOf(state)[NODE_POOL_LABEL] ? undefined : "no-node-pool";
}

/** D-24, D-25. */
export function isBlockingPod(pod: PodRecord, budgets: Iterable<PodDisruptionBudget>, nowMs: number): boolean {
  return (isActive(pod) && isProtected(pod, nowMs)) || isBlockedNow(pod, budgets, nowMs);
}

/** The type that the node is of, among those that its pool offers. */
export function typeOf(state: StateNode, types: readonly InstanceType[]): InstanceType | undefined {
  const name = labelsOf(state)[INSTANCE_TYPE_LABEL];
  return types.find((type) => type.name === name);
}

/** D-32: USD per hour, whether or not the offering can be had now; 0 where no offering is the node's. */
export function priceOf(state: StateNode, { offerings }: InstanceType): number {
  const labels = labelsOf(state);
  const price = offerings.find(({ requirements }) =>
    [ZONE_LABEL, CAPACITY_TYPE_LABEL].every((key) => requirements.find((item) => item.key === key)?.values?.[0] === labels[key]),
  )?.priceUsdPerHour;
  return price === undefined || Number.isNaN(price) ? 0 : price;
}
