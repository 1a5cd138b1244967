/** Labels as kube-scheduler reads them: expressions, node selectors and affinity, selectors of pods, taints. */
import type { LabelSelector, NodeSelectorRequirement, Taint } from "@joinery/api";
import type { PodShape } from "@joinery/scheduling";

export type Labels = Readonly<Record<string, string>>;

export function meets({ key, operator, values = [] }: NodeSelectorRequirement, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return isInteger(value) && Number(value) > Number(values[0]);
    case "Lt":
      return isInteger(value) && Number(value) < Number(values[0]);
    case "Gte":
      return isInteger(value) && Number(value) >= Number(values[0]);
    case "Lte":
      return isInteger(value) && Number(value) <= Number(values[0]);
  }
}

function isInteger(value: string | undefined): boolean {
  return value !== undefined && /^-?\d+$/.test(value);
}

/** The node selector and one of the required terms; a term without expressions selects nothing. */
export function isSelectedBy({ nodeSelector = {}, affinity }: PodShape, labels: Labels): boolean {
  if (!Object.entries(nodeSelector).every(([key, value]) => labels[key] === value)) return false;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (terms === undefined) return true;
  return terms.some(
    ({ matchExpressions = [], matchFields = [] }) =>
      matchExpressions.length > 0 && matchFields.length === 0 && matchExpressions.every((item) => meets(item, labels)),
  );
}

/** An absent selector selects nothing, an empty one everything. */
export function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) && matchExpressions.every((item) => meets(item, labels))
  );
}

/** A preference of a taint keeps nobody away. */
export function isToleratedBy({ tolerations }: PodShape, taints: readonly Taint[]): boolean {
  return taints.every(
    (taint) =>
      taint.effect === "PreferNoSchedule" ||
      tolerations.some(({ key = "", operator = "Equal", value = "", effect = "" }) => {
        if (effect !== "" && effect !== taint.effect) return false;
        if (key === "" ? operator !== "Exists" : key !== taint.key) return false;
        const own = taint.value ?? "";
        if (operator === "Exists") return true;
        if (operator === "Equal") return value === own;
        if (!isInteger(value) || !isInteger(own)) return false;
        return operator === "Gt" ? Number(own) > Number(value) : Number(own) < Number(value);
      }),
  );
}
