/** A requirement of a NodePool or an expression of an affinity as one would say it. */
import type { RequirementItem } from "../instance-type.ts";

/** `zone In [a b]`, with `minValues` where it has some. */
export function itemText({ key, operator, values, minValues }: RequirementItem): string {
  const listed = values === undefined || values.length === 0 ? "" : ` [${values.join(" ")}]`;
  return `${key} ${operator}${listed}${minValues === undefined ? "" : ` minValues ${minValues}`}`;
}
