/** Says and counts what a NodeClaim has reached, once it is written, so that a repeated pass does not say it again. Rule L-98, O-184. */
import { CAPACITY_TYPE_LABEL, INSTANCE_TYPE_LABEL, NODE_POOL_LABEL, type NodeClaim, ZONE_LABEL } from "@joinery/api";
import type { Rooms } from "../rooms.ts";
import { claimCondition } from "../state/conditions.ts";

export function tellProgress(before: NodeClaim, after: NodeClaim, { log, metrics, provider }: Rooms): void {
  const reached = (type: string) => claimCondition(before, type).status !== "True" && claimCondition(after, type).status === "True";
  const { metadata, status } = after;
  const label = (key: string) => metadata?.labels?.[key] ?? "";
  const subject = {
    NodeClaim: { name: metadata?.name },
    NodePool: { name: label(NODE_POOL_LABEL) },
    Node: { name: status?.nodeName ?? "" },
    "provider-id": status?.providerID,
  };
  if (reached("Launched")) {
    const { Node: _, ...launched } = subject;
    log.info(
      {
        ...launched,
        provider: provider.name,
        "instance-type": label(INSTANCE_TYPE_LABEL),
        zone: label(ZONE_LABEL),
        "capacity-type": label(CAPACITY_TYPE_LABEL),
        allocatable: status?.allocatable,
      },
      "launched nodeclaim",
    );
  }
  if (reached("Registered")) {
    metrics.nodesCreated.inc({ nodepool: label(NODE_POOL_LABEL), zone: label(ZONE_LABEL) });
    log.info(subject, "registered nodeclaim");
  }
  if (reached("Initialized")) log.info({ ...subject, allocatable: status?.allocatable }, "initialized nodeclaim");
}
