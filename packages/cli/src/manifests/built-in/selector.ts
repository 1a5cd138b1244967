/** Label selectors, and whether a workload's selector selects its own template. */
import type { LabelSelector } from "@joinery/api";
import type { FieldPath } from "../field-path.ts";
import { checkKey, checkLabels, checkText } from "./metadata.ts";
import { labelValue } from "./names.ts";
import type { Report } from "./report.ts";

const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"];

export function checkSelector(selector: LabelSelector | undefined | null, path: FieldPath, report: Report): void {
  checkLabels(selector?.matchLabels, [...path, "matchLabels"], report);
  for (const [index, { key, operator, values }] of (selector?.matchExpressions ?? []).entries()) {
    const at = [...path, "matchExpressions", index];
    checkKey(key ?? "", [...at, "key"], report);
    if (!OPERATORS.includes(operator)) {
      report.error([...at, "operator"], `"${operator ?? ""}" is no operator; use ${listOf(OPERATORS)}`);
      continue;
    }
    checkValueCount(operator, values?.length ?? 0, [...at, "values"], report);
    for (const [position, value] of (values ?? []).entries()) checkText(value, labelValue, [...at, "values", position], report);
  }
}

export function checkValueCount(operator: string, count: number, path: FieldPath, report: Report): void {
  const wantsNone = operator === "Exists" || operator === "DoesNotExist";
  if (wantsNone && count > 0) report.error(path, `must be absent with operator ${operator}`);
  if (!wantsNone && count === 0) report.error(path, `must name at least one value with operator ${operator}`);
}

export function isEmptySelector(selector: LabelSelector | undefined | null): boolean {
  return Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0;
}

/** `a, b or c` */
export function listOf(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
