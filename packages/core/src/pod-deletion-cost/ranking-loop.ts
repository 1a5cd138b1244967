/**
 * Tells ReplicaSets which pods to remove first, so that workloads which shrink empty the nodes that are to go. Rules V-81…V-86.
 */
import type { Rooms } from "../rooms.ts";
import { createLoop, type Loop } from "../runtime/loop.ts";
import { once, SINGLETON } from "../runtime/source.ts";
import { again, type Step } from "../runtime/step.ts";
import type { PodRecord } from "../state/pod-record.ts";
import { disruptionAllowance } from "../state/pool-budgets.ts";
import type { CostQueue } from "./cost-queue.ts";
import { type NodeCost, nodeCosts } from "./node-ranks.ts";
import { type StandingNode, standingNodes, typesByPool } from "./node-standing.ts";

/** V-81. */
const PERIOD_MS = 60_000;
const UNSYNCED_MS = 1000;
/** V-86: nodes per pass, beside those that go in any case. */
const NODES_MAX = 50;

/** The loop of `pod.deletioncost`. */
export function createDeletionCostLoop(rooms: Rooms, queue: CostQueue): Loop {
  const { cluster } = rooms;
  let rankedAsOfMs: number | undefined;
  return createLoop(
    {
      name: "pod.deletioncost",
      find: (key) => (key === SINGLETON ? rooms : undefined),
      reconciler: {
        async reconcile(_, signal): Promise<Step> {
          if (!cluster.sync.isSynced) return again(UNSYNCED_MS);
          const asOfMs = cluster.consolidation.read();
          // V-82: nothing has changed since.
          if (asOfMs === rankedAsOfMs) return again(PERIOD_MS);
          if (await rank(rooms, queue, signal)) rankedAsOfMs = asOfMs;
          return again(PERIOD_MS);
        },
      },
      sources: [once],
      workers: 1,
    },
    rooms,
  );
}

/** False when there was nothing to rank, or more to write than one pass may. */
async function rank(rooms: Rooms, queue: CostQueue, signal: AbortSignal): Promise<boolean> {
  const { cluster, clock, metrics } = rooms;
  const offers = await typesByPool(rooms, signal);
  const nodes = standingNodes(rooms, offers);
  if (nodes.length === 0) return false;
  const costs = nodeCosts(nodes, (name, standing) => {
    const pool = offers.get(name)?.pool;
    const reason = standing === "drifted" ? "Drifted" : "Underutilized";
    return pool === undefined ? 0 : disruptionAllowance(pool, reason, cluster, clock.wallMs()).remaining;
  });
  const pending = costs.map(changesOf).filter(({ pods }) => pods.length > 0);
  metrics.deletionCostPending.reset();
  for (const { node } of pending) metrics.deletionCostPending.inc({ nodepool: node.nodePool });
  const leaving = pending.filter(({ node }) => node.standing === "leaving");
  const others = pending.filter(({ node }) => node.standing !== "leaving");
  for (const { pods, value } of [...leaving, ...others.slice(0, NODES_MAX)]) for (const pod of pods) queue.put(pod, value);
  return others.length <= NODES_MAX;
}

interface Changes {
  readonly node: StandingNode;
  readonly value: string | undefined;
  /** Those that do not have it yet. */
  readonly pods: readonly PodRecord[];
}

/** V-86: nobody but the ReplicaSet controller reads it. */
function changesOf({ node, cost }: NodeCost<StandingNode>): Changes {
  const value = cost === undefined ? undefined : String(cost);
  const pods = node.pods.filter(({ controllerKind, deletionCost }) => controllerKind === "apps/v1/ReplicaSet" && deletionCost !== value);
  return { node, value, pods };
}
