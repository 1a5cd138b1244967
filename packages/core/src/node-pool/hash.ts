/** Keeps the drift hash of each NodePool current, and takes its NodeClaims along when the way of hashing changes. Rules L-186, L-187, A-124, A-125. */
import { hashAnnotations, migratedAnnotations, NODE_POOL_HASHES, type NodePool, nodePoolHash } from "@joinery/api";
import { withAnnotations } from "@joinery/kube";
import type { Rooms } from "../rooms.ts";
import { messageOf } from "../runtime/answers.ts";
import type { Loop } from "../runtime/loop.ts";
import { asleep, type Reconciler } from "../runtime/step.ts";
import { isManaged } from "../state/managed.ts";
import { createPoolLoop } from "./pool-loop.ts";

function createHash(rooms: Rooms): Reconciler<NodePool> {
  const { writes, provider } = rooms;
  return {
    async reconcile(pool, signal) {
      if (!isManaged(pool.spec.template.spec.nodeClassRef, provider.nodeClassKinds)) return asleep;
      const hash = nodePoolHash(pool);
      await migrateClaims(pool, hash, rooms, signal);
      await writes.saveNodePool(pool, withAnnotations(pool, hashAnnotations(NODE_POOL_HASHES, hash)), signal);
      return asleep;
    },
  };
}

/** All of them are tried; the pool itself stays at its old version until every one has followed. */
async function migrateClaims(pool: NodePool, hash: string, { caches, writes, provider }: Rooms, signal: AbortSignal): Promise<void> {
  const errors: unknown[] = [];
  for (const claim of caches.nodeClaims.by("nodePool", pool.metadata?.name ?? "")) {
    if (!isManaged(claim.spec.nodeClassRef, provider.nodeClassKinds)) continue;
    const { annotations } = claim.metadata ?? {};
    const wanted = migratedAnnotations(NODE_POOL_HASHES, pool.metadata?.annotations, hash, annotations, claim.status?.conditions);
    if (wanted === undefined) continue;
    try {
      await writes.saveNodeClaim(claim, withAnnotations(claim, wanted), signal);
    } catch (error) {
      signal.throwIfAborted();
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, errors.map(messageOf).join("; "));
}

export function createHashLoop(rooms: Rooms): Loop {
  return createPoolLoop(rooms, { name: "nodepool.hash", reconciler: createHash(rooms) });
}
