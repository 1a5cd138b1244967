/**
 * Fills one node with pods that remain: those whose value is highest for the part of the free room that they take. After each half of
 * any free resource the scores are worked out anew, because what is scarce has changed. The counter of visits is the measure of all
 * effort.
 */
import { type Buckets, bucketsOf } from "./buckets.ts";
import { addItem, spotTypesNeeded } from "./packing.ts";
import type { PackingModel } from "./packing-model.ts";
import { SpaceGroups } from "./space-groups.ts";

/** A pass ends when so much of any resource that was free at its start is used. Measured over ten corpora: 0.35 is 0.1 % dearer, 0.2 much. */
const SHARE_PER_PASS = 0.5;
/** With four, nodes of many small pods stay half empty. */
const PASSES_MAX = 12;
/** What a pass costs beside its groups. */
const VISITS_PER_PASS = 10;

export class Filler {
  readonly model: PackingModel;
  readonly buckets: Buckets;
  /** By group: pods without a node. */
  readonly remaining: Int32Array;
  /** By group: what a pod is worth, USD per hour. */
  readonly values: Float64Array;
  visits = 0;
  readonly #free: Float64Array;
  /** What may be left of each resource when the pass ends. */
  readonly #budget: Float64Array;
  /** By bucket. */
  readonly #scores: Float64Array;
  /** By bucket: where in the space's list the first group is that fits. */
  readonly #firsts: Int32Array;
  readonly #heap: Int32Array;
  #heapSize = 0;
  readonly #hasBonds: boolean;
  /** By group of bonds, of the node that is being filled: pods that count, and whether any of them asks; and which of both are set. */
  readonly #counted: Int32Array;
  readonly #asked: Uint8Array;
  readonly #touched: number[] = [];
  /** By bucket: where in the space's list its groups end. */
  readonly #ends: Int32Array;
  /** Groups with pods left. */
  readonly #active: Int32Array;
  #activeCount = 0;
  readonly #spaces: readonly SpaceGroups[];
  /** Grows when pods were put back. */
  #round = 0;
  /** Grows when pods may have become fewer. */
  #step = 0;

  constructor(model: PackingModel) {
    const count = model.groups.length;
    this.model = model;
    this.buckets = bucketsOf(model);
    this.remaining = new Int32Array(count);
    this.values = new Float64Array(count);
    this.#free = new Float64Array(model.width);
    this.#budget = new Float64Array(model.width);
    this.#scores = new Float64Array(this.buckets.count);
    this.#firsts = new Int32Array(this.buckets.count);
    this.#heap = new Int32Array(this.buckets.count);
    this.#active = new Int32Array(count);
    this.#ends = new Int32Array(this.buckets.count);
    const ranks = new Int32Array(count);
    for (const [rank, group] of this.buckets.order.entries()) ranks[group] = rank;
    this.#spaces = model.spaces.map(({ groups }) => new SpaceGroups(groups.toSorted((one, other) => ranks[one]! - ranks[other]!)));
    const bondGroups = model.bonds.reduce((most, bonds) => bonds.reduce((count, { group }) => Math.max(count, group + 1), most), 0);
    this.#counted = new Int32Array(bondGroups);
    this.#asked = new Uint8Array(bondGroups);
    this.#hasBonds = model.bonds.some((bonds) => bonds.length > 0);
  }

  /** To be called when pods were put back: from then on only groups with pods left are looked at. */
  narrow(): void {
    this.#round++;
    this.#activeCount = 0;
    for (let group = 0; group < this.remaining.length; group++) {
      if (this.remaining[group]! > 0) this.#active[this.#activeCount++] = group;
    }
  }

  /** Are pods left? Groups that have none any more are not looked at again. */
  get hasRest(): boolean {
    this.#step++;
    let count = 0;
    for (let at = 0; at < this.#activeCount; at++) {
      const group = this.#active[at]!;
      if (this.remaining[group]! > 0) this.#active[count++] = group;
    }
    this.#activeCount = count;
    return count > 0;
  }

