/** Whether the API server has pods on a node that our cache has not seen. Asked once per node, before its machine is ended. Rule L-146. */
import { type Pod, Pods } from "@joinery/api";
import { keyOf } from "@joinery/kube";
import type { Rooms } from "../rooms.ts";
import type { NodeRecord } from "../state/node-record.ts";

export async function hasUnseenPods({ metadata: { name } }: NodeRecord, { kube, caches }: Rooms, signal: AbortSignal): Promise<boolean> {
  for await (const pod of kube.listAll(Pods, { fieldSelector: `spec.nodeName=${name}` }, signal)) {
    const known = caches.pods.find(keyOf(pod));
    const isKnown = known !== undefined && known.metadata.uid === pod.metadata?.uid && known.nodeName === name;
    if (!isKnown && !hasEnded(pod)) return true;
  }
  return false;
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}
