/** Events of provisioning. Rules S-187…S-189, O-248…O-250, V-94, V-120. */
import { type NodePool, NodePools, Pods } from "@joinery/api";
import { type Reason, sentences } from "@joinery/scheduling";
import { type CoreEvent, subjectOf } from "../events/event.ts";
import type { PodRecord } from "../state/pod-record.ts";

const MINUTE_MS = 60_000;

/** S-187. */
export function nominated(pod: PodRecord, places: { readonly nodeClaim?: string; readonly node?: string }): CoreEvent {
  const names = [places.nodeClaim && `nodeclaim/${places.nodeClaim}`, places.node && `node/${places.node}`].filter(Boolean);
  return {
    subject: subjectOf(Pods, pod),
    type: "Normal",
    reason: "Nominated",
    message: `Pod should schedule on: ${names.join(", ")}`,
    dedupe: [pod.metadata.uid],
    bucket: "Nominated",
  };
}

/** S-188. */
export function failedScheduling(pod: PodRecord, reasons: readonly Reason[]): CoreEvent {
  return {
    subject: subjectOf(Pods, pod),
    type: "Warning",
    reason: "FailedScheduling",
    message: `Failed to schedule pod, ${sentences(reasons)}`,
    dedupe: [pod.metadata.uid],
    windowMs: 5 * MINUTE_MS,
  };
}

/** How long a pod waits for a reservation before that is worth telling. */
export const RESERVATION_WAIT_TOLD_MS = 5 * MINUTE_MS;

/** V-120: that there will be a slot is a hope; who waits for long should know what for. */
export function waitingForReservedCapacity(pod: PodRecord, reasons: readonly Reason[]): CoreEvent {
  return {
    subject: subjectOf(Pods, pod),
    type: "Normal",
    reason: "WaitingForReservedCapacity",
    message: `Pod waits for a capacity reservation: ${sentences(reasons)}`,
    dedupe: [pod.metadata.uid],
    windowMs: 15 * MINUTE_MS,
  };
}

/** S-64, S-189. */
export function noCompatibleInstanceTypes(pool: NodePool, reason: Reason): CoreEvent {
  const message = "NodePool requirements filtered out all compatible available instance types";
  return {
    subject: subjectOf(NodePools, pool),
    type: "Warning",
    reason: "NoCompatibleInstanceTypes",
    message: reason.kind === "min-values" ? `${message} due to minValues incompatibility` : message,
    dedupe: [pool.metadata?.uid ?? ""],
    windowMs: MINUTE_MS,
  };
}
