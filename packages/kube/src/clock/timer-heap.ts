/** Timers of the virtual clock, soonest first; equal times in the order in which they were set. */

export interface Timer {
  readonly dueMs: number;
  readonly sequence: number;
  /** Absent once fired or cancelled. */
  action: (() => void) | undefined;
}

/** Below this many cancelled timers, sweeping is not worth it. */
const SWEEP_FROM = 64;

/** A binary heap. Cancelled timers stay until they surface or until they outnumber the live ones. */
export class TimerHeap {
  #heap: Timer[] = [];
  #cancelledCount = 0;
  #nextSequence = 0;

  /** Live timers. */
  get size(): number {
    return this.#heap.length - this.#cancelledCount;
  }

  add(dueMs: number, action: () => void): Timer {
    const timer: Timer = { dueMs, sequence: this.#nextSequence++, action };
    this.#heap.push(timer);
    this.#rise(this.#heap.length - 1);
    return timer;
  }

  cancel(timer: Timer): void {
    if (timer.action === undefined) {
      return;
    }
    timer.action = undefined;
    this.#cancelledCount++;
    if (this.#cancelledCount > SWEEP_FROM && this.#cancelledCount * 2 > this.#heap.length) {
      this.#sweep();
    }
  }

  /** The soonest live timer, left in place. */
  peek(): Timer | undefined {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (first.action !== undefined) {
        return first;
      }
      this.#removeFirst();
      this.#cancelledCount--;
    }
    return undefined;
  }

  /** Takes the soonest live timer out and gives its action. */
  pop(): (() => void) | undefined {
    const first = this.peek();
    if (first === undefined) {
      return undefined;
    }
    this.#removeFirst();
    const action = first.action;
    first.action = undefined;
    return action;
  }

  #sweep(): void {
    this.#heap = this.#heap.filter((timer) => timer.action !== undefined).sort(compare);
    this.#cancelledCount = 0;
  }

  #removeFirst(): void {
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink(0);
    }
  }

  #rise(from: number): void {
    const heap = this.#heap;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (compare(heap[parent]!, heap[at]!) <= 0) {
        return;
      }
      [heap[parent], heap[at]] = [heap[at]!, heap[parent]!];
      at = parent;
    }
  }

  #sink(from: number): void {
    const heap = this.#heap;
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let least = at;
      if (left < heap.length && compare(heap[left]!, heap[least]!) < 0) least = left;
      if (right < heap.length && compare(heap[right]!, heap[least]!) < 0) least = right;
      if (least === at) {
        return;
      }
      [heap[least], heap[at]] = [heap[at]!, heap[least]!];
      at = least;
    }
  }
}

function compare(a: Timer, b: Timer): number {
  return a.dueMs - b.dueMs || a.sequence - b.sequence;
}
