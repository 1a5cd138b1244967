/** From a NodeClaim to an instance, at most one. Rules L-81…L-89, L-251, V-94, V-95. */
import { formatResources, type NodeClaim, nodeClassLabel } from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { Instance, LaunchOutcome } from "../cloud-provider.ts";
import type { Rooms } from "../rooms.ts";
import { messageOf } from "../runtime/answers.ts";
import { again, asleep } from "../runtime/step.ts";
import { claimCondition, setClaimCondition } from "../state/conditions.ts";
import { isActive } from "../state/pod-record.ts";
import { type DeletionReason, deleteFor } from "./deletion.ts";
import { cutText, insufficientCapacity, launchFailedForPod } from "./events.ts";
import { isTooLateToLaunch } from "./liveness.ts";
import { done, type PhaseResult } from "./phase.ts";

/**
 * L-82: what was launched, by the NodeClaim's UID, until the cluster knows it. It saves a question when a status could not be
 * written; that nothing is launched twice rests on the provider's client token alone, and survives the process.
 */
export interface LaunchMemory {
  find(uid: string): Instance | undefined;
  keep(uid: string, instance: Instance): void;
  forget(uid: string): void;
}

const HOUR_MS = 3_600_000;

export function createLaunchMemory(clock: Clock): LaunchMemory {
  const kept = new Map<string, { readonly instance: Instance; readonly untilMs: number }>();
  return {
    find(uid) {
      const entry = kept.get(uid);
      return entry !== undefined && clock.monotonicMs() < entry.untilMs ? entry.instance : undefined;
    },
    keep(uid, instance) {
      for (const [other, { untilMs }] of kept) if (untilMs <= clock.monotonicMs()) kept.delete(other);
      kept.set(uid, { instance, untilMs: clock.monotonicMs() + HOUR_MS });
    },
    forget: (uid) => void kept.delete(uid),
  };
}

export async function launch(claim: NodeClaim, memory: LaunchMemory, rooms: Rooms, signal: AbortSignal): Promise<PhaseResult> {
  const { clock, assignments } = rooms;
  const uid = claim.metadata?.uid ?? "";
  const condition = claimCondition(claim, "Launched");
  if (condition.status !== "Unknown") {
    memory.forget(uid);
    assignments.forget(claim.metadata?.name ?? "");
    return done(setClaimCondition(claim, condition, clock.wallMs()));
  }
  if (isTooLateToLaunch(claim, rooms)) return done(claim);
  const outcome = await launchOnce(claim, memory.find(uid), rooms, signal);
  switch (outcome.kind) {
    case "launched":
      memory.keep(uid, outcome.instance);
      return done(setClaimCondition(withInstance(claim, outcome.instance), { type: "Launched", status: "True" }, clock.wallMs()));
    case "insufficient-capacity":
      tellAboutCapacity(claim, outcome.message, rooms);
      return giveUp("insufficient_capacity", claim, outcome.message, rooms, signal);
    case "node-class-not-ready":
      return giveUp("nodeclass_not_ready", claim, outcome.message, rooms, signal);
    case "failed": {
      const { reason, message } = outcome;
      const failed = setClaimCondition(claim, { type: "Launched", status: "Unknown", reason, message }, clock.wallMs());
      return { claim: failed, step: again(0), error: new Error(`launching nodeclaim, ${message}`) };
    }
  }
}

async function launchOnce(claim: NodeClaim, known: Instance | undefined, { provider }: Rooms, signal: AbortSignal): Promise<LaunchOutcome> {
  if (known !== undefined) return { kind: "launched", instance: known };
  try {
    return await provider.launch(claim, signal);
  } catch (error) {
    signal.throwIfAborted();
    return { kind: "failed", reason: "LaunchFailed", message: cutText(messageOf(error)) };
  }
}

/** L-83; and L-176, or the Node of a NodeClaim that somebody made by hand would not count as ours (L-3), and never go. */
function withInstance(claim: NodeClaim, instance: Instance): NodeClaim {
  const { providerId, imageId, capacity, allocatable, labels, annotations } = instance;
  return {
    ...claim,
    metadata: {
      ...claim.metadata,
      labels: { ...labels, ...claim.metadata?.labels, [nodeClassLabel(claim.spec.nodeClassRef)]: claim.spec.nodeClassRef.name },
      annotations: { ...claim.metadata?.annotations, ...annotations },
    },
    status: {
      ...claim.status,
      providerID: providerId,
      ...(imageId !== undefined && { imageID: imageId }),
      capacity: formatResources(capacity),
      allocatable: formatResources(allocatable),
    },
  };
}

async function giveUp(reason: DeletionReason, claim: NodeClaim, message: string, rooms: Rooms, signal: AbortSignal): Promise<PhaseResult> {
  rooms.log.error({ NodeClaim: { name: claim.metadata?.name }, reason, error: message }, "failed launching nodeclaim");
  await deleteFor(reason, claim, rooms, signal);
  return { claim, step: asleep, isDeleted: true };
}

/** L-84, V-94: the NodeClaim and the pods that hoped for it. */
function tellAboutCapacity(claim: NodeClaim, message: string, { caches, assignments, events }: Rooms): void {
  const name = claim.metadata?.name ?? "";
  events.publish(insufficientCapacity(claim, message));
  for (const [key, uid] of assignments.podsOf(name)) {
    const pod = caches.pods.find(key);
    if (pod?.metadata.uid === uid && pod.nodeName === "" && isActive(pod)) events.publish(launchFailedForPod(pod, name, message));
  }
  assignments.forget(name);
}
