/** NodePool: what nodes Joinery may make, and how it may disrupt them. Rules A-8…, V-1, X-76. */
import Type, { type Static } from "typebox";
import type { ObjectMeta } from "../kubernetes/meta.ts";
import { AWS_ADMITTED_LABELS, AWS_GROUP, KARPENTER_GROUP } from "../labels.ts";
import { CONSOLIDATION_POLICIES, DISRUPTION_REASONS } from "./choices.ts";
import { conditions } from "./condition.ts";
import { atomicList, choice, type Frozen, int32, int64, LABEL_VALUE, map, nillableDuration, resources, rules, text } from "./fields.ts";
import { nodeClassRef, nodeTemplateFields, refGroupIsImmutable, refKindIsImmutable } from "./node-template.ts";
import { domainRule, KARPENTER_ADMITTED_LABELS, nodePoolRequirements } from "./requirement.ts";

const everyKey = (rule: string) => `self.all(key, ${rule})`;
const templateLabels = map(Type.String({ maxLength: 63, pattern: LABEL_VALUE }), "Labels that the nodes get.", {
  maxProperties: 100,
  "x-kubernetes-map-type": "atomic",
  ...rules(
    {
      rule: everyKey(domainRule("key", KARPENTER_GROUP, KARPENTER_ADMITTED_LABELS)),
      message: `label domain "${KARPENTER_GROUP}" is restricted`,
    },
    { rule: everyKey(domainRule("key", AWS_GROUP, AWS_ADMITTED_LABELS)), message: `label domain "${AWS_GROUP}" is restricted` },
    { rule: everyKey("key != 'karpenter.sh/nodepool'"), message: 'label "karpenter.sh/nodepool" is restricted' },
    { rule: everyKey("key != 'kubernetes.io/hostname'"), message: 'label "kubernetes.io/hostname" is restricted' },
  ),
});

const template = Type.Object(
  {
    metadata: Type.Optional(
      Type.Object(
        {
          labels: Type.Optional(templateLabels),
          annotations: Type.Optional(map(Type.String(), "Annotations that the nodes get.")),
        },
        { description: "What the nodes' metadata gets." },
      ),
    ),
    spec: Type.Object(
      {
        nodeClassRef: nodeClassRef(refGroupIsImmutable, refKindIsImmutable),
        requirements: nodePoolRequirements,
        ...nodeTemplateFields,
      },
      { description: "What each NodeClaim of the pool looks like." },
    ),
  },
  { description: "What each node of the pool looks like; a change makes the existing nodes drift." },
);

const budget = Type.Object(
  {
    nodes: text("How many nodes may be disrupted at once: a number, or a percentage of the pool's nodes, rounded up.", {
      default: "10%",
      pattern: "^((100|[0-9]{1,2})%|[0-9]+)$",
    }),
    reasons: Type.Optional(
      Type.Array(choice([...DISRUPTION_REASONS], "A reason of disruption."), {
        description: "The reasons that the budget limits; none given = all.",
        maxItems: 50,
        "x-kubernetes-list-type": "set",
      }),
    ),
    schedule: Type.Optional(
      text("When the budget begins to act, in cron syntax, UTC. Needs `duration`.", {
        pattern: "^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\\s(.+)\\s(.+)\\s(.+)\\s(.+))$",
      }),
    ),
    duration: Type.Optional(
      text("How long the budget acts after each hit of its schedule, in hours and minutes.", {
        pattern: "^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$",
      }),
    ),
  },
  rules({ rule: "has(self.schedule) == has(self.duration)", message: "'schedule' must be set with 'duration'" }),
);

const disruption = Type.Object(
  {
    consolidateAfter: Type.Optional(
      nillableDuration("How long a node must be without changes of its pods before it may be consolidated; `Never` = no consolidation.", {
        default: "0s",
      }),
    ),
    consolidationPolicy: Type.Optional(
      choice([...CONSOLIDATION_POLICIES], "Which nodes may be consolidated.", { default: "WhenEmptyOrUnderutilized" }),
    ),
    budgets: Type.Optional(
      atomicList(budget, "How many nodes may be disrupted at once; the strictest budget that acts wins. An empty list limits nothing.", {
        default: [{ nodes: "10%" }],
        maxItems: 50,
      }),
    ),
  },
  { description: "How nodes of the pool may be disrupted.", default: { consolidateAfter: "0s" } },
);

const spec = Type.Object(
  {
    template,
    disruption: Type.Optional(disruption),
    limits: Type.Optional(resources("The most that the pool's nodes may have together; `nodes` limits their number.")),
    weight: Type.Optional(int32("Pools with a greater weight are tried first.", { minimum: 1, maximum: 100 })),
    replicas: Type.Optional(int64("Makes the pool static: it keeps this many nodes, whatever the pods need.", { minimum: 0 })),
  },
  {
    description: "What the pool should be.",
    ...rules(
      { rule: "has(self.replicas) == has(oldSelf.replicas)", message: "a pool cannot change between static ('replicas' set) and dynamic" },
      {
        rule: "!has(self.replicas) || !has(self.limits) || self.limits.size() == 0 || (self.limits.size() == 1 && 'nodes' in self.limits)",
        message: "only 'limits.nodes' is supported on static pools ('replicas' set)",
        fieldPath: ".limits",
      },
      {
        rule: "!has(self.replicas) || !has(self.weight)",
        message: "'weight' is not supported on static pools ('replicas' set)",
        fieldPath: ".weight",
      },
    ),
  },
);

const status = Type.Object(
  {
    resources: Type.Optional(resources("What the pool's nodes have together.")),
    nodes: Type.Optional(int64("How many nodes the pool has.", { default: 0 })),
    nodeClassObservedGeneration: Type.Optional(int64("The generation of the node class that the registration health was judged for.")),
    conditions: conditions(),
  },
  { description: "What the pool is." },
);

export const nodePoolSchema = Type.Object(
  { spec, status: Type.Optional(status) },
  { description: "NodePool says what nodes Joinery may make for pods, and how it may disrupt them." },
);

export type NodePool = { readonly apiVersion?: string; readonly kind?: string; readonly metadata?: ObjectMeta } & Frozen<
  Static<typeof nodePoolSchema>
>;
export type NodePoolSpec = NodePool["spec"];
export type DisruptionBudget = NonNullable<NonNullable<NodePoolSpec["disruption"]>["budgets"]>[number];
