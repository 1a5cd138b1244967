/** Which NodePools of the input a solve may use, and why it may not use the others. Rules S-59…S-61; formats, "Objects without status". */
import type { Kind, KubeObject, NodePool } from "@joinery/api";
import type { Reason } from "@joinery/scheduling";

export type NotReady = Extract<Reason, { kind: "node-pool-not-ready" }>;

export interface PoolChoice {
  readonly usable: readonly NodePool[];
  readonly skipped: readonly NotReady[];
}

interface WithConditions extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

export interface PoolQuestion {
  readonly nodePools: readonly NodePool[];
  readonly nodeClassKinds: readonly Kind[];
  /** Kinds of node class of which there are no others: a class of them that is not in the input does not exist. */
  readonly wholeKinds?: ReadonlySet<string>;
  /** undefined when the class is not in the input, which counts as ready where it may exist all the same. */
  findNodeClass(reference: { readonly group: string; readonly kind: string; readonly name: string }): WithConditions | undefined;
  /** What the controller finds wrong with the pool at run time. */
  faultOf(nodePool: NodePool): string | undefined;
}

export function choosePools({ nodePools, nodeClassKinds, wholeKinds, findNodeClass, faultOf }: PoolQuestion): PoolChoice {
  const usable: NodePool[] = [];
  const skipped: NotReady[] = [];
  for (const nodePool of nodePools) {
    const message = whyNot(nodePool);
    if (message === undefined) usable.push(nodePool);
    else skipped.push({ kind: "node-pool-not-ready", nodePool: nodePool.metadata?.name ?? "", message });
  }
  return { usable, skipped };

  function whyNot(nodePool: NodePool): string | undefined {
    const reference = nodePool.spec.template.spec.nodeClassRef;
    const isKnown = nodeClassKinds.some(({ group, kind }) => group === reference.group && kind === reference.kind);
    if (!isKnown) return `its node class is a ${reference.kind} of ${reference.group}, which this catalogue is not for`;
    if (nodePool.metadata?.deletionTimestamp !== undefined) return "it is being deleted";
    if (nodePool.spec.replicas !== undefined && nodePool.spec.replicas !== null)
      return "it is static: it keeps spec.replicas nodes and serves no pending pods";
    const fault = faultOf(nodePool);
    if (fault !== undefined) return fault;
    const ownFault = notReady(nodePool);
    if (ownFault !== undefined) return `its condition Ready is ${ownFault}`;
    const nodeClass = findNodeClass(reference);
    if (nodeClass === undefined && wholeKinds?.has(reference.kind)) return `the cluster has no ${reference.kind} ${reference.name}`;
    const classFault = notReady(nodeClass);
    return classFault === undefined ? undefined : `the condition Ready of its ${reference.kind} ${reference.name} is ${classFault}`;
  }
}

/** Status, reason and message of a condition Ready that is there and not True. */
function notReady(object: WithConditions | undefined): string | undefined {
  const ready = object?.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || ready.status === "True") return undefined;
  const because = [ready.reason, ready.message].filter((text) => text !== undefined && text !== "").join(", ");
  return because === "" ? ready.status : `${ready.status} (${because})`;
}
