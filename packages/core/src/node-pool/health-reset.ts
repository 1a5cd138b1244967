/** Forgets how registrations went when pool or node class change, and remembers across restarts. Rules L-189, A-116. */
import type { NodePool } from "@joinery/api";
import type { Rooms } from "../rooms.ts";
import type { Loop } from "../runtime/loop.ts";
import { asleep, type Reconciler } from "../runtime/step.ts";
import { findPoolCondition, setPoolCondition } from "../state/conditions.ts";
import { isManaged } from "../state/managed.ts";
import { createPoolLoop } from "./pool-loop.ts";
import { nodeClassChanges } from "./readiness.ts";

const TYPE = "NodeRegistrationHealthy";
/** Enough to mean what the condition says (L-112). */
const SEEDS = { True: [true], False: [false, false] } as const;

function createHealthReset({ caches, writes, clock, provider, health }: Rooms): Reconciler<NodePool> {
  return {
    async reconcile(pool, signal) {
      const reference = pool.spec.template.spec.nodeClassRef;
      if (!isManaged(reference, provider.nodeClassKinds)) return asleep;
      const nodeClass = caches.findNodeClass(reference);
      if (nodeClass === undefined) return asleep;
      const condition = findPoolCondition(pool, TYPE);
      if (health.of(pool) === "Unknown" && (condition?.status === "True" || condition?.status === "False")) {
        health.seed(pool, SEEDS[condition.status]);
      }
      const generation = nodeClass.metadata?.generation;
      let after = pool;
      if (
        condition === undefined ||
        pool.status?.nodeClassObservedGeneration !== generation ||
        condition.observedGeneration !== pool.metadata?.generation
      ) {
        const reason = "AwaitingReconciliation";
        const message = "object is awaiting reconciliation";
        after = setPoolCondition(pool, { type: TYPE, status: "Unknown", reason, message }, clock.wallMs());
        health.clear(pool);
      }
      if (generation !== undefined) after = { ...after, status: { ...after.status, nodeClassObservedGeneration: generation } };
      await writes.saveNodePool(pool, after, signal);
      return asleep;
    },
  };
}

export function createHealthResetLoop(rooms: Rooms): Loop {
  return createPoolLoop(rooms, {
    name: "nodepool.registrationhealth",
    reconciler: createHealthReset(rooms),
    alsoWokenBy: nodeClassChanges(rooms.caches),
  });
}
