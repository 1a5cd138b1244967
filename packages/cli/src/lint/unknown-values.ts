/** Values of a requirement that no node can have, with what was probably meant. */
import { type NodeSelectorRequirement, normalizeLabel } from "@joinery/api";
import { nearestWords, nearValue } from "@joinery/scheduling";
import type { KnownLabels } from "./known-labels.ts";

export interface UnknownValues {
  readonly values: readonly string[];
  /** No value is left that a node can have. */
  readonly isAll: boolean;
  /** Of the first unknown value. */
  readonly intended: string | undefined;
  /** Values that there are instead, those first that are most like the first unknown one. */
  readonly known: readonly string[];
  /** All unknown values are such as another catalogue has. */
  readonly isElsewhere: boolean;
}

/** Longer lists are not read to the end. */
const SEEN_AT_ONCE_MAX = 5;

/** undefined where every value is possible. */
export function unknownValues({ key, operator, values = [] }: NodeSelectorRequirement, labels: KnownLabels): UnknownValues | undefined {
  const known = labels.valuesOf(key);
  if (operator !== "In" || known === undefined) return undefined;
  const unknown = values.filter((value) => !known.has(value));
  if (unknown.length === 0) return undefined;
  const isElsewhere = unknown.every((value) => labels.isElsewhere(key, value));
  const offered = labels.offeredValuesOf(key) ?? known;
  const others = [...offered].filter((value) => !values.includes(value));
  const intended = isElsewhere ? undefined : nearValue(normalizeLabel(key), unknown[0]!, others);
  const all = offered.size > SEEN_AT_ONCE_MAX ? nearestWords(unknown[0]!, offered, offered.size) : [...offered].sort();
  return { values: unknown, isAll: unknown.length === values.length, intended, known: all, isElsewhere };
}
