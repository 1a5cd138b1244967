/** Which instance types of a claim's state have room for its pods, DaemonSets already taken off. Rule S-101. */
import type { TypeSet } from "../catalog/type-set.ts";
import type { ClaimState } from "./claim-state.ts";
import type { Template } from "./template.ts";

/** Is there a variant of the state, allowed by the limits, that has room for `used` and `requests` together? */
export function hasRoom(
  { variants, mostRoom }: ClaimState,
  { room, rows }: Template,
  allowed: TypeSet | undefined,
  used: Float64Array,
  at: number,
  requests: Float64Array,
): boolean {
  const width = room.length;
  for (let r = 0; r < width; r++) if (used[at + r]! + requests[r]! > mostRoom[r]!) return false;
  for (let r = 0; r < width; r++) rows[r] = room[r]!.rowAtLeast(used[at + r]! + requests[r]!) * variants.length;
  for (let word = variants.length - 1; word >= 0; word--) {
    let left = allowed === undefined ? variants[word]! : variants[word]! & allowed[word]!;
    for (let r = 0; r < width && left !== 0; r++) left &= room[r]!.rows[rows[r]! + word]!;
    if (left !== 0) return true;
  }
  return false;
}

/** The same question's answer as a set, a new one or `into`. `total` is for all pods together, a row of the resource axis. */
export function variantsWithRoom(
  { variants }: ClaimState,
  { room }: Template,
  allowed: TypeSet | undefined,
  total: Float64Array,
  into: TypeSet = new Int32Array(variants.length),
): TypeSet {
  for (let word = 0; word < into.length; word++) into[word] = allowed === undefined ? variants[word]! : variants[word]! & allowed[word]!;
  for (let position = 0; position < room.length; position++) {
    const column = room[position]!;
    const { rows, wordCount } = column;
    const at = column.rowAtLeast(total[position]!) * wordCount;
    for (let word = 0; word < wordCount; word++) into[word] = into[word]! & rows[at + word]!;
  }
  return into;
}
