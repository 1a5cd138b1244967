/** NodePools at run time: condition ValidationSucceeded, reason NodePoolValidationFailed. Rules …A-103. */
import { parseDuration, parseNillableDuration } from "../duration.ts";
import type { Taint } from "../kubernetes/pod.ts";
import { isRestrictedLabel, type LabelVocabulary, NODE_POOL_LABEL } from "../labels.ts";
import type { NodePool } from "../owned/node-pool.ts";
import type { Path } from "../schema/issue.ts";
import { type Invalidity, type RuntimeVerdict, verdictOf } from "./invalidity.ts";
import { isLabelValue, isQualifiedName, whyNoQualifiedName } from "./names.ts";
import { checkQuantities } from "./quantities.ts";
import { checkNotNodePoolKey, checkRequirement } from "./requirements.ts";

const TEMPLATE: Path = ["spec", "template"];
const TEMPLATE_SPEC: Path = [...TEMPLATE, "spec"];
const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** A-98…A-103. `vocabulary`: the labels that core and the provider know. */
export function validateNodePool({ spec }: NodePool, vocabulary: LabelVocabulary): RuntimeVerdict {
  const { metadata, spec: template } = spec.template;
  const requirements = template.requirements.map((requirement, at) => {
    const path = [...TEMPLATE_SPEC, "requirements", at];
    const { invalid, warnings } = checkRequirement(requirement, vocabulary, path);
    return { invalid: [...checkNotNodePoolKey(requirement, path), ...invalid], warnings };
  });
  return verdictOf(
    [
      ...checkLabels(metadata?.labels ?? {}, vocabulary),
      ...checkTaints(template.taints ?? [], template.startupTaints ?? []),
      ...requirements.flatMap(({ invalid }) => invalid),
      ...checkDurations(spec),
      ...checkQuantities(spec.limits ?? {}, ["spec", "limits"]),
    ],
    requirements.flatMap(({ warnings }) => warnings),
  );
}

/** */
function checkLabels(labels: Readonly<Record<string, string>>, vocabulary: LabelVocabulary): Invalidity[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const path = [...TEMPLATE, "metadata", "labels", key];
    const invalid: Invalidity[] = [];
    const why = whyNoQualifiedName(key);
    if (key === NODE_POOL_LABEL || isRestrictedLabel(key, vocabulary))
      invalid.push({ kind: "restricted-label", path, message: `label "${key}" is restricted` });
    if (why !== undefined) invalid.push({ kind: "invalid-key", path, message: `key "${key}" is not a qualified name: ${why}` });
    if (!isLabelValue(value)) invalid.push({ kind: "invalid-value", path, message: `value "${value}" is not a label value` });
    return invalid;
  });
}

/** key and effect are unique across both lists. */
function checkTaints(taints: readonly Taint[], startupTaints: readonly Taint[]): Invalidity[] {
  const seen = new Set<string>();
  const check =
    (list: string) =>
    (taint: Taint, at: number): Invalidity[] => {
      const path = [...TEMPLATE_SPEC, list, at];
      const identity = `${taint.key}:${taint.effect}`;
      const isDouble = seen.has(identity);
      seen.add(identity);
      return [
        ...checkTaint(taint, path),
        ...(isDouble ? [{ kind: "duplicate-taint", path, message: `taint "${identity}" is there twice` } as const] : []),
      ];
    };
  return [...taints.flatMap(check("taints")), ...startupTaints.flatMap(check("startupTaints"))];
}

function checkTaint({ key, value, effect }: Taint, path: Path): Invalidity[] {
  const invalid: Invalidity[] = [];
  const why = whyNoQualifiedName(key);
  if (why !== undefined)
    invalid.push({ kind: "invalid-key", path: [...path, "key"], message: `key "${key}" is not a qualified name: ${why}` });
  if (value !== undefined && value !== "" && !isQualifiedName(value)) {
    invalid.push({ kind: "invalid-value", path: [...path, "value"], message: `value "${value}" is not a qualified name` });
  }
  if (effect !== undefined && (effect as string) !== "" && !EFFECTS.includes(effect)) {
    invalid.push({ kind: "invalid-effect", path: [...path, "effect"], message: `effect "${effect}" is not supported` });
  }
  return invalid;
}

/** texts that look like durations and are longer than any. Budgets fail closed by themselves. */
function checkDurations({ template, disruption }: NodePool["spec"]): Invalidity[] {
  const { expireAfter, terminationGracePeriod } = template.spec;
  const consolidateAfter = disruption?.consolidateAfter;
  const invalid: Invalidity[] = [];
  const say = (path: Path, text: string) => invalid.push({ kind: "invalid-duration", path, message: `"${text}" is no duration` });
  if (expireAfter !== undefined && parseNillableDuration(expireAfter) === undefined) say([...TEMPLATE_SPEC, "expireAfter"], expireAfter);
  if (terminationGracePeriod !== undefined && parseDuration(terminationGracePeriod) === undefined) {
    say([...TEMPLATE_SPEC, "terminationGracePeriod"], terminationGracePeriod);
  }
  if (consolidateAfter !== undefined && parseNillableDuration(consolidateAfter) === undefined)
    say(["spec", "disruption", "consolidateAfter"], consolidateAfter);
  return invalid;
}
