/**
 * Pods that wait for a node: ready ones by priority and age, those that failed behind a back-off that doubles, those that nothing
 * but a change of the cluster can help set aside.
 */
import type { Clock } from "@joinery/kube";
import { Heap } from "./heap.ts";
import type { PodInfo } from "./pod-info.ts";

export interface PodQueue {
  /** Ready to be tried at once. */
  add(info: PodInfo): void;
  /** Failed: set aside until `wake` finds it helped. */
  setAside(info: PodInfo): void;
  /** Failed for a reason of the moment: tried again after the back-off. */
  retry(info: PodInfo): void;
  remove(uid: string): void;
  /** Lets those set aside for which `isHelped` holds come back when their back-off has passed. */
  wake(isHelped: (info: PodInfo) => boolean): void;
  /** The most urgent of the ready ones, taken out. */
  next(): PodInfo | undefined;
  has(uid: string): boolean;
}

/** kube-scheduler's figures. */
const BACKOFF_FIRST_MS = 1_000;
const BACKOFF_MAX_MS = 10_000;

interface Waiting {
  info: PodInfo;
  attempts: number;
  failedAtMs: number;
  cancel?: () => void;
}

export function createPodQueue(clock: Clock, onReady: () => void): PodQueue {
  const heap = new Heap<PodInfo>(isMoreUrgent);
  /** Those in the heap that still count: a pod that was removed stays in the heap until it comes up. */
  const ready = new Map<string, PodInfo>();
  const waiting = new Map<string, Waiting>();
  const aside = new Set<string>();

  function push(info: PodInfo): void {
    if (!ready.has(info.uid)) {
      ready.set(info.uid, info);
      heap.push(info);
      onReady();
    }
  }

  function failed(info: PodInfo): Waiting {
    const known = waiting.get(info.uid);
    const next: Waiting = { info, attempts: (known?.attempts ?? 0) + 1, failedAtMs: clock.monotonicMs() };
    known?.cancel?.();
    waiting.set(info.uid, next);
    return next;
  }

  function afterBackoff(entry: Waiting): void {
    const backoffMs = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (entry.attempts - 1));
    const leftMs = entry.failedAtMs + backoffMs - clock.monotonicMs();
    entry.cancel?.();
    entry.cancel = undefined;
    if (leftMs <= 0) {
      push(entry.info);
      return;
    }
    entry.cancel = clock.after(leftMs, () => {
      entry.cancel = undefined;
      push(entry.info);
    });
  }

  return {
    add(info) {
      const known = waiting.get(info.uid);
      if (known !== undefined) {
        known.info = info;
      }
      push(info);
    },
    setAside(info) {
      failed(info);
      aside.add(info.uid);
    },
    retry: (info) => afterBackoff(failed(info)),
    remove(uid) {
      waiting.get(uid)?.cancel?.();
      waiting.delete(uid);
      aside.delete(uid);
      ready.delete(uid);
    },
    wake(isHelped) {
      for (const uid of [...aside]) {
        const entry = waiting.get(uid);
        if (entry !== undefined && isHelped(entry.info)) {
          aside.delete(uid);
          afterBackoff(entry);
        }
      }
    },
    next() {
      for (let info = heap.pop(); info !== undefined; info = heap.pop()) {
        if (ready.get(info.uid) === info) {
          ready.delete(info.uid);
          aside.delete(info.uid);
          return info;
        }
      }
      return undefined;
    },
    has: (uid) => ready.has(uid) || waiting.has(uid),
  };
}

/** Priority first, then age; of one instant by the order in which they were stored. */
function isMoreUrgent(one: PodInfo, other: PodInfo): boolean {
  return (one.priority - other.priority || other.createdMs - one.createdMs || other.version - one.version) > 0;
}
