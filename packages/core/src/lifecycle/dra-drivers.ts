/** Have the DRA drivers that a node was made for published their devices? Rule L-105. */
import { type NodeClaim, REQUESTED_DRA_DRIVERS_ANNOTATION, type ResourceSlice } from "@joinery/api";

/** The first driver without a complete pool among the slices of the node. */
export function missingDraDriver({ metadata }: NodeClaim, slices: Iterable<ResourceSlice>): string | undefined {
  const wanted = (metadata?.annotations?.[REQUESTED_DRA_DRIVERS_ANNOTATION] ?? "").split(",").map((name) => name.trim());
  const local = [...slices];
  return wanted.find((driver) => driver !== "" && !hasCompletePool(local.filter(({ spec }) => spec.driver === driver)));
}

/** A pool is what its newest generation says, and complete when all slices of that are there. */
function hasCompletePool(slices: readonly ResourceSlice[]): boolean {
  return [...Map.groupBy(slices, ({ spec }) => spec.pool.name).values()].some((pool) => {
    const newest = Math.max(...pool.map(({ spec }) => spec.pool.generation));
    const seen = pool.filter(({ spec }) => spec.pool.generation === newest);
    const expected = seen[0]?.spec.pool.resourceSliceCount ?? 0;
    return expected > 0 && seen.length === expected;
  });
}
