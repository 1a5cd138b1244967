/** What the operators of label selectors and of node selectors mean. */
import type { NodeSelectorRequirement } from "./kubernetes/pod.ts";

const INTEGER = /^[+-]?\d+$/;

/**
 * Whether a label fits one requirement of a selector.
 * @param value of the label; undefined where it is missing, which fits `NotIn` and `DoesNotExist` alone
 * @param values of the requirement; the ordering operators take the first as their bound and compare integers of any size
 */
export function operatorHolds(
  operator: NodeSelectorRequirement["operator"],
  value: string | undefined,
  values: readonly string[] = [],
): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return isOrdered(operator, value, values[0]);
  }
}

/** False for an operator that is none: what is not valid selects nothing. */
function isOrdered(operator: string, value = "", bound = ""): boolean {
  if (!INTEGER.test(value) || !INTEGER.test(bound)) return false;
  const [one, other] = [BigInt(value.replace("+", "")), BigInt(bound.replace("+", ""))];
  switch (operator) {
    case "Gt":
      return one > other;
    case "Lt":
      return one < other;
    case "Gte":
      return one >= other;
    case "Lte":
      return one <= other;
    default:
      return false;
  }
}
