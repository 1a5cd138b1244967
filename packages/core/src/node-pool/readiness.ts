/** Is the node class of each NodePool fit for use? Rules L-188, section 11.2 of the API chapter. */
import type { Kind, NodePool } from "@joinery/api";
import type { Rooms } from "../rooms.ts";
import type { Loop, Source } from "../runtime/loop.ts";
import { asleep, type Reconciler } from "../runtime/step.ts";
import type { Caches, NodeClass } from "../state/caches.ts";
import { setPoolCondition, type WishedCondition } from "../state/conditions.ts";
import { isManaged } from "../state/managed.ts";
import { createPoolLoop } from "./pool-loop.ts";

function createReadiness({ caches, writes, clock, provider }: Rooms): Reconciler<NodePool> {
  return {
    async reconcile(pool, signal) {
      const reference = pool.spec.template.spec.nodeClassRef;
      if (!isManaged(reference, provider.nodeClassKinds)) return asleep;
      const verdict = verdictOn(caches.findNodeClass(reference));
      await writes.saveNodePool(pool, setPoolCondition(pool, { type: "NodeClassReady", ...verdict }, clock.wallMs()), signal);
      return asleep;
    },
  };
}

export function verdictOn(nodeClass: NodeClass | undefined): Omit<WishedCondition, "type"> {
  if (nodeClass === undefined) return { status: "False", reason: "NodeClassNotFound", message: "NodeClass not found on cluster" };
  if (nodeClass.metadata?.deletionTimestamp !== undefined) {
    return { status: "False", reason: "NodeClassTerminating", message: "NodeClass is Terminating" };
  }
  const ready = nodeClass.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "True") return { status: "True" };
  // A condition of a NodePool must have a reason; a node class of somebody else's making may have none.
  if (ready?.status === "False") return { status: "False", reason: ready.reason || "NodeClassNotReady", message: ready.message };
  return { status: "False", reason: "NodeClassReadinessUnknown", message: "Node Class Readiness Unknown" };
}

/** Wakes the NodePools of a node class that changed. */
export function nodeClassChanges(caches: Caches): Source {
  return (wake) =>
    caches.onNodeClassChange((kind, { metadata }) => {
      for (const pool of caches.nodePools.values()) if (isOf(pool, kind, metadata?.name)) wake(pool.metadata?.name ?? "");
    });
}

function isOf({ spec }: NodePool, { group, kind }: Kind, name: string | undefined): boolean {
  const reference = spec.template.spec.nodeClassRef;
  return reference.group === group && reference.kind === kind && reference.name === name;
}

export function createReadinessLoop(rooms: Rooms): Loop {
  return createPoolLoop(rooms, {
    name: "nodepool.readiness",
    reconciler: createReadiness(rooms),
    alsoWokenBy: nodeClassChanges(rooms.caches),
  });
}
