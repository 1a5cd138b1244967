/** Which pods need a node from us. Rules S-11…S-13. */
import type { Pod } from "@joinery/api";

/** S-11: the scheduler gave up on it, nobody else has a place for it, and it is not bound to one node by its nature. */
export function isProvisionable(pod: Pod): boolean {
  return wasFoundUnschedulable(pod) && isPlaceable(pod);
}

/**
 * S-11 without its condition, for pods in files that no scheduler has seen: neither bound nor nominated, not of a DaemonSet, not
 * mirrored from a node, not behind a scheduling gate (S-13) and not at its end.
 */
export function isPlaceable({ metadata, spec, status }: Pod): boolean {
  if ((spec.nodeName ?? "") !== "" || (status?.nominatedNodeName ?? "") !== "") return false;
  if ((spec.schedulingGates ?? []).length > 0) return false;
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return false;
  return !(metadata?.ownerReferences ?? []).some(
    ({ apiVersion, kind }) => (apiVersion === "apps/v1" && kind === "DaemonSet") || (apiVersion === "v1" && kind === "Node"),
  );
}

function wasFoundUnschedulable({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable") ?? false;
}
