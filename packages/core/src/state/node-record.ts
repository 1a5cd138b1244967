/** A Node as the controller keeps it: amounts as numbers (law 6), and only what is read or written back. */
import { type Condition, type KubeObject, type Node, type ObjectMeta, parseResources, type Resources, type Taint } from "@joinery/api";

export interface NodeRecord extends KubeObject {
  readonly metadata: ObjectMeta & { readonly name: string };
  readonly providerId: string;
  readonly taints: readonly Taint[];
  readonly capacity: Resources;
  readonly allocatable: Resources;
  /** Without heartbeats. */
  readonly status: { readonly conditions: readonly Condition[] };
  /** Status of the condition Ready; Unknown when absent (L-14). */
  readonly ready: "True" | "False" | "Unknown";
}

const noTaints: readonly Taint[] = [];

export function nodeRecord(node: Node): NodeRecord {
  const { metadata = {}, spec, status } = node;
  const { managedFields: _, annotations, ...kept } = metadata;
  return {
    metadata: { ...kept, name: metadata.name ?? "", ...(annotations && { annotations: ownAnnotations(annotations) }) },
    providerId: spec?.providerID ?? "",
    taints: spec?.taints ?? noTaints,
    capacity: parseResources(status?.capacity),
    allocatable: parseResources(status?.allocatable),
    status: { conditions: (status?.conditions ?? []).map(withoutHeartbeat) },
    ready: status?.conditions?.find(({ type }) => type === "Ready")?.status ?? "Unknown",
  };
}

function withoutHeartbeat({ type, status, reason, message, lastTransitionTime }: Condition): Condition {
  return { type, status, reason, message, lastTransitionTime };
}

/** Nodes collect long annotations of network and storage drivers; ours are all that is compared. */
function ownAnnotations(annotations: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key, value]) => value.length < 256 || key.includes("karpenter")));
}
