/** Which pods a label selector means. Rules S-136…S-138. */
import { type LabelSelector, type LabelSelectorRequirement, operatorHolds } from "@joinery/api";

type Labels = Readonly<Record<string, string>>;

export interface PodSelector {
  /** Equal for selectors that mean the same pods by the same words. */
  readonly text: string;
  /** One pair that every selected pod has, for finding selectors by pods; undefined when there is none. */
  readonly pair: string | undefined;
  /** Of pods that are being placed: an absent selector means none of them (S-137). */
  selects(labels: Labels): boolean;
  /** Of pods that are there: an absent selector means all (S-137). */
  lists(labels: Labels): boolean;
}

/** `more` are expressions that are ANDed (S-138). */
export function podSelector(selector: LabelSelector | undefined, more: readonly LabelSelectorRequirement[] = []): PodSelector {
  if (selector === undefined && more.length === 0) return { text: "", pair: undefined, selects: () => false, lists: () => true };
  const expressions = [...expressionsOf(selector), ...more];
  const selects = (labels: Labels) => expressions.every(({ key, operator, values }) => operatorHolds(operator, labels[key], values));
  const single = expressions.find(({ operator, values }) => operator === "In" && values?.length === 1);
  return {
    text: JSON.stringify([...new Set(expressions.map(expressionText))].sort()),
    pair: single === undefined ? undefined : labelPair(single.key, single.values![0]!),
    selects,
    lists: selects,
  };
}

/** A selector written out as expressions. */
export function expressionsOf(selector: LabelSelector | undefined): readonly LabelSelectorRequirement[] {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return [...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: "In" as const, values: [value] })), ...matchExpressions];
}

export function labelPair(key: string, value: string): string {
  return `${key}=${value}`;
}

function expressionText({ key, operator, values = [] }: LabelSelectorRequirement): string {
  return `${key} ${operator} ${[...new Set(values)].sort().join()}`;
}
