/** The CustomResourceDefinitions of the kinds that Joinery owns: addresses, columns and subresources of section 1, schemas of the kinds. */
import type { TSchema } from "typebox";
import type { Kind } from "../kubernetes/kinds.ts";
import type { CustomResourceDefinition, OpenApiSchema, PrinterColumn } from "../schema/open-api.ts";
import { capacityBufferSchema } from "./capacity-buffer.ts";
import { ec2NodeClassSchema } from "./ec2-node-class.ts";
import { CapacityBuffers, Ec2NodeClasses, KwokNodeClasses, NodeClaims, NodeOverlays, NodePools } from "./kinds.ts";
import { kwokNodeClassSchema } from "./kwok-node-class.ts";
import { nodeClaimSchema } from "./node-claim.ts";
import { nodeOverlaySchema } from "./node-overlay.ts";
import { nodePoolSchema } from "./node-pool.ts";

interface Definition {
  readonly kind: Kind;
  readonly schema: TSchema;
  readonly category: string;
  readonly shortNames?: readonly string[];
  readonly columns?: readonly PrinterColumn[];
  readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string };
}

const column = (name: string, jsonPath: string, type = "string"): PrinterColumn => ({ name, type, jsonPath });
/** Shown with `-o wide` only. */
const wide = (name: string, jsonPath: string, type = "string"): PrinterColumn => ({ ...column(name, jsonPath, type), priority: 1 });
const label = (key: string) => `.metadata.labels.${key.replaceAll(".", "\\.")}`;
const condition = (type: string) => `.status.conditions[?(@.type=="${type}")].status`;
const AGE = column("Age", ".metadata.creationTimestamp", "date");
const READY = column("Ready", condition("Ready"));

const DEFINITIONS: readonly Definition[] = [
  {
    kind: NodePools,
    schema: nodePoolSchema,
    category: "karpenter",
    columns: [
      column("NodeClass", ".spec.template.spec.nodeClassRef.name"),
      column("Nodes", ".status.nodes"),
      READY,
      AGE,
      wide("Weight", ".spec.weight", "integer"),
      wide("CPU", ".status.resources.cpu"),
      wide("Memory", ".status.resources.memory"),
    ],
    scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.nodes" },
  },
  {
    kind: NodeClaims,
    schema: nodeClaimSchema,
    category: "karpenter",
    columns: [
      column("Type", label("node.kubernetes.io/instance-type")),
      column("Capacity", label("karpenter.sh/capacity-type")),
      column("Zone", label("topology.kubernetes.io/zone")),
      column("Node", ".status.nodeName"),
      READY,
      AGE,
      wide("ImageID", ".status.imageID"),
      wide("ID", ".status.providerID"),
      wide("NodePool", label("karpenter.sh/nodepool")),
      wide("NodeClass", ".spec.nodeClassRef.name"),
      wide("Drifted", condition("Drifted")),
    ],
  },
  {
    kind: NodeOverlays,
    schema: nodeOverlaySchema,
    category: "karpenter",
    shortNames: ["overlays"],
    columns: [READY, AGE, wide("Weight", ".spec.weight", "integer")],
  },
  {
    kind: CapacityBuffers,
    schema: capacityBufferSchema,
    category: "autoscaling",
    shortNames: ["cb"],
    columns: [
      column("Strategy", ".spec.provisioningStrategy"),
      column("PodTemplate", ".status.podTemplateRef.name"),
      column("Replicas", ".status.replicas", "integer"),
      column("ConditionsType", ".status.conditions[*].type"),
      column("ConditionsStatus", ".status.conditions[*].status"),
      column("ConditionsReason", ".status.conditions[*].reason"),
      AGE,
    ],
  },
  {
    kind: Ec2NodeClasses,
    schema: ec2NodeClassSchema,
    category: "karpenter",
    shortNames: ["ec2nc", "ec2ncs"],
    columns: [READY, AGE, wide("Role", ".spec.role")],
  },
  { kind: KwokNodeClasses, schema: kwokNodeClassSchema, category: "karpenter", shortNames: ["kwoknc", "kwokncs"] },
];

/** The kinds that Joinery owns, in the order in which they are installed. */
export const OWNED_KINDS: readonly Kind[] = DEFINITIONS.map(({ kind }) => kind);

const made = new Map<Kind, CustomResourceDefinition>();

/** The definition of a kind of ours. Shared: never written to. Throws for other kinds. */
export function crdOf(kind: Kind): CustomResourceDefinition {
  const known = made.get(kind);
  if (known !== undefined) return known;
  const definition = DEFINITIONS.find((one) => one.kind === kind);
  if (definition === undefined) throw new Error(`Cannot define ${kind.kind}: it is no kind of Joinery's`);
  const crd = definitionOf(definition);
  made.set(kind, crd);
  return crd;
}

function definitionOf({ kind, schema, category, shortNames, columns, scale }: Definition): CustomResourceDefinition {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${kind.resource}.${kind.group}` },
    spec: {
      group: kind.group,
      names: {
        categories: [category],
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.resource,
        ...(shortNames && { shortNames }),
        singular: kind.kind.toLowerCase(),
      },
      scope: kind.isNamespaced ? "Namespaced" : "Cluster",
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          ...(columns && { additionalPrinterColumns: columns }),
          schema: { openAPIV3Schema: rootSchema(schema) },
          subresources: { status: {}, ...(scale && { scale }) },
        },
      ],
    },
  };
}

function rootSchema(schema: TSchema): OpenApiSchema {
  const plain = JSON.parse(JSON.stringify(schema)) as OpenApiSchema;
  return {
    ...plain,
    properties: { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" }, ...plain.properties },
  };
}
