/** What a type or an offering is, as requirement items: whether it goes with what is wanted, and the labels it gives, without making sets of the 45,000 labels of all types. S-41. */
import type { RequirementItem } from "../instance-type.ts";
import type { Requirement } from "./requirement.ts";

/**
 * Keys that both sides have must leave a value in common; other keys do not matter.
 * @param isAbsenceKnown a label that `offered` does not name is not there
 */
export function itemsMeet(wanted: Iterable<Requirement>, offered: readonly RequirementItem[], isAbsenceKnown = false): boolean {
  for (const want of wanted) {
    const item = offered.find(({ key }) => key === want.key);
    if (item === undefined ? isAbsenceKnown && !want.allowsAbsence : !isMet(want, item)) return false;
  }
  return true;
}

/** The labels that the items decide: what they allow one value for. I-1701. */
export function decidedLabels(items: readonly RequirementItem[]): Record<string, string> {
  const single = items.filter(({ operator, values }) => operator === "In" && values?.length === 1);
  return Object.fromEntries(single.map(({ key, values }) => [key, values?.[0] ?? ""]));
}

function isMet(want: Requirement, { operator, values = [] }: RequirementItem): boolean {
  if (operator === "DoesNotExist") return want.allowsAbsence;
  if (operator === "Exists") return want.operator !== "DoesNotExist";
  return values.some((value) => want.has(value));
}
