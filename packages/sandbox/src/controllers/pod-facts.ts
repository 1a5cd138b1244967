/** What controllers ask of a pod: whose it is, whether it runs, is ready, has been ready long enough. */
import { findCondition, isConditionTrue, type KubeObject, type OwnerReference, type Pod, parseTime } from "@joinery/api";

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find((reference) => reference.controller === true);
}

/** Succeeded or Failed: its containers will never run again. */
export function isEnded(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

export function isReady(pod: Pod): boolean {
  return isConditionTrue(pod, "Ready");
}

/** Since when it is ready, in epoch milliseconds; undefined while it is not. */
export function readySinceMs(pod: Pod): number | undefined {
  const condition = findCondition(pod, "Ready");
  return condition?.status === "True" ? timeMs(condition.lastTransitionTime) : undefined;
}

export type Availability =
  | { readonly kind: "available" }
  | { readonly kind: "unready" }
  | { readonly kind: "soon"; readonly afterMs: number };

/** Ready for at least `minReadySeconds`; `soon` says how long until then. */
export function availabilityOf(pod: Pod, minReadySeconds: number, nowMs: number): Availability {
  if (!isReady(pod)) {
    return { kind: "unready" };
  }
  const afterMs = minReadySeconds <= 0 ? 0 : (readySinceMs(pod) ?? nowMs) + minReadySeconds * 1000 - nowMs;
  return afterMs <= 0 ? { kind: "available" } : { kind: "soon", afterMs };
}

/** Milliseconds since 1970; 0 where the text is missing or no time. */
export function timeMs(text: string | undefined): number {
  return parseTime(text) ?? 0;
}
