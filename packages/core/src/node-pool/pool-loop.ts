/** What the loops over NodePools have in common: each is woken by its pool, and by what else it reads. Lifecycle chapter, section 1.4. */
import type { NodePool } from "@joinery/api";
import type { Rooms } from "../rooms.ts";
import { workersFor } from "../runtime/concurrency.ts";
import { createLoop, type Loop, type Source } from "../runtime/loop.ts";
import { changesOf } from "../runtime/source.ts";
import type { Reconciler } from "../runtime/step.ts";

export interface PoolLoopOptions {
  readonly name: string;
  readonly reconciler: Reconciler<NodePool>;
  /** Besides changes of the pool itself. */
  readonly alsoWokenBy?: Source;
  /** From 10 to 1,000 by the controller's CPU when absent (L-19). */
  readonly workers?: number;
}

export function createPoolLoop(rooms: Rooms, { name, reconciler, alsoWokenBy, workers }: PoolLoopOptions): Loop {
  const { nodePools } = rooms.caches;
  return createLoop(
    {
      name,
      find: nodePools.find,
      reconciler,
      sources: alsoWokenBy === undefined ? [changesOf(nodePools)] : [changesOf(nodePools), alsoWokenBy],
      workers: workers ?? workersFor({ min: 10, max: 1000 }, rooms.options.cpuRequestsMillicores),
    },
    rooms,
  );
}
