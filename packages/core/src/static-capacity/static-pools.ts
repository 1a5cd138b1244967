/** Which NodePools are static, and what wakes their loops. Section 12, L-192, L-199. */
import type { NodePool } from "@joinery/api";
import type { Rooms } from "../rooms.ts";
import { createLoop, type Loop } from "../runtime/loop.ts";
import { changesOf } from "../runtime/source.ts";
import { asleep, type Step } from "../runtime/step.ts";
import { isManaged } from "../state/managed.ts";
import { poolNameOfClaim } from "../state/node-slots.ts";

export type StaticPool = NodePool & { readonly spec: { readonly replicas: number } };

const WORKERS = 10;

/** A loop over the static pools that are ours and stay; woken by the pool and by each of its NodeClaims, so that nothing is asked for by the minute. */
export function createStaticPoolLoop(
  rooms: Rooms,
  name: string,
  reconcile: (pool: StaticPool, signal: AbortSignal) => Promise<Step>,
): Loop {
  const { caches, provider } = rooms;
  return createLoop(
    {
      name,
      find: caches.nodePools.find,
      reconciler: {
        async reconcile(pool, signal) {
          const isOurs = isManaged(pool.spec.template.spec.nodeClassRef, provider.nodeClassKinds);
          return isOurs && isStatic(pool) && pool.metadata?.deletionTimestamp === undefined ? reconcile(pool, signal) : asleep;
        },
      },
      sources: [
        changesOf(caches.nodePools),
        changesOf(caches.nodeClaims, (claim) => {
          const pool = caches.nodePools.find(poolNameOfClaim(claim));
          return pool !== undefined && isStatic(pool) ? [poolNameOfClaim(claim)] : [];
        }),
      ],
      workers: WORKERS,
    },
    rooms,
  );
}

function isStatic(pool: NodePool): pool is StaticPool {
  return pool.spec.replicas !== undefined;
}
