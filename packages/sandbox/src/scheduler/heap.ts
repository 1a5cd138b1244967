/** A binary heap: the first of many at the cost of a logarithm. */

export class Heap<T> {
  readonly #items: T[] = [];
  readonly #isBefore: (one: T, other: T) => boolean;

  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  push(item: T): void {
    let at = this.#items.length;
    this.#items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(item, this.#items[parent]!)) {
        break;
      }
      this.#items[at] = this.#items[parent]!;
      at = parent;
    }
    this.#items[at] = item;
  }

  pop(): T | undefined {
    const first = this.#items[0];
    const last = this.#items.pop();
    if (last === undefined || this.#items.length === 0) {
      return first;
    }
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#items.length) {
        break;
      }
      if (child + 1 < this.#items.length && this.#isBefore(this.#items[child + 1]!, this.#items[child]!)) {
        child += 1;
      }
      if (!this.#isBefore(this.#items[child]!, last)) {
        break;
      }
      this.#items[at] = this.#items[child]!;
      at = child;
    }
    this.#items[at] = last;
    return first;
  }
}
