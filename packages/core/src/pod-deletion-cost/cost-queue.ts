/** Writes deletion costs onto pods, each until it is done. Rules V-86…V-88. */
import { POD_DELETION_COST_ANNOTATION, Pods } from "@joinery/api";
import { isConflict, isNotFound } from "@joinery/kube";
import type { Rooms } from "../rooms.ts";
import { bucketFor, workersFor } from "../runtime/concurrency.ts";
import { createLoop, type Loop } from "../runtime/loop.ts";
import { asleep, type Step } from "../runtime/step.ts";
import { type PodRecord, podKey } from "../state/pod-record.ts";

export interface CostQueue {
  /** V-87: takes the place of what was wished for the pod before. */
  put(pod: PodRecord, value: string | undefined): void;
  readonly loop: Loop;
}

interface Entry {
  readonly key: string;
  readonly uid: string;
  readonly value: string | undefined;
}

export function createCostQueue(rooms: Rooms): CostQueue {
  const { caches, kube, metrics, options } = rooms;
  const entries = new Map<string, Entry>();
  const workers = workersFor({ min: 100, max: 5000 }, options.cpuRequestsMillicores);
  const loop = createLoop<Entry>(
    {
      name: "pod.deletioncost.queue",
      find: (key) => entries.get(key),
      reconciler: { reconcile: (entry, signal) => write(entry, signal) },
      sources: [],
      workers,
      backoff: { baseMs: 100, maxMs: 10_000, bucket: bucketFor(100, 100, workers) },
    },
    rooms,
  );

  async function write(entry: Entry, signal: AbortSignal): Promise<Step> {
    const pod = caches.pods.find(entry.key);
    if (pod === undefined || pod.metadata.uid !== entry.uid) return done(entry, "skipped_notfound");
    if (pod.deletionCost === entry.value) return done(entry, "skipped_unchanged");
    const { name, namespace, resourceVersion } = pod.metadata;
    const body = { metadata: { resourceVersion, annotations: { [POD_DELETION_COST_ANNOTATION]: entry.value ?? null } } };
    try {
      await kube.patch(Pods, { name, namespace }, { type: "merge", body }, {}, signal);
    } catch (error) {
      if (isNotFound(error)) return done(entry, "skipped_notfound");
      if (isConflict(error)) return done(entry, "skipped_conflict");
      if (!signal.aborted) metrics.deletionCostWrites.inc({ result: "error" });
      throw error;
    }
    return done(entry, "updated");
  }

  function done(entry: Entry, result: string): Step {
    metrics.deletionCostWrites.inc({ result });
    // What was put meanwhile is written next.
    if (entries.get(entry.key) === entry) entries.delete(entry.key);
    else loop.wake(entry.key);
    return asleep;
  }

  return {
    loop,
    put(pod, value) {
      const key = podKey(pod);
      entries.set(key, { key, uid: pod.metadata.uid, value });
      loop.wake(key);
    },
  };
}
