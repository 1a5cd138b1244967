/** In which order pods are tried, and when to give up. Rules S-82…S-84. */
import type { Resources } from "@joinery/api";
import { compareTexts } from "../plan/names.ts";
import type { PodToPlace } from "../problem.ts";
import type { PodClass, PodClasses } from "./pod-classes.ts";

/**
 * Indexes of pods: CPU descending, memory descending, age in whole seconds, UID (S-82); the key as the last resort. The requests of
 * classes are ranked, pods are laid out by rank, and only those of one rank are compared, which lists usually have in order already.
 */
export function inQueueOrder(pods: readonly PodToPlace[], { list, classOfPod }: PodClasses): Uint32Array {
  const { ranks, count } = requestRanks(list);
  const ends = new Uint32Array(count + 1);
  for (let pod = 0; pod < pods.length; pod++) {
    const rank = ranks[classOfPod[pod]!]!;
    ends[rank + 1] = ends[rank + 1]! + 1;
  }
  for (let rank = 0; rank < count; rank++) ends[rank + 1] = ends[rank + 1]! + ends[rank]!;
  const starts = ends.slice(0, count);
  const next = starts.slice();
  const order = new Uint32Array(pods.length);
  for (let pod = 0; pod < pods.length; pod++) {
    const rank = ranks[classOfPod[pod]!]!;
    order[next[rank]!] = pod;
    next[rank] = next[rank]! + 1;
  }
  for (let rank = 0; rank < count; rank++) sortByAge(order.subarray(starts[rank]!, next[rank]!), pods);
  return order;
}

interface Ranks {
  /** By class: equal CPU and memory, equal rank. */
  readonly ranks: Uint32Array;
  readonly count: number;
}

function requestRanks(classes: readonly PodClass[]): Ranks {
  const rows = new Map<Float64Array, Resources>();
  for (const { requests, shape } of classes) if (!rows.has(requests)) rows.set(requests, shape.requests);
  const sorted = [...rows].sort(([, one], [, other]) => bySize(one, other));
  const rankOfRow = new Map<Float64Array, number>();
  let rank = -1;
  for (let place = 0; place < sorted.length; place++) {
    const [row, requests] = sorted[place]!;
    if (place === 0 || bySize(sorted[place - 1]![1], requests) !== 0) rank++;
    rankOfRow.set(row, rank);
  }
  const ranks = new Uint32Array(classes.length);
  for (let index = 0; index < classes.length; index++) ranks[index] = rankOfRow.get(classes[index]!.requests)!;
  return { ranks, count: rank + 1 };
}

function bySize(one: Resources, other: Resources): number {
  return (other.cpu ?? 0) - (one.cpu ?? 0) || (other.memory ?? 0) - (one.memory ?? 0);
}

function sortByAge(order: Uint32Array, pods: readonly PodToPlace[]): void {
  for (let place = 1; place < order.length; place++) {
    if (byAge(pods[order[place - 1]!]!, pods[order[place]!]!) <= 0) continue;
    order.sort((a, b) => byAge(pods[a]!, pods[b]!));
    return;
  }
}

function byAge(one: PodToPlace, other: PodToPlace): number {
  return (
    Math.floor(one.createdAtMs / 1000) - Math.floor(other.createdAtMs / 1000) ||
    compareTexts(one.uid, other.uid) ||
    compareTexts(one.key, other.key)
  );
}

/** A ring: a pod that failed goes to the end, so that each success gives the others another try (S-83, S-84). */
export class PodQueue {
  readonly #ring: Uint32Array;
  /** By pod: the length of the queue when it was last pushed; 0 = never. */
  readonly #lengthAtPush: Uint32Array;
  #head = 0;
  #length: number;

  /** `podCount` is one more than the greatest index in `order`. */
  constructor(order: Uint32Array, podCount: number) {
    this.#ring = order;
    this.#lengthAtPush = new Uint32Array(podCount);
    this.#length = order.length;
  }

  /** The next pod, or −1 when the queue is empty or has made no progress since that pod was pushed. */
  pop(): number {
    if (this.#length === 0) return -1;
    const pod = this.#ring[this.#head]!;
    if (this.#lengthAtPush[pod] === this.#length) return -1;
    this.#head = (this.#head + 1) % this.#ring.length;
    this.#length--;
    return pod;
  }

  /** After a failed try. */
  push(pod: number): void {
    this.#ring[(this.#head + this.#length) % this.#ring.length] = pod;
    this.#length++;
    this.#lengthAtPush[pod] = this.#length;
  }
}
