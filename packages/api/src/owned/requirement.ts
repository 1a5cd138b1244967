/** One requirement on a label of nodes, as NodePools, NodeClaims and NodeOverlays hold it. Rules A-22… …A-49. */
import Type from "typebox";
import { AWS_ADMITTED_LABELS, AWS_GROUP, AWS_OVERLAY_ADMITTED_LABELS, KWOK_ADMITTED_LABELS, KWOK_GROUP } from "../labels.ts";
import { OPERATORS } from "./choices.ts";
import { atomicList, choice, int64, LABEL_VALUE, QUALIFIED_KEY, type Rule, rules, text } from "./fields.ts";

/** Keys whose domain (what stands before the first `/`) ends with `domain` must be in the list. The suffix is textual. */
export function domainRule(subject: string, domain: string, admitted: readonly string[]): string {
  const list = admitted.map((key) => `'${key}'`).join(", ");
  return `${subject} in [${list}] || !${subject}.matches('^[^/]*${domain.replaceAll(".", "[.]")}(/|$)')`;
}

export const KARPENTER_ADMITTED_LABELS = ["karpenter.sh/capacity-type", "karpenter.sh/nodepool"];

const restricted = (domain: string, admitted: readonly string[]): Rule => ({
  rule: domainRule("self", domain, admitted),
  message: `label domain "${domain}" is restricted`,
});
const forbidden = (key: string): Rule => ({ rule: `self != '${key}'`, message: `label "${key}" is restricted` });

const key = (...keyRules: readonly Rule[]) =>
  text("The label's key.", {
    maxLength: 316,
    pattern: QUALIFIED_KEY,
    ...rules(restricted("karpenter.sh", KARPENTER_ADMITTED_LABELS), ...keyRules, forbidden("kubernetes.io/hostname")),
  });
const operator = choice([...OPERATORS], "How the label's value relates to the values.");
/** the two limits stand on the list, where they limit nothing; the content is checked at run time. */
const values = atomicList(Type.String(), "What the operator compares with; one whole number for Gt, Lt, Gte and Lte.", {
  maxLength: 63,
  pattern: LABEL_VALUE,
});
const minValues = int64("How many different values the launched instance types must at least offer.", { minimum: 1, maximum: 50 });

const inNeedsValues: Rule = {
  rule: "self.operator != 'In' || (has(self.values) && self.values.size() > 0)",
  message: "requirements with operator 'In' must have a value defined",
  fieldPath: ".values",
};
const notInNeedsValues: Rule = {
  rule: "self.operator != 'NotIn' || (has(self.values) && self.values.size() > 0)",
  message: "requirements with operator 'NotIn' must have a value defined",
  fieldPath: ".values",
};
const boundNeedsOneInteger: Rule = {
  rule: "!(self.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || (has(self.values) && self.values.size() == 1 && int(self.values[0]) >= 0)",
  message: "requirements with operator 'Gt', 'Lt', 'Gte' or 'Lte' must have a single whole number that is not negative",
  fieldPath: ".values",
};
const enoughValues: Rule = {
  rule: "!(self.operator == 'In' && has(self.minValues)) || (has(self.values) && self.values.size() >= self.minValues)",
  message: "requirements with 'minValues' must have at least that many values for operator 'In'",
  fieldPath: ".values",
};

const fields = { operator, values: Type.Optional(values) };
const itemRules = rules(inNeedsValues, boundNeedsOneInteger, enoughValues);
const ofAws = restricted(AWS_GROUP, AWS_ADMITTED_LABELS);
const ofAwsForOverlays = restricted(AWS_GROUP, AWS_OVERLAY_ADMITTED_LABELS);
const ofKwok = restricted(KWOK_GROUP, KWOK_ADMITTED_LABELS);

const list = { maxItems: 100 };
const description = "What the labels of the nodes must be; several requirements on one key must all hold.";

export const nodePoolRequirements = atomicList(
  Type.Object({ key: key(ofAws, ofKwok, forbidden("karpenter.sh/nodepool")), ...fields, minValues: Type.Optional(minValues) }, itemRules),
  description,
  list,
);
export const nodeClaimRequirements = atomicList(
  Type.Object({ key: key(ofAws, ofKwok), ...fields, minValues: Type.Optional(minValues) }, itemRules),
  description,
  list,
);
export const nodeOverlayRequirements = atomicList(
  Type.Object({ key: key(ofAwsForOverlays), ...fields }, rules(inNeedsValues, notInNeedsValues, boundNeedsOneInteger)),
  "Which instance types and offerings the overlay changes; none at all means every one.",
  list,
);
