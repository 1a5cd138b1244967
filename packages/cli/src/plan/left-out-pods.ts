/** Pods of the input that neither run on a node nor want one from us, and why. Rules S-11, S-13. */
import type { Pod } from "@joinery/api";
import { isPlaceable } from "@joinery/scheduling";

/** Why a pod is left out, as the end of "so many …" in a sentence, in the order in which they are told. */
const WHY = {
  gated: "behind a scheduling gate",
  nominated: "nominated to a node by the scheduler",
  daemonSet: "of DaemonSets (they come with their nodes)",
  mirror: "mirrored from a node",
  ended: "ended already",
  other: "not waiting for a node",
} as const;

export interface LeftOutPods {
  readonly count: number;
  readonly why: string;
}

/** Empty when no pod is left out. */
export function leftOutPods(pods: readonly Pod[]): readonly LeftOutPods[] {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const why = whyLeftOut(pod);
    if (why !== undefined) counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  return Object.values(WHY).flatMap((why) => (counts.has(why) ? [{ count: counts.get(why)!, why }] : []));
}

/** As the end of a sentence about pods. undefined: the pod is planned, or runs on a node and takes its room there. */
export function whyLeftOut(pod: Pod): string | undefined {
  const { metadata, spec, status } = pod;
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return WHY.ended;
  if (isPlaceable(pod) || (spec.nodeName ?? "") !== "") return undefined;
  if ((spec.schedulingGates ?? []).length > 0) return WHY.gated;
  if ((status?.nominatedNodeName ?? "") !== "") return WHY.nominated;
  const owners = new Set(metadata?.ownerReferences?.map(({ kind }) => kind));
  return owners.has("DaemonSet") ? WHY.daemonSet : owners.has("Node") ? WHY.mirror : WHY.other;
}
