/** When pods were first seen to want a node, and when a place was first found for them. In memory only (L-249d). Rules L-62…L-65, S-191. */
import type { Clock } from "@joinery/kube";
import { type PodRecord, podKey } from "./pod-record.ts";

export interface PodTimes {
  /** L-62: a pod that wants a node was seen. */
  acknowledge(pod: PodRecord): void;
  /** L-63, L-64: a solve decided about the pod; gives the time since it was first seen, once. */
  decide(pod: PodRecord, hasPlace: boolean): number | undefined;
  /** Epoch milliseconds; undefined while there is no place, and after a restart. */
  placedAtMs(pod: PodRecord): number | undefined;
  /** O-205: `namespace/name` of pods that no solve has decided about, with how long they wait. */
  undecided(): Iterable<readonly [string, number]>;
  /** How long no solve has decided about this pod; 0 when one has. */
  undecidedMs(pod: PodRecord): number;
  /** L-65: the pod is bound. */
  settle(pod: PodRecord): void;
  /** It is gone, or nothing more is to be told about it. */
  forget(pod: PodRecord): void;
  /** The term is over. */
  clear(): void;
}

interface Waiting {
  readonly uid: string;
  readonly sinceMs: number;
  isDecided: boolean;
}

export function createPodTimes(clock: Clock): PodTimes {
  const waiting = new Map<string, Waiting>();
  const placed = new Map<string, { readonly uid: string; readonly atMs: number }>();

  function notePlace(pod: PodRecord, hasPlace: boolean): void {
    const key = podKey(pod);
    if (!hasPlace) placed.delete(key);
    else if (placed.get(key)?.uid !== pod.metadata.uid) placed.set(key, { uid: pod.metadata.uid, atMs: clock.wallMs() });
  }

  return {
    acknowledge(pod) {
      const key = podKey(pod);
      if (waiting.get(key)?.uid === pod.metadata.uid) return;
      waiting.set(key, { uid: pod.metadata.uid, sinceMs: clock.monotonicMs(), isDecided: false });
    },
    decide(pod, hasPlace) {
      const entry = waiting.get(podKey(pod));
      // L-65: those of nodes that leave are bound already.
      if (pod.nodeName === "") notePlace(pod, hasPlace);
      if (entry === undefined || entry.isDecided) return undefined;
      entry.isDecided = true;
      return clock.monotonicMs() - entry.sinceMs;
    },
    placedAtMs(pod) {
      const entry = placed.get(podKey(pod));
      return entry?.uid === pod.metadata.uid ? entry.atMs : undefined;
    },
    *undecided() {
      for (const [key, { sinceMs, isDecided }] of waiting) if (!isDecided) yield [key, clock.monotonicMs() - sinceMs];
    },
    undecidedMs(pod) {
      const entry = waiting.get(podKey(pod));
      return entry === undefined || entry.isDecided || entry.uid !== pod.metadata.uid ? 0 : clock.monotonicMs() - entry.sinceMs;
    },
    settle: (pod) => void waiting.delete(podKey(pod)),
    forget(pod) {
      waiting.delete(podKey(pod));
      placed.delete(podKey(pod));
    },
    clear() {
      waiting.clear();
      placed.clear();
    },
  };
}
