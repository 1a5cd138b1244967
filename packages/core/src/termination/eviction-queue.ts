/** Evicts or deletes pods of nodes that go, each until it is done. Rules L-147…L-155. */
import { findCondition, formatTime, type NodeClaim, Pods } from "@joinery/api";
import { ApiError, isNotFound } from "@joinery/kube";
import { claimsOf } from "../lifecycle/nodes-of.ts";
import type { Rooms } from "../rooms.ts";
import { bucketFor, workersFor } from "../runtime/concurrency.ts";
import { createLoop, type Loop } from "../runtime/loop.ts";
import { asleep, RetryLater, type Step } from "../runtime/step.ts";
import { isActive, isEvictable, type PodRecord } from "../state/pod-record.ts";
import { grantedSeconds, needsForceDelete } from "./deadline.ts";
import { disrupted, evicted, evictionRefused, protection } from "./events.ts";

export interface EvictionQueue {
  /** L-150: adding again never loosens a deadline, and never queues twice. */
  add(pod: PodRecord, deadlineMs: number | undefined): void;
  readonly loop: Loop;
}

interface Entry {
  /** `namespace/name`. */
  readonly pod: string;
  readonly uid: string;
  deadlineMs: number | undefined;
}

export function createEvictionQueue(rooms: Rooms): EvictionQueue {
  const { caches, clock, kube, events, metrics, options } = rooms;
  const entries = new Map<string, Entry>();
  const workers = workersFor({ min: 100, max: 5000 }, options.cpuRequestsMillicores);
  const loop = createLoop<Entry>(
    {
      name: "eviction-queue",
      find: (key) => entries.get(key),
      reconciler: { reconcile: (entry, signal) => step(entry, signal) },
      sources: [],
      workers,
      backoff: { baseMs: 100, maxMs: 10_000, bucket: bucketFor(100, 100, workers) },
    },
    rooms,
  );

  /** L-151. */
  async function step(entry: Entry, signal: AbortSignal): Promise<Step> {
    const pod = caches.pods.find(entry.pod);
    if (pod === undefined || pod.metadata.uid !== entry.uid) return drop(entry);
    // V-41, V-122: what is tried again after a failure may be wanted no more. Pods of a Node that is gone are the garbage collector's.
    if (caches.nodes.find(pod.nodeName) === undefined) return drop(entry);
    const nowMs = clock.wallMs();
    if (entry.deadlineMs !== undefined && needsForceDelete(pod, entry.deadlineMs, nowMs)) {
      return forceDelete(entry, pod, entry.deadlineMs, signal);
    }
    if (!isActive(pod)) return drop(entry);
    const told = protection(pod, nowMs);
    if (told !== undefined) events.publish(told);
    if (!isEvictable(pod, nowMs)) throw new RetryLater();
    return evict(entry, pod, signal);
  }

  /** L-152. */
  async function evict(entry: Entry, pod: PodRecord, signal: AbortSignal): Promise<Step> {
    const { name, namespace, uid } = pod.metadata;
    const body = {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name, namespace },
      deleteOptions: { preconditions: { uid } },
    };
    try {
      await kube.createSubresource(Pods, { name, namespace }, "eviction", body, signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      metrics.evictionRequests.inc({ code: String(error.status) });
      return refused(error, entry, pod);
    }
    metrics.evictionRequests.inc({ code: "200" });
    const reason = reasonFor(pod);
    events.publish(evicted(pod, reason));
    metrics.podsDrained.inc({ reason });
    return drop(entry);
  }

  function refused(error: ApiError, entry: Entry, pod: PodRecord): Step {
    if (error.status === 404 || error.status === 409) return drop(entry);
    const isCrowded = /more than one PodDisruptionBudget/i.test(error.message);
    if (error.status !== 429 && !isCrowded) throw error;
    const node = caches.nodes.find(pod.nodeName);
    if (node === undefined) return drop(entry); // V-41, V-122: nothing is drained any more
    const text = isCrowded ? "eviction does not support multiple PDBs" : "evicting pod violates a PDB";
    events.publish(evictionRefused(node, entry.pod, text));
    throw new RetryLater();
  }

  /** L-148, L-149, L-153. */
  async function forceDelete(entry: Entry, pod: PodRecord, deadlineMs: number, signal: AbortSignal): Promise<Step> {
    const { name, namespace, uid } = pod.metadata;
    const gracePeriodSeconds = grantedSeconds(deadlineMs, clock.wallMs());
    // Once the deadline has passed every deletion ends after it; another would change nothing (L-256).
    if (pod.deletingAtMs !== undefined && pod.deletingAtMs <= clock.wallMs() + gracePeriodSeconds * 1000) return drop(entry);
    events.publish(disrupted(pod, formatTime(deadlineMs), gracePeriodSeconds));
    try {
      await kube.delete(Pods, { name, namespace }, { uid, gracePeriodSeconds }, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return drop(entry);
    }
    // L-256: what was leaving already was counted when it began to.
    if (pod.deletingAtMs === undefined) metrics.podsDrained.inc({ reason: reasonFor(pod) });
    return drop(entry);
  }

  function drop(entry: Entry): Step {
    entries.delete(keyOfEntry(entry.pod, entry.uid));
    return asleep;
  }

  /** L-154. */
  function reasonFor({ nodeName }: PodRecord): string {
    const node = caches.nodes.find(nodeName);
    const claims = node === undefined ? [] : claimsOf(node, caches);
    return claims.length === 1 ? disruptionReason(claims[0]!) : "";
  }

  return {
    loop,
    add(pod, deadlineMs) {
      const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
      const key = keyOfEntry(name, pod.metadata.uid);
      const known = entries.get(key);
      if (known === undefined) entries.set(key, { pod: name, uid: pod.metadata.uid, deadlineMs });
      else {
        known.deadlineMs = earliest(known.deadlineMs, deadlineMs);
        // What is on its way keeps its back-off, until waiting would cost it its grace.
        if (!needsForceDelete(pod, known.deadlineMs, clock.wallMs())) return;
      }
      loop.wake(key);
    },
  };
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined) return other;
  return other === undefined ? one : Math.min(one, other);
}

function keyOfEntry(pod: string, uid: string): string {
  return `${pod}/${uid}`;
}

function disruptionReason(claim: NodeClaim): string {
  const condition = findCondition(claim, "DisruptionReason");
  return condition?.status === "True" ? (condition.reason ?? "") : "Forceful Termination";
}