  /** Takes pods from `remaining` into `load` and `items`, as far as the column has room. */
  fill(space: number, column: number, load: Float64Array, items: number[]): void {
    const { columns } = this.model.spaces[space]!;
    const groups = this.#spaces[space]!;
    groups.refresh(this.remaining, this.buckets.bucketOfGroup, this.#round, this.#step);
    const { width } = this.model;
    const free = this.#free;
    for (let r = 0; r < width; r++) free[r] = columns.rooms[column * width + r]! - load[r]!;
    if (this.#hasBonds) {
      this.#forget();
      for (let at = 0; at < items.length; at += 2) this.#note(items[at]!, items[at + 1]!);
    }
    const types = columns.spotTypes[column]!;
    // Few types are fine only where some pod allows no more.
    if (types < spotTypesNeeded(this.model, items) && !this.#fillPass(groups, load, items, types)) return;
    for (let pass = 0; pass < PASSES_MAX; pass++) if (!this.#fillPass(groups, load, items, -1)) break;
  }

  /**
   * One pass; false when nothing more fits.
   * @param typesMax take a single pod, of a group that is content with so many types; −1 = all groups
   */
  #fillPass(groups: SpaceGroups, load: Float64Array, items: number[], typesMax: number): boolean {
    this.#score(groups, typesMax);
    const { width } = this.model;
    const free = this.#free;
    const budget = this.#budget;
    for (let r = 0; r < width; r++) budget[r] = free[r]! * (1 - SHARE_PER_PASS);
    while (this.#heapSize > 0) {
      const bucket = this.#pop();
      const end = this.#ends[bucket]!;
      for (let at = this.#firsts[bucket]!; at < end; at++) {
        const group = groups.list[at]!;
        if (this.remaining[group] === 0) continue;
        const count = this.#countOf(group);
        if (count === 0) continue;
        if (this.#take(group, typesMax < 0 ? count : 1, load, items) || typesMax >= 0) return true;
      }
    }
    return false;
  }

  /** How many pods of the group to take: all that fit, or as many as it takes to end the pass. */
  #countOf(group: number): number {
    const { width, requests } = this.model;
    const free = this.#free;
    const budget = this.#budget;
    let most = this.remaining[group]!;
    let enough = most;
    for (let r = 0; r < width; r++) {
      const request = requests[group * width + r]!;
      if (request <= 0) continue;
      if (request > free[r]!) return 0;
      most = Math.min(most, Math.floor(free[r]! / request));
      enough = Math.min(enough, Math.ceil((free[r]! - budget[r]!) / request));
    }
    if (this.#hasBonds) most = Math.min(most, this.#bondsAllow(group));
    return most <= 0 ? 0 : Math.max(1, Math.min(most, enough));
  }

  /** True when the pass is over. */
  #take(group: number, count: number, load: Float64Array, items: number[]): boolean {
    const { width, requests } = this.model;
    const free = this.#free;
    this.remaining[group] = this.remaining[group]! - count;
    addItem(items, group, count);
    if (this.#hasBonds) this.#note(group, count);
    let isOver = false;
    for (let r = 0; r < width; r++) {
      const used = requests[group * width + r]! * count;
      if (used === 0) continue;
      load[r] = load[r]! + used;
      free[r] = free[r]! - used;
      if (free[r]! <= this.#budget[r]!) isOver = true;
    }
    return isOver;
  }

  /** Puts the buckets of which something fits into the heap, each with the score of its first group that does. */
  #score({ list, buckets, begins, bucketCount }: SpaceGroups, typesMax: number): void {
    const { width, requests, spotTypesNeeded: needed } = this.model;
    const { remaining, values } = this;
    const free = this.#free;
    let size = 0;
    let visits = VISITS_PER_PASS;
    for (let index = 0; index < bucketCount; index++) {
      const end = begins[index + 1]!;
      for (let place = begins[index]!; place < end; place++) {
        const group = list[place]!;
        visits++;
        if (remaining[group] === 0 || (typesMax >= 0 && needed[group]! > typesMax)) continue;
        const at = group * width;
        let weight = 0;
        let fits = true;
        for (let r = 0; r < width; r++) {
          const request = requests[at + r]!;
          if (request > free[r]!) {
            fits = false;
            break;
          }
          if (request > 0) weight += request / free[r]!;
        }
        if (!fits) continue;
        const bucket = buckets[index]!;
        this.#scores[bucket] = values[group]! / weight;
        this.#firsts[bucket] = place;
        this.#ends[bucket] = end;
        this.#heap[size++] = bucket;
        break;
      }
    }
    this.visits += visits;
    this.#heapSize = size;
    for (let parent = (size >>> 1) - 1; parent >= 0; parent--) this.#sink(parent);
  }

  #pop(): number {
    const heap = this.#heap;
    const top = heap[0]!;
    heap[0] = heap[--this.#heapSize]!;
    this.#sink(0);
    return top;
  }

  #sink(from: number): void {
    const heap = this.#heap;
    const size = this.#heapSize;
    const bucket = heap[from]!;
    let hole = from;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!this.#isBefore(heap[child]!, bucket)) break;
      heap[hole] = heap[child]!;
      hole = child;
    }
    heap[hole] = bucket;
  }

  #isBefore(one: number, other: number): boolean {
    const first = this.#scores[one]!;
    const second = this.#scores[other]!;
    return first > second || (first === second && one < other);
  }

  /** What pods on the node, or about to be, mean for those that come after them. */
  #note(group: number, count: number): void {
    for (const bond of this.model.bonds[group]!) {
      if (this.#counted[bond.group] === 0 && this.#asked[bond.group] === 0) this.#touched.push(bond.group);
      if (bond.isCounted) this.#counted[bond.group] = this.#counted[bond.group]! + count;
      if (bond.isAsked) this.#asked[bond.group] = 1;
    }
  }

  #forget(): void {
    for (const group of this.#touched) this.#counted[group] = this.#asked[group] = 0;
    this.#touched.length = 0;
  }

  /** How many pods of the group may join those that are there. */
  #bondsAllow(group: number): number {
    let most = Number.POSITIVE_INFINITY;
    for (const bond of this.model.bonds[group]!) {
      if (!bond.isAsked && this.#asked[bond.group] === 0) continue;
      const counted = this.#counted[bond.group]!;
      if (bond.most === 0) most = Math.min(most, counted > 0 ? 0 : bond.isCounted ? 1 : most);
      else if (bond.isCounted) most = Math.min(most, bond.most - counted);
      else if (counted > bond.most) most = 0;
    }
    return most;
  }
}
