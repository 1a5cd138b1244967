/** What a plan goes without and what is to be known of it, as data: what the last lines of its text say. */
import type { Catalogue } from "./catalogue.ts";
import type { IgnoredObjects } from "./ignored-objects.ts";
import type { LeftOutPods } from "./left-out-pods.ts";
import type { PlanResult } from "./make-plan.ts";

/** What there is nothing to say of is absent. */
export interface PlanSummary {
  /** Not ready, or without instance types. */
  readonly skippedNodePools?: readonly { readonly nodePool: string; readonly message: string }[];
  /** What may be missing in the input rather than in the cluster. */
  readonly hints?: readonly string[];
  readonly unlaunchedNodeClaims?: readonly string[];
  readonly leftOutPods?: readonly LeftOutPods[];
  readonly ignoredObjects?: readonly IgnoredObjects[];
  /** Nodes that exist and are not in `cost.existingPerHour`. */
  readonly nodesWithoutPrice?: number;
  /** Capacity types of the plan whose prices are modelled, not published. */
  readonly estimatedPrices?: readonly string[];
  /** What was read from a cluster. */
  readonly notes?: readonly string[];
}

export interface SummaryRequest {
  readonly result: PlanResult;
  readonly catalogue: Pick<Catalogue, "estimatedCapacityTypes">;
  readonly ignored: readonly IgnoredObjects[];
  readonly notes: readonly string[];
}

export function planSummary({ result, catalogue, ignored, notes }: SummaryRequest): PlanSummary {
  const { skippedPools, droppedPools, hints, unlaunchedClaims, leftOutPods, existing, document } = result;
  const skipped = [...skippedPools, ...droppedPools].map(({ nodePool, message }) => ({ nodePool, message }));
  const capacityTypes = new Set(document.newNodes.map(({ cheapest }) => cheapest.capacityType));
  const estimated = [...capacityTypes].filter((type) => catalogue.estimatedCapacityTypes.has(type)).sort();
  return {
    ...(skipped.length > 0 && { skippedNodePools: skipped }),
    ...(hints.length > 0 && { hints }),
    ...(unlaunchedClaims.length > 0 && { unlaunchedNodeClaims: unlaunchedClaims }),
    ...(leftOutPods.length > 0 && { leftOutPods }),
    ...(ignored.length > 0 && { ignoredObjects: ignored }),
    ...(existing.unknownNodes > 0 && { nodesWithoutPrice: existing.unknownNodes }),
    ...(estimated.length > 0 && { estimatedPrices: estimated }),
    ...(notes.length > 0 && { notes }),
  };
}
