/** Equal requests as one object, so that what is found out for one pod holds for all that ask for as much. */
import type { Resources } from "@joinery/api";
import type { ResourceAxis } from "./resource-axis.ts";

export interface Requests {
  /** Along the resource axis. */
  readonly row: Float64Array;
}

interface Branch {
  requests: Requests | undefined;
  readonly next: Map<number, Branch>;
}

export class RequestTable {
  readonly rows: Float64Array[] = [];
  readonly #axis: ResourceAxis;
  readonly #root: Branch = { requests: undefined, next: new Map() };

  constructor(axis: ResourceAxis) {
    this.#axis = axis;
  }

  of(resources: Resources): Requests {
    const { names } = this.#axis;
    let branch = this.#root;
    for (let position = 0; position < names.length; position++) {
      const amount = resources[names[position]!] ?? 0;
      let next = branch.next.get(amount);
      if (next === undefined) {
        next = { requests: undefined, next: new Map() };
        branch.next.set(amount, next);
      }
      branch = next;
    }
    if (branch.requests === undefined) {
      branch.requests = { row: this.#axis.rowOf(resources) };
      this.rows.push(branch.requests.row);
    }
    return branch.requests;
  }
}
