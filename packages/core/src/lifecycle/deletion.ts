/** Deleting a NodeClaim for a reason that is counted. Rules L-84…L-86, L-107, L-108, L-165, L-166, O-179. */
import { CAPACITY_TYPE_LABEL, NODE_POOL_LABEL, type NodeClaim, nanosToMs, parseDuration } from "@joinery/api";
import type { Rooms } from "../rooms.ts";
import { isReschedulable } from "../state/pod-record.ts";

export type DeletionReason =
  | "insufficient_capacity"
  | "nodeclass_not_ready"
  | "launch_timeout"
  | "registration_timeout"
  | "garbage_collected"
  | "expired";

/** Section 17: NodeClaims that never became a node have no pods to disrupt. */
const REASONS_WITH_PODS: ReadonlySet<DeletionReason> = new Set(["garbage_collected", "expired"]);

/** L-166. */
function terminationMode({ spec }: NodeClaim): "graceful" | "forceful" | "eventual" {
  const graceMs = gracePeriodMs({ spec });
  if (graceMs === undefined) return "graceful";
  return graceMs <= 0 ? "forceful" : "eventual";
}

/** `spec.terminationGracePeriod`, if there is one. */
export function gracePeriodMs({ spec }: Pick<NodeClaim, "spec">): number | undefined {
  const nanos = parseDuration(spec.terminationGracePeriod ?? "");
  return nanos === undefined ? undefined : nanosToMs(nanos);
}

/** Deletes and counts; what was gone already is not counted (L-86). */
export async function deleteFor(reason: DeletionReason, claim: NodeClaim, rooms: Rooms, signal: AbortSignal): Promise<void> {
  const { writes, metrics, log } = rooms;
  const pods = podsLosingTheirPlace(claim, rooms);
  if (!(await writes.deleteNodeClaim(claim, signal))) return;
  // It is deleted, with its own line, when its finalizer is gone.
  log.info({ NodeClaim: { name: claim.metadata?.name }, reason }, "deleting nodeclaim");
  const labels = {
    reason,
    nodepool: claim.metadata?.labels?.[NODE_POOL_LABEL] ?? "",
    capacity_type: claim.metadata?.labels?.[CAPACITY_TYPE_LABEL] ?? "",
    consolidation_policy: "",
    termination_mode: terminationMode(claim),
  };
  metrics.nodeClaimsDisrupted.inc(labels);
  if (REASONS_WITH_PODS.has(reason)) metrics.podsDisruptionInitiated.inc(labels, pods);
}

function podsLosingTheirPlace({ status }: NodeClaim, { caches }: Rooms): number {
  if (!status?.nodeName) return 0;
  let count = 0;
  for (const pod of caches.pods.by("node", status.nodeName)) if (isReschedulable(pod)) count++;
  return count;
}
