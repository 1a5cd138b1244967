/** The groups that may come into one space, bucket by bucket, and of them those that have pods left. */
export class SpaceGroups {
  /** Groups with pods left when it was last looked. */
  readonly list: Int32Array;
  /** Their buckets; bucket i is `list[begins[i]]` to before `list[begins[i + 1]]`. */
  readonly buckets: Int32Array;
  readonly begins: Int32Array;
  bucketCount = 0;
  readonly #members: Int32Array;
  #count = 0;
  #round = -1;
  #step = -1;

  /** @param members in the order of their buckets */
  constructor(members: Int32Array) {
    this.#members = members;
    this.list = new Int32Array(members.length);
    this.buckets = new Int32Array(members.length);
    this.begins = new Int32Array(members.length + 1);
  }

  /**
   * Leaves out the groups without pods, once for each step.
   * @param round another one: pods were put back, so that every member is looked at again
   * @param step another one: pods may have become fewer
   */
  refresh(remaining: Int32Array, bucketOfGroup: Int32Array, round: number, step: number): void {
    const isNew = round !== this.#round;
    if (!isNew && step === this.#step) return;
    const source = isNew ? this.#members : this.list;
    const length = isNew ? source.length : this.#count;
    let count = 0;
    let buckets = 0;
    let last = -1;
    for (let at = 0; at < length; at++) {
      const group = source[at]!;
      if (remaining[group] === 0) continue;
      const bucket = bucketOfGroup[group]!;
      if (bucket !== last) {
        last = bucket;
        this.buckets[buckets] = bucket;
        this.begins[buckets++] = count;
      }
      this.list[count++] = group;
    }
    this.begins[buckets] = count;
    this.#count = count;
    this.bucketCount = buckets;
    this.#round = round;
    this.#step = step;
  }
}
