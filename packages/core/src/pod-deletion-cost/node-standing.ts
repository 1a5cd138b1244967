/** What becomes of each managed node as far as can be seen now. Rule V-83. */
import { DISRUPTED_TAINT, isConditionTrue, type NodePool, parseNillableDuration } from "@joinery/api";
import { isSameTaint } from "@joinery/kube";
import type { InstanceType } from "@joinery/scheduling";
import type { Rooms } from "../rooms.ts";
import { messageOf } from "../runtime/answers.ts";
import { type BudgetIndex, createBudgetIndex } from "../state/budgets.ts";
import { reschedulingCost } from "../state/eviction-cost.ts";
import { isBlockingPod, nodeObstacle, priceOf, typeOf } from "../state/node-checks.ts";
import { isTerminal, type PodRecord } from "../state/pod-record.ts";
import { nameOf, poolOf, type StateNode } from "../state/state-node.ts";
import type { NodeStanding, RankedNode } from "./node-ranks.ts";

export interface StandingNode extends RankedNode {
  readonly pods: readonly PodRecord[];
}

export type TypesByPool = ReadonlyMap<string, { readonly pool: NodePool; readonly types: readonly InstanceType[] }>;

/** D-22, D-33: a pool whose types cannot be had is left out, and its nodes stay. */
export async function typesByPool({ caches, provider, log }: Rooms, signal: AbortSignal): Promise<TypesByPool> {
  const found = new Map<string, { pool: NodePool; types: readonly InstanceType[] }>();
  for (const pool of caches.nodePools.values()) {
    try {
      found.set(pool.metadata?.name ?? "", { pool, types: await provider.instanceTypes(pool, signal) });
    } catch (error) {
      signal.throwIfAborted();
      log.error({ NodePool: { name: pool.metadata?.name }, error: messageOf(error) }, "skipping, unable to resolve instance types");
    }
  }
  return found;
}

export function standingNodes(rooms: Rooms, offers: TypesByPool): readonly StandingNode[] {
  const { cluster, caches } = rooms;
  const budgetsOf = createBudgetIndex(caches.budgets.values());
  return [...cluster.nodes()].flatMap((state): readonly StandingNode[] => {
    if (state.claim === undefined) return [];
    const pods = state.node === undefined ? [] : [...caches.pods.by("node", state.node.metadata.name)];
    const nodePool = poolOf(state) ?? "";
    return [{ name: nameOf(state), nodePool, pods, ...standingOf(state, pods, { offers, budgetsOf }, rooms) }];
  });
}

function standingOf(
  state: StateNode,
  pods: readonly PodRecord[],
  { offers, budgetsOf }: { readonly offers: TypesByPool; readonly budgetsOf: BudgetIndex },
  { cluster, clock }: Rooms,
): { readonly standing: NodeStanding; readonly savingsRatio: number } {
  const stays = { standing: "stays", savingsRatio: 0 } as const;
  if (cluster.isMarked(state) || state.node?.taints.some((taint) => isSameTaint(taint, DISRUPTED_TAINT)))
    return { ...stays, standing: "leaving" };
  if (nodeObstacle(state, cluster) !== undefined) return stays;
  const nowMs = clock.wallMs();
  if (pods.some((pod) => isPinning(pod) || isBlockingPod(pod, budgetsOf(pod), nowMs))) return stays;
  const offer = offers.get(poolOf(state) ?? "");
  const type = offer && typeOf(state, offer.types);
  if (offer === undefined || type === undefined) return stays;
  const isDrifted = isConditionTrue(state.claim!, "Drifted");
  const isDynamic = offer.pool.spec.replicas === undefined;
  if (!isDrifted && parseNillableDuration(offer.pool.spec.disruption?.consolidateAfter ?? "0s") === "Never") return stays;
  return {
    standing: isDrifted && isDynamic ? "drifted" : "candidate",
    savingsRatio: priceOf(state, type) / reschedulingCost(pods, { isDeletionCostManaged: true }),
  };
}

const MOVABLE = new Set(["apps/v1/ReplicaSet", "batch/v1/Job", "apps/v1/DaemonSet"]);

/** A pod that would not simply come back elsewhere. */
function isPinning(pod: PodRecord): boolean {
  return !isTerminal(pod) && pod.metadata.namespace !== "kube-system" && !MOVABLE.has(pod.controllerKind);
}
