/** Static NodePools get the nodes that they lack. Rules L-192…L-198. */
import { toStaticNodeClaim } from "@joinery/scheduling";
import { createNodeClaim } from "../provisioning/create-node-claims.ts";
import { nodeClaimName } from "../provisioning/node-claim-name.ts";
import { isReady } from "../provisioning/usable-pools.ts";
import type { Rooms } from "../rooms.ts";
import { messageOf } from "../runtime/answers.ts";
import type { Loop } from "../runtime/loop.ts";
import { again, asleep, type Step } from "../runtime/step.ts";
import { censusOf, nodeLimit } from "../state/node-slots.ts";
import { createRecentCreations, type RecentCreations } from "./recent-creations.ts";
import { createStaticPoolLoop, type StaticPool } from "./static-pools.ts";

/** L-193. */
const UNSYNCED_MS = 1000;

/** The loop of `static.provisioning`. */
export function createStaticProvisioningLoop(rooms: Rooms): Loop {
  const recent = createRecentCreations(rooms.clock);
  return createStaticPoolLoop(rooms, "static.provisioning", (pool, signal) => provision(pool, recent, rooms, signal));
}

async function provision(pool: StaticPool, recent: RecentCreations, rooms: Rooms, signal: AbortSignal): Promise<Step> {
  const { caches, cluster, slots, log } = rooms;
  if (!isReady(pool)) return asleep;
  if (!cluster.sync.hasCaughtUp) return again(UNSYNCED_MS);
  const name = pool.metadata?.name ?? "";
  const { replicas } = pool.spec;
  const { active, deleting } = censusOf(name, caches, cluster);
  const lacking = replicas - active.length;
  if (lacking <= 0) return asleep;
  const lost = recent.lost(name, new Set(active.map(({ metadata }) => metadata?.uid ?? "")));
  const wanted = lacking - lost.count;
  if (wanted <= 0) return again(lost.restMs);
  const granted = slots.reserve(name, { limit: nodeLimit(pool), held: active.length + deleting.length, wanted });
  if (granted === 0) {
    // Only a change of the pool or of its NodeClaims can help, and either wakes it.
    log.info({ NodePool: { name }, replicas, active: active.length, deleting: deleting.length }, "nodepool node limit reached");
    return asleep;
  }
  log.info({ NodePool: { name }, replicas, active: active.length, count: granted }, "provisioning static nodeclaims");
  await createAll(pool, granted, recent, rooms, signal);
  return lost.count > 0 ? again(lost.restMs) : asleep;
}

/** L-196: all at once, each giving back its slot whatever became of it. */
async function createAll(pool: StaticPool, count: number, recent: RecentCreations, rooms: Rooms, signal: AbortSignal): Promise<void> {
  const { slots, vocabulary, log } = rooms;
  const nodepool = pool.metadata?.name ?? "";
  const wanted = toStaticNodeClaim(pool, vocabulary.wellKnown);
  const outcomes = await Promise.allSettled(
    freeNames(pool, count, rooms).map(async (name) => {
      try {
        const created = await createNodeClaim(wanted, { name, nodepool }, rooms, signal);
        if (created === undefined) return;
        recent.note(nodepool, created.metadata?.uid ?? "");
        log.info({ NodePool: { name: nodepool }, NodeClaim: { name } }, "created nodeclaim");
      } finally {
        slots.release(nodepool, 1);
      }
    }),
  );
  signal.throwIfAborted();
  const errors = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, `creating nodeclaims, ${errors.map(messageOf).join("; ")}`);
}

/**
 * The first names of the pool that no NodeClaim has: whoever repeats a creation whose answer was lost, or leads anew with a view
 * that is behind, comes to the same ones, and the API server refuses the double.
 */
function freeNames({ metadata }: StaticPool, count: number, { caches }: Rooms): readonly string[] {
  const names: string[] = [];
  for (let place = 0; names.length < count; place++) {
    const name = nodeClaimName(metadata?.name ?? "", [`${metadata?.uid}/${place}`], () => false);
    if (caches.nodeClaims.find(name) === undefined) names.push(name);
  }
  return names;
}
