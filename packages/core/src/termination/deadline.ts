/** When a node must be gone, and what that does to its pods' grace. Rules L-127, L-147, L-148. */
import { type NodeClaim, parseTime, TERMINATION_TIMESTAMP_ANNOTATION } from "@joinery/api";
import type { PodRecord } from "../state/pod-record.ts";

/** L-127. Throws when the annotation is there and no time: nobody may guess when pods die. */
export function deadlineMs(claim: NodeClaim | undefined): number | undefined {
  const text = claim?.metadata?.annotations?.[TERMINATION_TIMESTAMP_ANNOTATION];
  if (text === undefined) return undefined;
  const ms = parseTime(text);
  if (ms === undefined) {
    throw new Error(`Cannot drain node: annotation ${TERMINATION_TIMESTAMP_ANNOTATION} is "${text}", want a time in RFC 3339`);
  }
  return ms;
}

/** L-147: from when on waiting longer would cost the pod its own grace period; undefined = never. */
export function forceDeleteAfterMs(pod: PodRecord, deadline: number | undefined): number | undefined {
  if (deadline === undefined) return undefined;
  if (pod.deletingAtMs !== undefined) return pod.deletingAtMs > deadline ? Number.NEGATIVE_INFINITY : undefined;
  return pod.graceSeconds === undefined ? undefined : deadline - pod.graceSeconds * 1000;
}

export function needsForceDelete(pod: PodRecord, deadline: number | undefined, nowMs: number): boolean {
  const afterMs = forceDeleteAfterMs(pod, deadline);
  return afterMs !== undefined && nowMs > afterMs;
}

/** L-148: never 0, which would not wait for the kubelet at all. */
export function grantedSeconds(deadline: number, nowMs: number): number {
  return Math.max(Math.floor((deadline - nowMs) / 1000), 1);
}
