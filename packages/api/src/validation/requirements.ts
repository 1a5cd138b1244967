/** Requirements at run time. Rules A-101…. */
import { isRestrictedLabel, type LabelVocabulary, NODE_POOL_LABEL, normalizeLabel } from "../labels.ts";
import { OPERATORS } from "../owned/choices.ts";
import type { Path } from "../schema/issue.ts";
import type { Invalidity } from "./invalidity.ts";
import { isLabelValue, whyNoQualifiedName } from "./names.ts";

export interface CheckedRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
  readonly minValues?: number;
}

export interface RequirementVerdict {
  readonly invalid: readonly Invalidity[];
  readonly warnings: readonly Invalidity[];
}

const BOUNDS = ["Gt", "Lt", "Gte", "Lte"];

/** Checks one requirement of a NodePool or NodeClaim; `path` is its place in the object. */
export function checkRequirement(requirement: CheckedRequirement, vocabulary: LabelVocabulary, path: Path): RequirementVerdict {
  const { operator, values = [], minValues } = requirement;
  const key = normalizeLabel(requirement.key, vocabulary);
  const invalid: Invalidity[] = [];
  const say = (kind: Invalidity["kind"], field: string, message: string) => invalid.push({ kind, path: [...path, field], message });
  if (!(OPERATORS as readonly string[]).includes(operator)) say("invalid-operator", "operator", `operator "${operator}" is not supported`);
  if (isRestrictedLabel(key, vocabulary)) say("restricted-label", "key", `label "${key}" is restricted`);
  const why = whyNoQualifiedName(key);
  if (why !== undefined) say("invalid-key", "key", `key "${key}" is not a qualified name: ${why}`);
  for (const value of values) {
    if (!isLabelValue(value)) say("invalid-value", "values", `value "${value}" of key "${key}" is not a label value`);
  }
  if (operator === "In" && values.length === 0) say("missing-values", "values", `operator In of key "${key}" needs a value`);
  if (operator === "In" && minValues !== undefined && values.length < minValues) {
    say("too-few-values", "values", `key "${key}" has ${values.length} values, fewer than its minValues ${minValues}`);
  }
  if (BOUNDS.includes(operator) && !isBound(values)) {
    say("invalid-bound", "values", `operator ${operator} of key "${key}" needs one whole number that is not negative`);
  }
  const known = checkKnownValues(key, requirement, vocabulary, [...path, "values"]);
  return { invalid: [...invalid, ...known.invalid], warnings: known.warnings };
}

/** */
export function checkNotNodePoolKey({ key }: CheckedRequirement, path: Path): Invalidity[] {
  return key === NODE_POOL_LABEL
    ? [{ kind: "restricted-label", path: [...path, "key"], message: `label "${NODE_POOL_LABEL}" is restricted` }]
    : [];
}

/** NotIn of an overlay needs values. */
export function checkNotInValues({ key, operator, values = [] }: CheckedRequirement, path: Path): Invalidity[] {
  if (operator !== "NotIn" || values.length > 0) return [];
  return [{ kind: "missing-values", path: [...path, "values"], message: `operator NotIn of key "${key}" needs a value` }];
}

function isBound(values: readonly string[]): boolean {
  return values.length === 1 && /^\+?\d{1,19}$|^-0+$/.test(values[0]!) && BigInt(values[0]!) < 2n ** 63n;
}

/** keys with a closed set of values must keep one, and as many as minValues says. */
function checkKnownValues(key: string, requirement: CheckedRequirement, { knownValues }: LabelVocabulary, path: Path): RequirementVerdict {
  const { operator, values = [], minValues = 1 } = requirement;
  const known = Object.hasOwn(knownValues, key) ? knownValues[key]! : undefined;
  if (operator !== "In" || known === undefined) return { invalid: [], warnings: [] };
  const strangers = values.filter((value) => !known.includes(value));
  if (strangers.length === 0) return { invalid: [], warnings: [] };
  const message = `key "${key}" knows ${known.join(", ")}, not ${strangers.join(", ")}`;
  const found: Invalidity[] = [{ kind: "no-known-value", path, message }];
  const isEnough = values.length - strangers.length >= Math.max(minValues, 1);
  return isEnough ? { invalid: [], warnings: found } : { invalid: found, warnings: [] };
}
