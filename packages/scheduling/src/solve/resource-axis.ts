/** The resources that the pods of one solve ask for, as positions in rows of numbers; what nobody asks for is not compared. */
import type { Resources } from "@joinery/api";
import type { PodShape } from "../problem.ts";

export class ResourceAxis {
  readonly names: readonly string[];

  constructor(shapes: readonly PodShape[]) {
    const names = new Set(["pods"]);
    for (let index = 0; index < shapes.length; index++) for (const name in shapes[index]!.requests) names.add(name);
    this.names = [...names].sort();
  }

  get length(): number {
    return this.names.length;
  }

  rowOf(resources: Resources): Float64Array {
    const row = new Float64Array(this.names.length);
    for (let position = 0; position < row.length; position++) row[position] = resources[this.names[position]!] ?? 0;
    return row;
  }

  /** Amounts that are not zero. */
  resourcesOf(row: Float64Array): Resources {
    const resources: Record<string, number> = {};
    for (let position = 0; position < row.length; position++) {
      if (row[position] !== 0) resources[this.names[position]!] = row[position]!;
    }
    return resources;
  }
}
