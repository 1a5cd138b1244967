/** Static NodePools lose the nodes that they have too many of, whatever their budgets say. Rules L-199…L-204. */
import type { NodeClaim } from "@joinery/api";
import { nodesOf } from "../lifecycle/nodes-of.ts";
import type { Rooms } from "../rooms.ts";
import { messageOf } from "../runtime/answers.ts";
import type { Loop } from "../runtime/loop.ts";
import { again, asleep, type Step } from "../runtime/step.ts";
import { unreadableCost } from "../state/eviction-cost.ts";
import { censusOf } from "../state/node-slots.ts";
import { type Occupied, scaleDownOrder } from "./scale-down-order.ts";
import { createStaticPoolLoop, type StaticPool } from "./static-pools.ts";

const UNSYNCED_MS = 1000;

/** The loop of `static.deprovisioning`. */
export function createStaticDeprovisioningLoop(rooms: Rooms): Loop {
  return createStaticPoolLoop(rooms, "static.deprovisioning", (pool, signal) => deprovision(pool, rooms, signal));
}

async function deprovision(pool: StaticPool, rooms: Rooms, signal: AbortSignal): Promise<Step> {
  const { caches, cluster, clock, options, writes, log } = rooms;
  // What the leader before has deleted must not be counted as there.
  if (!cluster.sync.hasCaughtUp) return again(UNSYNCED_MS);
  const name = pool.metadata?.name ?? "";
  const { active } = censusOf(name, caches, cluster);
  const excess = active.length - pool.spec.replicas;
  if (excess <= 0) return asleep;
  const costs = { isDeletionCostManaged: options.isPodDeletionCostManaged };
  const nodes = active.map((claim) => occupied(claim, rooms));
  for (const pod of nodes.flatMap(({ pods }) => pods)) {
    const text = unreadableCost(pod, costs);
    if (text !== undefined) log.error({ Pod: pod.metadata, cost: text }, "ignoring the pod's disruption cost, it is no int32");
  }
  const order = scaleDownOrder(nodes, costs, clock.wallMs());
  log.info({ NodePool: { name }, replicas: pool.spec.replicas, active: active.length, count: excess }, "deprovisioning static nodeclaims");
  const outcomes = await Promise.allSettled(order.slice(0, excess).map((claim) => writes.deleteNodeClaim(claim, signal)));
  signal.throwIfAborted();
  const errors = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, `deleting nodeclaims, ${errors.map(messageOf).join("; ")}`);
  return asleep;
}

function occupied(claim: NodeClaim, { caches }: Rooms): Occupied {
  const pods = nodesOf(claim, caches).flatMap(({ metadata }) => [...caches.pods.by("node", metadata.name)]);
  return { claim, pods };
}
