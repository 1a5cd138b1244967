/** What each NodePool holds, in its status. Written when it changes, not every five seconds. Rule L-185. */
import { formatResources, type NodePool } from "@joinery/api";
import type { Rooms } from "../rooms.ts";
import type { Loop } from "../runtime/loop.ts";
import { again, asleep, type Reconciler } from "../runtime/step.ts";
import { isManaged } from "../state/managed.ts";
import { createPoolLoop } from "./pool-loop.ts";

/** While a hundred nodes come up, one write a second tells enough. */
const WRITE_PERIOD_MS = 1000;
const UNSYNCED_MS = 1000;
const NOTHING = { cpu: 0, memory: 0, pods: 0, "ephemeral-storage": 0, nodes: 0 };

function createCounter({ cluster, writes, provider, clock }: Rooms): Reconciler<NodePool> {
  const writtenAtMs = new Map<string, number>();
  return {
    async reconcile(pool, signal) {
      if (!isManaged(pool.spec.template.spec.nodeClassRef, provider.nodeClassKinds)) return asleep;
      if (!cluster.sync.isSynced) return again(UNSYNCED_MS);
      const name = pool.metadata?.name ?? "";
      const waitMs = (writtenAtMs.get(name) ?? Number.NEGATIVE_INFINITY) + WRITE_PERIOD_MS - clock.monotonicMs();
      if (waitMs > 0) return again(waitMs);
      const held = { ...NOTHING, ...cluster.poolResources(name) };
      const after = { ...pool, status: { ...pool.status, resources: formatResources(held), nodes: held.nodes } };
      if ((await writes.saveNodePool(pool, after, signal)) !== pool) writtenAtMs.set(name, clock.monotonicMs());
      return asleep;
    },
  };
}

export function createCounterLoop(rooms: Rooms): Loop {
  return createPoolLoop(rooms, {
    name: "nodepool.counter",
    reconciler: createCounter(rooms),
    alsoWokenBy: (wake) => rooms.cluster.onPoolChange(wake),
  });
}
