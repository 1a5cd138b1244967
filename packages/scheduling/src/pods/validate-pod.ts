/** Pods that scheduling must refuse to look at, before any solve. Rules S-18…S-21. */
import {
  CORE_VOCABULARY,
  HOSTNAME_LABEL,
  isRestrictedLabel,
  type LabelVocabulary,
  NODE_POOL_LABEL,
  type NodeSelectorRequirement,
  normalizeLabel,
} from "@joinery/api";
import type { PodShape } from "../problem.ts";
import type { Reason } from "../reason.ts";
import { firstRequirements } from "./pod-variants.ts";

type Invalid = Extract<Reason, { kind: "invalid-requirement" }>;

const OPERATORS = new Set(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"]);
const QUALIFIED_NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Empty when the pod may be planned for. A pod that opts out (`karpenter.sh/nodepool DoesNotExist`, S-19; preferring it is enough) gets no event. */
export function validatePodForScheduling(shape: PodShape, vocabulary: LabelVocabulary = CORE_VOCABULARY): readonly Reason[] {
  const reasons: Reason[] = [];
  if (firstRequirements(shape).find(NODE_POOL_LABEL)?.operator === "DoesNotExist") reasons.push({ kind: "opted-out" });
  for (const [key, value] of Object.entries(shape.nodeSelector ?? {}).sort()) {
    reasons.push(...invalidRequirement({ key, operator: "In", values: [value] }, vocabulary));
  }
  for (const term of shape.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []) {
    for (const { key } of term.matchFields ?? []) {
      reasons.push({
        kind: "invalid-requirement",
        key,
        problem: "match-fields",
        message: "node selector terms with matchFields are not supported",
      });
    }
    for (const item of term.matchExpressions ?? []) reasons.push(...invalidRequirement(item, vocabulary));
  }
  return reasons;
}

/** S-21. */
export function invalidRequirement(item: NodeSelectorRequirement, vocabulary: LabelVocabulary = CORE_VOCABULARY): Invalid[] {
  const { operator, values = [] } = item;
  const key = normalizeLabel(item.key);
  const problems: Invalid[] = [];
  const report = (problem: Invalid["problem"], message: string) => problems.push({ kind: "invalid-requirement", key, problem, message });
  if (!OPERATORS.has(operator)) report("operator", `key ${key} has an unsupported operator ${operator}`);
  if (isRestrictedLabel(key, vocabulary)) report("restricted-label", restrictedMessage(key, vocabulary));
  if (!isQualifiedName(key)) report("key", `key ${key} is not a qualified name`);
  for (const value of values) {
    if (!LABEL_VALUE.test(value)) report("value", `invalid value ${value} for key ${key}`);
  }
  if (operator === "In" && values.length === 0) report("values", `key ${key} with operator In must have a value defined`);
  if (/^[GL]te?$/.test(operator) && !(values.length === 1 && isWholeNumber(values[0]!))) {
    report("values", `key ${key} with operator ${operator} must have a single integer value that is not negative`);
  }
  const known = vocabulary.knownValues[key];
  if (operator === "In" && known !== undefined && values.length > 0 && !values.some((value) => known.includes(value))) {
    report("unknown-value", `no valid values found in [${values.join(" ")}] for ${key}, expected one of: [${known.join(" ")}]`);
  }
  return problems;
}

function restrictedMessage(key: string, { wellKnown, restrictedDomains }: LabelVocabulary): string {
  if (key === HOSTNAME_LABEL) return `label ${key} is restricted; specify a well known label: [${[...wellKnown].sort().join(" ")}]`;
  return `label ${key} is restricted; specify a well known label: [${[...wellKnown].sort().join(" ")}], or a custom label that does not use a restricted domain: [${[...restrictedDomains].sort().join(" ")}]`;
}

function isQualifiedName(key: string): boolean {
  const parts = key.split("/");
  if (parts.length === 1) return QUALIFIED_NAME.test(key);
  return parts.length === 2 && parts[0]!.length <= 253 && DNS_SUBDOMAIN.test(parts[0]!) && QUALIFIED_NAME.test(parts[1]!);
}

function isWholeNumber(text: string): boolean {
  return /^\+?\d+$/.test(text) && BigInt(text.replace("+", "")) < 2n ** 63n;
}
