/** NodeClaim: one node that is wished for, from launch to termination. Rules. */
import Type, { type Static } from "typebox";
import type { ObjectMeta } from "../kubernetes/meta.ts";
import { lenientConditions } from "./condition.ts";
import { type Frozen, resources, rules, text, time } from "./fields.ts";
import { nodeClassRef, nodeTemplateFields } from "./node-template.ts";
import { nodeClaimRequirements } from "./requirement.ts";

const spec = Type.Object(
  {
    nodeClassRef: nodeClassRef(),
    requirements: nodeClaimRequirements,
    resources: Type.Optional(
      Type.Object({ requests: Type.Optional(resources("The least that the node must offer.")) }, { description: "What the node is for." }),
    ),
    ...nodeTemplateFields,
  },
  { description: "What node is wished for; it cannot change.", ...rules({ rule: "self == oldSelf", message: "spec is immutable" }) },
);

const status = Type.Object(
  {
    nodeName: Type.Optional(text("Name of the Node, once registered.")),
    providerID: Type.Optional(text("The cloud provider's name for the machine.")),
    imageID: Type.Optional(text("The image that the machine was started from.")),
    capacity: Type.Optional(resources("What the node is estimated to have.")),
    allocatable: Type.Optional(resources("What the node is estimated to offer to pods.")),
    lastPodEventTime: Type.Optional(time("When a pod last came, ended or began to leave.")),
    conditions: lenientConditions(),
  },
  { description: "What the node is." },
);

export const nodeClaimSchema = Type.Object(
  { spec, status: Type.Optional(status) },
  { description: "NodeClaim is the wish for one node, and what became of it." },
);

export type NodeClaim = { readonly apiVersion?: string; readonly kind?: string; readonly metadata?: ObjectMeta } & Frozen<
  Static<typeof nodeClaimSchema>
>;
export type NodeClaimSpec = NodeClaim["spec"];
export type NodeClaimStatus = NonNullable<NodeClaim["status"]>;
export type Requirement = NodeClaimSpec["requirements"][number];
export type NodeClassRef = NodeClaimSpec["nodeClassRef"];
