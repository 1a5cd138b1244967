/** Kinds of nodes in the order of their ratios, least first, equal ones by number; those with an infinite ratio are left out for good. */
export class EntryQueue {
  readonly #ratios: Float64Array;
  readonly #heap: Int32Array;
  #size = 0;

  /** @param ratios by entry; borrowed: who changes the ratio of an entry has taken it before */
  constructor(ratios: Float64Array) {
    this.#ratios = ratios;
    this.#heap = new Int32Array(ratios.length);
    for (let entry = 0; entry < ratios.length; entry++) this.put(entry);
  }

  /** The entry that `take` would give; −1 when there is none. */
  get first(): number {
    return this.#size === 0 ? -1 : this.#heap[0]!;
  }

  take(): number {
    const heap = this.#heap;
    const top = heap[0]!;
    const last = heap[--this.#size]!;
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && this.#isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!this.#isBefore(heap[child]!, last)) break;
      heap[hole] = heap[child]!;
      hole = child;
    }
    heap[hole] = last;
    return top;
  }

  put(entry: number): void {
    if (this.#ratios[entry] === Number.POSITIVE_INFINITY) return;
    const heap = this.#heap;
    let hole = this.#size++;
    while (hole > 0) {
      const parent = (hole - 1) >>> 1;
      if (!this.#isBefore(entry, heap[parent]!)) break;
      heap[hole] = heap[parent]!;
      hole = parent;
    }
    heap[hole] = entry;
  }

  #isBefore(one: number, other: number): boolean {
    const first = this.#ratios[one]!;
    const second = this.#ratios[other]!;
    return first < second || (first === second && one < other);
  }
}
