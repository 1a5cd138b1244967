/** A requirement as people write it. */
import type { RequirementItem } from "@joinery/scheduling";

/** `kubernetes.io/arch In [amd64]`. */
export function itemText({ key, operator, values = [] }: RequirementItem): string {
  return values.length === 0 ? `${key} ${operator}` : `${key} ${operator} [${values.join(", ")}]`;
}
