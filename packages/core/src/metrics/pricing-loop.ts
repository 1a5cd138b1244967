/** Asks for prices so that what NodePools cost can be told. Rules L-72, L-73, O-195. */
import type { NodePool } from "@joinery/api";
import type { Rooms } from "../rooms.ts";
import { createLoop, type Loop } from "../runtime/loop.ts";
import { changesOf } from "../runtime/source.ts";
import { again, asleep, type Step } from "../runtime/step.ts";
import { isManaged } from "../state/managed.ts";
import { poolNameOfClaim } from "../state/node-slots.ts";
import type { PoolCosts } from "../state/pool-costs.ts";

/** L-73. */
const PERIOD_MS = 3_600_000;

/** The loop of `state.pricing`. A pool without NodeClaims costs nothing, so nobody asks for its prices. */
export function createPricingLoop(rooms: Rooms, costs: PoolCosts): Loop {
  const { caches, provider, metrics } = rooms;
  const hasNodes = (pool: string) => {
    for (const _ of caches.nodeClaims.by("nodePool", pool)) return true;
    return false;
  };

  /** A pool that is gone is looked at once more, to be forgotten. */
  const unlessPriced = (pool: string) => (costs.knows(pool) && caches.nodePools.find(pool) !== undefined ? [] : [pool]);

  async function price(pool: NodePool, signal: AbortSignal): Promise<Step> {
    const nodepool = pool.metadata?.name ?? "";
    if (!isManaged(pool.spec.template.spec.nodeClassRef, provider.nodeClassKinds) || !hasNodes(nodepool)) return asleep;
    try {
      costs.note(nodepool, await provider.instanceTypes(pool, signal));
    } catch (error) {
      if (!signal.aborted) metrics.costErrors.inc({ nodepool });
      throw error;
    }
    return again(PERIOD_MS);
  }

  return createLoop(
    {
      name: "state.pricing",
      find: caches.nodePools.find,
      reconciler: { reconcile: price },
      gone: costs.forget,
      sources: [
        changesOf(caches.nodePools, ({ metadata }) => unlessPriced(metadata?.name ?? "")),
        changesOf(caches.nodeClaims, (claim) => unlessPriced(poolNameOfClaim(claim))),
      ],
      workers: 1,
    },
    rooms,
  );
}
