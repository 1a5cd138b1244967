/** What a solve answers. Formats: the plan contract of `joinery plan -o json` is made from this. */
import type { NodePool, Resources, Taint } from "@joinery/api";
import type { InstanceType, RequirementItem } from "./instance-type.ts";
import type { Reason } from "./reason.ts";

export interface CheapestOffering {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly priceUsdPerHour: number;
}

export interface PlannedNode {
  /** `<nodePool>-<n>`, n from 1 per pool. */
  readonly name: string;
  /** The pool as it was when the solve began (S-10). */
  readonly nodePool: NodePool;
  /** Sorted by key; without hostname, simulation-only keys and `node.kubernetes.io/instance-type`. */
  readonly requirements: readonly RequirementItem[];
  /** Labels and annotations that the NodeClaim gets from the plan (S-63, S-182, S-98). */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly startupTaints: readonly Taint[];
  /** Cheapest first under `requirements`, at most 600; each holds the node's pods and DaemonSets. */
  readonly instanceTypes: readonly InstanceType[];
  /** minValues of the instance-type requirement, if any. */
  readonly instanceTypeMinValues?: number;
  readonly cheapest: CheapestOffering;
  /** Of the pods alone, with `pods`. */
  readonly requests: Resources;
  /** What S-71 adds. */
  readonly daemonSetRequests: Resources;
  /** `namespace/name`, sorted. */
  readonly pods: readonly string[];
}

export interface Plan {
  /** Sorted by name, numbers as numbers. */
  readonly newNodes: readonly PlannedNode[];
  /** Only nodes that gain pods, with the newly placed ones only. */
  readonly existingNodes: readonly { readonly name: string; readonly pods: readonly string[] }[];
  readonly unschedulable: readonly { readonly pod: string; readonly reasons: readonly Reason[] }[];
  /** What was looked for and found, where the problem asks for a cheaper plan than the greedy one. */
  readonly improvement?: {
    readonly isImproved: boolean;
    /** Of the instances. */
    readonly greedyUsdPerHour: number;
    readonly greedyNodes: number;
  };
  /** Pools that were left out of the solve and why (S-64). */
  readonly droppedPools: readonly { readonly nodePool: string; readonly reason: Reason }[];
}
