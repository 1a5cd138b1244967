/** Equal label sets as one number, by a path of maps instead of a text. */

interface Branch {
  /** −1: not asked for yet. */
  number: number;
  readonly next: Map<string, Map<string, Branch>>;
}

export class LabelSets {
  readonly #root: Branch = newBranch();
  #count = 0;

  /** The order in which the labels are written does not count. */
  numberOf(namespace: string, labels: Readonly<Record<string, string>>): number {
    const start = step(this.#root, "", namespace);
    let end = start;
    let size = 0;
    for (const key in labels) {
      end = step(end, key, labels[key]!);
      size++;
    }
    if (end.number < 0) end.number = size < 2 ? this.#count++ : this.#numberOfSorted(start, labels);
    return end.number;
  }

  #numberOfSorted(start: Branch, labels: Readonly<Record<string, string>>): number {
    let end = start;
    for (const key of Object.keys(labels).sort()) end = step(end, key, labels[key]!);
    if (end.number < 0) end.number = this.#count++;
    return end.number;
  }
}

function step(from: Branch, key: string, value: string): Branch {
  let byValue = from.next.get(key);
  if (byValue === undefined) {
    byValue = new Map();
    from.next.set(key, byValue);
  }
  let branch = byValue.get(value);
  if (branch === undefined) {
    branch = newBranch();
    byValue.set(value, branch);
  }
  return branch;
}

function newBranch(): Branch {
  return { number: -1, next: new Map() };
}
