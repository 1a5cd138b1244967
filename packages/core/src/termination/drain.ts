/** Empties a node in tiers. Rules L-141…L-146. */
import { type NodeClaim, parseTime } from "@joinery/api";
import type { Rooms } from "../rooms.ts";
import { again, type Step, soonest } from "../runtime/step.ts";
import { claimCondition, setClaimCondition } from "../state/conditions.ts";
import type { NodeRecord } from "../state/node-record.ts";
import { isWaitingEviction, type PodRecord, STUCK_AFTER_MS } from "../state/pod-record.ts";
import { forceDeleteAfterMs, needsForceDelete } from "./deadline.ts";
import { podsAreWaiting } from "./events.ts";
import type { EvictionQueue } from "./eviction-queue.ts";
import type { StageResult } from "./stage.ts";
import { hasUnseenPods } from "./unseen-pods.ts";

/** L-146: pods that were bound a moment ago have to become visible first. */
const DRAIN_MIN_MS = 5000;
/** How often the API server is asked again, while it has pods that our watch has not brought. */
const UNSEEN_MS = 5000;
/** Changes of pods wake the node; this only tells people again that it still waits. */
const REPORT_MS = 60_000;

export interface Draining {
  readonly node: NodeRecord;
  readonly claim: NodeClaim | undefined;
  readonly deadlineMs: number | undefined;
}

export async function drain(
  { node, claim, deadlineMs }: Draining,
  queue: EvictionQueue,
  rooms: Rooms,
  signal: AbortSignal,
): Promise<StageResult> {
  const { caches, clock, events } = rooms;
  const nowMs = clock.wallMs();
  const whoWaits = () => [...caches.pods.by("node", node.metadata.name)].filter((pod) => isWaitingEviction(pod, nowMs));
  const waiting = whoWaits();
  const wasDrained = claim !== undefined && claimCondition(claim, "Drained").status === "True";
  const begun = claim && !wasDrained ? setClaimCondition(claim, { type: "Drained", status: "Unknown", reason: "Draining" }, nowMs) : claim;
  if (waiting.length > 0) {
    const urgent = waiting.filter((pod) => needsForceDelete(pod, deadlineMs, nowMs));
    const patient = waiting.filter((pod) => !urgent.includes(pod));
    for (const pod of [...urgent, ...firstTier(patient)]) queue.add(pod, deadlineMs);
    events.publish(podsAreWaiting(node, waiting.length));
    return { claim: begun, wait: nextLook(waiting, deadlineMs, nowMs) };
  }
  if (begun === undefined || wasDrained) return { claim: begun };
  const sinceMs = parseTime(claimCondition(begun, "Drained").lastTransitionTime) ?? nowMs;
  if (nowMs - sinceMs < DRAIN_MIN_MS) return { claim: begun, wait: again(DRAIN_MIN_MS - (nowMs - sinceMs)) };
  // Nothing brings back a pod that was taken down with its machine: a watch that is behind, or dead, must not decide that.
  const isLate = deadlineMs !== undefined && nowMs >= deadlineMs;
  if (!isLate) {
    const isUnseen = await hasUnseenPods(node, rooms, signal);
    // The watch may have brought them while we asked.
    if (isUnseen || whoWaits().length > 0) return { claim: begun, wait: again(UNSEEN_MS) };
  }
  return { claim: setClaimCondition(begun, { type: "Drained", status: "True" }, nowMs) };
}

/** L-143, L-144: nobody of a later tier before the earlier ones are gone. */
function firstTier(pods: readonly PodRecord[]): readonly PodRecord[] {
  const tiers: PodRecord[][] = [[], [], [], []];
  for (const pod of pods) tiers[(pod.isCritical ? 2 : 0) + (pod.owner === "daemon-set" ? 1 : 0)]!.push(pod);
  return tiers.find((tier) => tier.length > 0) ?? [];
}

/** When time alone changes what is to be done: a grace period begins to count, or a pod is stuck. */
function nextLook(pods: readonly PodRecord[], deadlineMs: number | undefined, nowMs: number): Step {
  const steps = [again(REPORT_MS)];
  for (const pod of pods) {
    const forceMs = forceDeleteAfterMs(pod, deadlineMs);
    if (forceMs !== undefined && forceMs >= nowMs) steps.push(again(forceMs - nowMs + 1));
    if (pod.deletingAtMs !== undefined) steps.push(again(pod.deletingAtMs + STUCK_AFTER_MS - nowMs + 1));
  }
  return soonest(steps);
}
