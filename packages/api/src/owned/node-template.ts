/** What NodePool templates and NodeClaims share: taints and the reference to a node class. Rules. */
import Type from "typebox";
import { atomicList, choice, duration, nillableDuration, QUALIFIED_KEY, type Rule, rules, text, time } from "./fields.ts";

const taint = Type.Object({
  key: text("The taint's key.", { minLength: 1, pattern: QUALIFIED_KEY }),
  value: Type.Optional(text("The taint's value; leave it out rather than empty.", { pattern: QUALIFIED_KEY })),
  effect: choice(["NoSchedule", "PreferNoSchedule", "NoExecute"], "What happens to pods that do not tolerate the taint."),
  timeAdded: Type.Optional(time("When the taint was added.")),
});

export const nodeClassRef = (...refRules: readonly Rule[]) =>
  Type.Object(
    {
      group: text("API group of the node class, without a version.", { minLength: 1, pattern: "^[^/]*$" }),
      kind: text("Kind of the node class.", { minLength: 1 }),
      name: text("Name of the node class.", { minLength: 1 }),
    },
    { description: "The cloud provider's settings for the nodes.", ...(refRules.length > 0 && rules(...refRules)) },
  );

export const refGroupIsImmutable: Rule = {
  rule: "self.group == oldSelf.group",
  message: "nodeClassRef.group is immutable",
  fieldPath: ".group",
};
export const refKindIsImmutable: Rule = {
  rule: "self.kind == oldSelf.kind",
  message: "nodeClassRef.kind is immutable",
  fieldPath: ".kind",
};

export const nodeTemplateFields = {
  taints: Type.Optional(atomicList(taint, "Taints that the nodes carry; pods need tolerations for them.")),
  startupTaints: Type.Optional(
    atomicList(taint, "Taints that the nodes start with and that something else removes; pods need no tolerations for them."),
  ),
  terminationGracePeriod: Type.Optional(
    duration("How long a node may take to drain before its pods are deleted by force; none = forever."),
  ),
  expireAfter: Type.Optional(
    nillableDuration("How long a node lives, counted from the creation of its NodeClaim; `Never` = forever.", { default: "720h" }),
  ),
};
