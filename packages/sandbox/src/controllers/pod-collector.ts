/** Pods that nobody looks after any more: bound to a node that is gone, or deleted before they had one. */
import type { Pod } from "@joinery/api";
import { Nodes, Pods } from "@joinery/api";
import { isNotFound, keyOf, parseKey } from "@joinery/kube";
import type { ClusterContext } from "../world/context.ts";
import { startWorkLoop } from "../world/work-loop.ts";
import { withCondition } from "./condition-list.ts";
import { isEnded } from "./pod-facts.ts";

/** A node that was just missed may be about to come back. The real controller's figure. */
const QUARANTINE_MS = 40_000;

export function startPodCollector(context: ClusterContext): void {
  const { views, clock } = context;
  const client = context.client("pod-garbage-collector");

  async function reconcile(key: string): Promise<number | undefined> {
    const pod = views.pods.find(key);
    if (pod === undefined) {
      return undefined;
    }
    const { nodeName } = pod.spec;
    if (nodeName === undefined) {
      if (pod.metadata?.deletionTimestamp !== undefined) {
        await remove(pod);
      }
      return undefined;
    }
    if (views.nodes.find(nodeName) === undefined && (await client.find(Nodes, { name: nodeName })) === undefined) {
      await remove(pod);
    }
    return undefined;
  }

  async function remove(pod: Pod): Promise<void> {
    const key = parseKey(keyOf(pod));
    try {
      if (!isEnded(pod) && pod.spec.nodeName !== undefined) {
        const wish = {
          type: "DisruptionTarget",
          status: "True",
          reason: "DeletionByPodGC",
          message: "PodGC: node no longer exists",
        } as const;
        const conditions = withCondition(pod.status?.conditions, wish, clock.wallMs());
        await client.patch(Pods, key, { type: "merge", body: { status: { phase: "Failed", conditions } } }, { subresource: "status" });
      }
      await client.delete(Pods, key, { uid: pod.metadata?.uid, gracePeriodSeconds: 0 });
    } catch (error) {
      if (!isNotFound(error)) {
        throw error;
      }
    }
  }

  const loop = startWorkLoop({ name: "pod-garbage-collector", context, reconcile });
  views.nodes.onChange((change) => {
    if (change.type === "deleted") {
      for (const pod of views.pods.by("node", change.object.metadata?.name ?? "")) {
        loop.addAfter(keyOf(pod), QUARANTINE_MS);
      }
    }
  });
  views.pods.onChange((change) => {
    const { object } = change;
    if (change.type === "deleted") {
      return;
    }
    if (object.spec.nodeName === undefined) {
      if (object.metadata?.deletionTimestamp !== undefined) {
        loop.add(keyOf(object));
      }
    } else if (change.type === "added" && views.nodes.find(object.spec.nodeName) === undefined) {
      loop.addAfter(keyOf(object), QUARANTINE_MS);
    }
  });
}
