/** Secondary keys of a cache: which objects stand under a value. */

/** Values of an object in one index: none, one, or several. */
export type IndexFunction<T> = (object: T) => string | readonly string[] | undefined;

export class Index<T> {
  readonly #keysByValue = new Map<string, Set<string>>();
  readonly #valuesOf: IndexFunction<T>;

  constructor(valuesOf: IndexFunction<T>) {
    this.#valuesOf = valuesOf;
  }

  /** Moves the object under `key` from the values of `previous` to those of `next`; absent means not there. */
  move(key: string, previous: T | undefined, next: T | undefined): void {
    const before = this.#values(previous);
    const after = this.#values(next);
    for (const value of before) {
      if (!after.includes(value)) {
        this.#remove(value, key);
      }
    }
    for (const value of after) {
      this.#add(value, key);
    }
  }

  keys(value: string): Iterable<string> {
    return this.#keysByValue.get(value) ?? [];
  }

  #values(object: T | undefined): readonly string[] {
    const values = object === undefined ? undefined : this.#valuesOf(object);
    return values === undefined ? [] : typeof values === "string" ? [values] : values;
  }

  #add(value: string, key: string): void {
    const keys = this.#keysByValue.get(value);
    if (keys === undefined) {
      this.#keysByValue.set(value, new Set([key]));
    } else {
      keys.add(key);
    }
  }

  #remove(value: string, key: string): void {
    const keys = this.#keysByValue.get(value);
    keys?.delete(key);
    if (keys?.size === 0) {
      this.#keysByValue.delete(value);
    }
  }
}
