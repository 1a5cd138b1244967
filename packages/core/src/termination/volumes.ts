/** Waits until volumes are off the node, so that they are free for where the pods go. Rules L-156…L-160. */
import type { VolumeAttachment } from "@joinery/api";
import type { Rooms } from "../rooms.ts";
import { again, asleep } from "../runtime/step.ts";
import { setClaimCondition } from "../state/conditions.ts";
import type { NodeRecord } from "../state/node-record.ts";
import { isDrainable } from "../state/pod-record.ts";
import type { Draining } from "./drain.ts";
import { awaitingVolumes } from "./events.ts";
import type { StageResult } from "./stage.ts";

export function awaitVolumes({ node, claim, deadlineMs }: Draining, rooms: Rooms): StageResult {
  const { clock, events } = rooms;
  const nowMs = clock.wallMs();
  const attachments = blockingAttachments(node, rooms);
  const type = "VolumesDetached";
  if (attachments.length === 0) return { claim: claim && setClaimCondition(claim, { type, status: "True" }, nowMs) };
  if (deadlineMs !== undefined && nowMs > deadlineMs) {
    const reason = "TerminationGracePeriodElapsed";
    return { claim: claim && setClaimCondition(claim, { type, status: "False", reason }, nowMs) };
  }
  events.publish(awaitingVolumes(node, attachments));
  const reason = "AwaitingVolumeDetachment";
  return {
    claim: claim && setClaimCondition(claim, { type, status: "Unknown", reason }, nowMs),
    wait: deadlineMs === undefined ? asleep : again(deadlineMs - nowMs + 1),
  };
}

/** L-156: volumes of pods that stay on the node do not count. */
function blockingAttachments(node: NodeRecord, rooms: Rooms): readonly VolumeAttachment[] {
  const attachments = [...rooms.caches.volumeAttachments.by("node", node.metadata.name)].filter(
    ({ spec }) => spec.source.persistentVolumeName !== undefined,
  );
  if (attachments.length === 0) return attachments;
  const staying = volumesThatStay(node, rooms);
  return attachments.filter(({ spec }) => !staying.has(spec.source.persistentVolumeName!));
}

function volumesThatStay(node: NodeRecord, { caches, clock }: Rooms): ReadonlySet<string> {
  const volumes = new Set<string>();
  for (const pod of caches.pods.by("node", node.metadata.name)) {
    if (isDrainable(pod, clock.wallMs())) continue;
    for (const name of pod.shape.claimNames ?? []) {
      const volume = caches.claims.find(`${pod.metadata.namespace}/${name}`)?.spec.volumeName;
      if (volume) volumes.add(volume);
    }
  }
  return volumes;
}
