/** What one solve reads: pods, nodes, pools, DaemonSets. Nothing here is written to. */
import type { Affinity, NodePool, Resources, Taint, Toleration, TopologySpreadConstraint } from "@joinery/api";
import type { Improvement } from "./improve/improvement.ts";
import type { InstanceType, RequirementItem } from "./instance-type.ts";

export interface HostPort {
  readonly port: number;
  readonly ip: string;
  readonly protocol: string;
}

/**
 * Everything about a pod that scheduling looks at. Pods of one workload share one object (`createShapeInterner`), so 15,000 pods
 * of 300 Deployments are 300 shapes; the solver groups by object identity first and by value where identity differs.
 */
export interface PodShape {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Effective requests with `pods: 1` (S-47, S-48). */
  readonly requests: Resources;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: Affinity;
  readonly tolerations: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly hostPorts?: readonly HostPort[];
  /** Names of the claims that the pod mounts, generic ephemeral ones included. */
  readonly claimNames?: readonly string[];
  /** DRA claims are not allocated yet: such pods get the reason `unsupported`. */
  readonly hasResourceClaims?: boolean;
  /** A simulation takes it from a node that could stay, so nodes that are settling are not for it (S-81). */
  readonly isMoving?: boolean;
}

export interface PodToPlace {
  /** `namespace/name`. */
  readonly key: string;
  readonly uid: string;
  readonly createdAtMs: number;
  readonly shape: PodShape;
  /** `namespace/name` of the CapacityBuffer that keeps room by this pod, which does not exist (S-201). */
  readonly buffer?: string;
}

/** A PersistentVolumeClaim as scheduling sees it; the caller follows it to its volume or class (S-122, S-123, S-126). */
export interface VolumeClaim {
  /** The volume can be reached where one of them is met; empty = anywhere. */
  readonly alternatives: readonly (readonly RequirementItem[])[];
  /** CSI driver that attaches it; absent where none is known. */
  readonly driver?: string;
}

/** A node that exists or is on its way. The caller applies S-73…S-76. */
export interface ExistingNode {
  readonly name: string;
  /** With `kubernetes.io/hostname`. */
  readonly labels: Readonly<Record<string, string>>;
  /** Those that count (S-74). */
  readonly taints: readonly Taint[];
  readonly capacity: Resources;
  /** Allocatable minus the requests of bound pods that have not ended (S-76). */
  readonly available: Resources;
  /** What DaemonSet pods already bound there request (S-77). */
  readonly daemonSetRequests: Resources;
  readonly isInitialized: boolean;
  /** Its pods have changed a moment ago and its pool's `consolidateAfter` is not over: no pod that is only moved may go there (S-81). */
  readonly isSettling?: boolean;
  /** Attachments that the node's CSI drivers have published; Infinity = no limit (S-127, V-73). */
  readonly volumeLimits?: Readonly<Record<string, number>>;
}

/** A node as pods on it see it. */
export interface PodSite {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
}

/**
 * Pods that are there already, those of one shape on one node together; none of them is in the problem. A node that leaves is a
 * site too, and is not among the problem's nodes (S-136, S-153).
 */
export interface BoundPods {
  readonly shape: PodShape;
  readonly site: PodSite;
  /** Neither ended nor ending. */
  readonly count: number;
  /** On their way out: they still hold ports and volumes and keep others away, but are not counted (S-136, S-153). */
  readonly endingCount: number;
}

export interface PoolOffer {
  readonly nodePool: NodePool;
  readonly instanceTypes: readonly InstanceType[];
  /** Of the pool's node class, where that is known. */
  readonly rootVolumeUsdPerHour?: number;
}

export interface DaemonSetShape {
  readonly key: string;
  readonly shape: PodShape;
}

export interface SolveOptions {
  readonly preferencePolicy: "Respect" | "Ignore";
  readonly minValuesPolicy: "Strict" | "BestEffort";
  /**
   * `strict` (default): a pod waits for the next solve rather than go without a reservation that another pod of this solve may use.
   * `fallback`: it goes on to what else there is. `ignored`: slots are neither counted nor held (gate off). S-169, V-62, V-65.
   */
  readonly reservedCapacity?: "strict" | "fallback" | "ignored";
  /** Slots by reservation ID that a node which leaves will free (V-52). */
  readonly reservationCredits?: Readonly<Record<string, number>>;
  /** Label of an offering that has its reservation's ID. */
  readonly reservationIdLabel?: string;
  /** Most instance types that a planned node lists, the cheapest ones (S-178); 600 by default. */
  readonly instanceTypesMax?: number;
  /** Labels beyond the core's that are well-known (S-39); providers register theirs. */
  readonly wellKnownLabels?: ReadonlySet<string>;
  /** Asked before every pod; once true, what is placed stays, and pods not tried yet get the reason `next-solve` (S-87). */
  readonly isOverdue?: () => boolean;
  /** Absent: the greedy plan as it is. */
  readonly improvement?: Improvement;
}

export interface Problem {
  readonly pods: readonly PodToPlace[];
  readonly nodes: readonly ExistingNode[];
  /** Usable pools, any order; the solver orders them (S-60). */
  readonly pools: readonly PoolOffer[];
  readonly daemonSets: readonly DaemonSetShape[];
  /** Absent: nothing runs that constraints between pods could ask for. */
  readonly boundPods?: readonly BoundPods[];
  /** By `namespace/name`, at least those that pods of the problem and bound pods mount. */
  readonly claims?: ReadonlyMap<string, VolumeClaim>;
  /** Labels by namespace, for namespace selectors (S-156). */
  readonly namespaces?: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly options: SolveOptions;
}

export type { RequirementItem };
