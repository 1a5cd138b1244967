/** Events while nodes go. Rules L-118, L-127, L-145, L-148, L-152, L-158, O-259…O-263. */
import { DO_NOT_DISRUPT_ANNOTATION, formatTime, type NodeClaim, NodeClaims, Nodes, Pods, type VolumeAttachment } from "@joinery/api";
import { type CoreEvent, subjectOf } from "../events/event.ts";
import type { NodeRecord } from "../state/node-record.ts";
import { type PodRecord, protectionOf } from "../state/pod-record.ts";

export function claimExpiring(claim: NodeClaim, deadline: string): CoreEvent {
  return expiring(subjectOf(NodeClaims, claim), deadline);
}

export function nodeExpiring(node: NodeRecord, deadline: string): CoreEvent {
  return expiring(subjectOf(Nodes, node), deadline);
}

export function podsAreWaiting(node: NodeRecord, count: number): CoreEvent {
  return failedDraining(node, `${count} pods are waiting to be evicted`, []);
}

/** Has a window of its own: why a drain does not go on must not be lost behind how many pods it waits for (section 17). */
export function evictionRefused(node: NodeRecord, pod: string, why: string): CoreEvent {
  return failedDraining(node, `${why} (${pod})`, [why]);
}

function failedDraining(node: NodeRecord, text: string, dedupe: readonly string[]): CoreEvent {
  const subject = subjectOf(Nodes, node);
  const message = `Failed to drain node, ${text}`;
  return { subject, type: "Warning", reason: "FailedDraining", message, dedupe: [subject.name, ...dedupe] };
}

export function evicted(pod: PodRecord, reason: string): CoreEvent {
  return aboutPod(pod, "Evicted", `Evicted pod: ${reason}`);
}

export function disrupted(pod: PodRecord, deadline: string, grantedSeconds: number): CoreEvent {
  const own = pod.graceSeconds === undefined ? "no" : `${pod.graceSeconds}s`;
  return aboutPod(
    pod,
    "Disrupted",
    `Deleting the pod to accommodate the terminationTime ${deadline} of the node. The pod was granted ${grantedSeconds} seconds of grace-period of its ${own} terminationGracePeriodSeconds. This bypasses the PDB of the pod and the do-not-disrupt annotation.`,
  );
}

/** L-138, A-92, O-268, O-269: what the pod's wish not to be disrupted comes to. */
export function protection(pod: PodRecord, nowMs: number): CoreEvent | undefined {
  const { uid } = pod.metadata;
  const meaning = protectionOf(pod, nowMs);
  switch (meaning.kind) {
    case "absent":
    case "active":
      return undefined;
    case "invalid": {
      const message = `Ignoring annotation ${DO_NOT_DISRUPT_ANNOTATION}: "${meaning.text}" is neither "true" nor a positive duration`;
      return { ...aboutPod(pod, "InvalidDoNotDisruptAnnotation", message), type: "Warning", dedupe: [uid, message] };
    }
    case "active-until": {
      const time = formatTime(meaning.untilMs);
      return { ...aboutPod(pod, "DoNotDisruptUntil", `Pod may not be disrupted until ${time}`), dedupe: [uid, time] };
    }
    case "elapsed": {
      const time = formatTime(meaning.untilMs);
      return { ...aboutPod(pod, "DoNotDisruptGracePeriodElapsed", `Pod may be disrupted since ${time}`), dedupe: [uid] };
    }
  }
}

const NAMES_MAX = 5;

export function awaitingVolumes(node: NodeRecord, attachments: readonly VolumeAttachment[]): CoreEvent {
  const names = attachments.slice(0, NAMES_MAX).map(({ metadata }) => metadata?.name);
  const others = attachments.length - names.length;
  const subject = subjectOf(Nodes, node);
  return {
    subject,
    type: "Normal",
    reason: "AwaitingVolumeDetachment",
    message: `Awaiting deletion of bound volumeattachments (${names.join(", ")}${others > 0 ? ` and ${others} other(s)` : ""})`,
    dedupe: [subject.name],
  };
}

function expiring(subject: CoreEvent["subject"], deadline: string): CoreEvent {
  return {
    subject,
    type: "Warning",
    reason: "TerminationGracePeriodExpiring",
    message: `All pods will be deleted by ${deadline}`,
    dedupe: [subject.name],
  };
}

/** O-259: the pod's name is the key, as dashboards and tests of others expect. */
function aboutPod(pod: PodRecord, reason: string, message: string): CoreEvent {
  return { subject: subjectOf(Pods, pod), type: "Normal", reason, message, dedupe: [pod.metadata.name] };
}
