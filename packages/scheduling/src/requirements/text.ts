/** Requirements as text for messages and as items for the API. Rules S-36, S-37, A-74, A-80. */
import { HOSTNAME_LABEL } from "@joinery/api";
import type { RequirementItem } from "../instance-type.ts";
import type { Requirement } from "./requirement.ts";

/** More values than this are counted, not listed (S-37). */
const VALUES_SHOWN_MAX = 5;

/** `zone In [a b]`, `cpu Exists >=2 <=8`, `type In [a] minValues 2` (S-37). */
export function requirementText(requirement: Requirement): string {
  const { key, operator, values, gte, lte, minValues } = requirement;
  const shown = values.slice(0, VALUES_SHOWN_MAX);
  if (values.length > VALUES_SHOWN_MAX) shown.push(`and ${values.length - VALUES_SHOWN_MAX} others`);
  let text = values.length === 0 ? `${key} ${operator}` : `${key} ${operator} [${shown.join(" ")}]`;
  if (gte !== undefined) text += ` >=${gte}`;
  if (lte !== undefined) text += ` <=${lte}`;
  return minValues === undefined ? text : `${text} minValues ${minValues}`;
}

/** A set of requirements, sorted by text, without the hostname (S-37). */
export function requirementsText(requirements: Iterable<Requirement>): string {
  return [...requirements]
    .filter(({ key }) => key !== HOSTNAME_LABEL)
    .map(requirementText)
    .sort()
    .join(", ");
}

/**
 * As it stands in a NodeClaim (S-36). Bounds become Gte and Lte, each with the minValues. Excluded values beside a bound get a
 * NotIn item of their own, where Karpenter loses them; and where the label has to be there all the same, an Exists item says so.
 */
export function requirementItems(requirement: Requirement): RequirementItem[] {
  const { key, operator, values, gte, lte, minValues, allowsAbsence } = requirement;
  const more = minValues === undefined ? {} : { minValues };
  const items: RequirementItem[] = [];
  if (operator === "NotIn" && !allowsAbsence && gte === undefined && lte === undefined) items.push({ key, operator: "Exists", ...more });
  if (gte !== undefined) items.push({ key, operator: "Gte", values: [String(gte)], ...more });
  if (lte !== undefined) items.push({ key, operator: "Lte", values: [String(lte)], ...more });
  if (values.length > 0) items.push({ key, operator, values: [...values], ...more });
  else if (items.length === 0) items.push({ key, operator, ...more });
  return items;
}
