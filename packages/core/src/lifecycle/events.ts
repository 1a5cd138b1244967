/** Events of a NodeClaim's life. Rules L-84, L-92, V-94, V-95. */
import { type NodeClaim, NodeClaims, Pods } from "@joinery/api";
import { type CoreEvent, subjectOf } from "../events/event.ts";
import type { PodRecord } from "../state/pod-record.ts";

/** V-95. */
const TEXT_BYTES_MAX = 1024;

/** V-95: at most 1024 bytes; what is longer ends in an ellipsis. */
export function cutText(text: string): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= TEXT_BYTES_MAX) return text;
  // A character that the cut would split is left out.
  return `${new TextDecoder().decode(bytes.subarray(0, TEXT_BYTES_MAX - 3)).replace(/\uFFFD$/, "")}...`;
}

export function insufficientCapacity(claim: NodeClaim, message: string): CoreEvent {
  return {
    subject: subjectOf(NodeClaims, claim),
    type: "Warning",
    reason: "InsufficientCapacityError",
    message: cutText(`NodeClaim ${claim.metadata?.name} event: ${message}`),
    dedupe: [claim.metadata?.uid ?? ""],
  };
}

export function launchFailedForPod(pod: PodRecord, claimName: string, message: string): CoreEvent {
  return {
    subject: subjectOf(Pods, pod),
    type: "Warning",
    reason: "InsufficientCapacityError",
    message: cutText(`NodeClaim ${claimName} nominated for this pod failed to launch: ${message}`),
    dedupe: [pod.metadata.uid],
    bucket: "InsufficientCapacityError",
  };
}

/** L-175. */
export function failedConsistencyCheck(claim: NodeClaim, message: string): CoreEvent {
  return {
    subject: subjectOf(NodeClaims, claim),
    type: "Warning",
    reason: "FailedConsistencyCheck",
    message,
    dedupe: [claim.metadata?.uid ?? "", message],
  };
}

export function unregisteredTaintMissing(claim: NodeClaim): CoreEvent {
  return {
    subject: subjectOf(NodeClaims, claim),
    type: "Warning",
    reason: "UnregisteredTaintMissing",
    message: "Missing karpenter.sh/unregistered taint which prevents registration-related race conditions on Karpenter-managed nodes",
    dedupe: [claim.metadata?.uid ?? ""],
  };
}
