/** What the reference checker says of a plan. */

export type FaultKind =
  /** Not every pod is in exactly one list, or a node or a pool does not exist. */
  | "lists"
  /** The node is not what its NodePool describes. */
  | "pool"
  /** A type cannot be launched within the node's requirements. */
  | "types"
  /** Prices or their order are wrong. */
  | "price"
  | "node-selector"
  | "taints"
  | "resources"
  /** The sums that the NodeClaim would ask for are not the pods'. */
  | "requests"
  | "volume-place"
  | "volume-limit"
  | "host-port"
  | "spread"
  | "affinity"
  | "anti-affinity"
  | "limit"
  | "min-values"
  | "reservation"
  /** A heavier pool would have taken the pods. */
  | "weight";

export interface Fault {
  readonly kind: FaultKind;
  readonly subject: string;
  readonly says: string;
}

export function fault(kind: FaultKind, subject: string, says: string): Fault {
  return { kind, subject, says };
}
