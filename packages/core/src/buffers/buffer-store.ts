/** The virtual pods of CapacityBuffers, and where the last plan put them. Built anew from the API server at any time. Rules L-218, L-220, L-224. */
import type { PodToPlace } from "@joinery/scheduling";

export interface BufferStore {
  /** Takes the place of what the buffer (`namespace/name`) had. False when it is the same. */
  put(buffer: string, pods: readonly PodToPlace[]): boolean;
  /** False when there was nothing. */
  remove(buffer: string): boolean;
  /** Of all buffers; the same list while nothing changes. */
  virtualPods(): readonly PodToPlace[];
  /** L-224: how many virtual pods the last plan put on the node with this key in the cluster's state. */
  podCountOn(node: string): number;
  notePodCounts(counts: ReadonlyMap<string, number>): void;
  /** L-220: has everything been read once? */
  isFilled: boolean;
}

export function createBufferStore(): BufferStore {
  const podsByBuffer = new Map<string, readonly PodToPlace[]>();
  let all: readonly PodToPlace[] = [];
  let podCounts: ReadonlyMap<string, number> = new Map();

  function change(): void {
    all = [...podsByBuffer.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).flatMap(([, pods]) => pods);
  }

  return {
    isFilled: false,
    put(buffer, pods) {
      if (isEqual(podsByBuffer.get(buffer) ?? [], pods)) return false;
      if (pods.length === 0) podsByBuffer.delete(buffer);
      else podsByBuffer.set(buffer, pods);
      change();
      return true;
    },
    remove(buffer) {
      const wasThere = podsByBuffer.delete(buffer);
      if (wasThere) change();
      return wasThere;
    },
    virtualPods: () => all,
    podCountOn: (node) => podCounts.get(node) ?? 0,
    notePodCounts(counts) {
      podCounts = counts;
    },
  };
}

/** Shapes are interned, so equal ones are one object; and the pods of a buffer differ in their numbers alone. */
function isEqual(one: readonly PodToPlace[], other: readonly PodToPlace[]): boolean {
  return one.length === other.length && one[0]?.shape === other[0]?.shape && one[0]?.uid === other[0]?.uid;
}
