/** The conditions of NodeClaims and NodePools as copies of the objects. The rules (L-6…L-14, A-108…A-114) are the API's. */
import {
  type Condition,
  type ConditionChange,
  findCondition,
  NODE_CLAIM_CONDITIONS,
  NODE_OVERLAY_CONDITIONS,
  NODE_POOL_CONDITIONS,
  type NodeClaim,
  type NodeOverlay,
  type NodePool,
  openConditions,
  setCondition,
  withConditions,
} from "@joinery/api";

export type WishedCondition = ConditionChange;

/** L-7: with the conditions that Ready hangs on, even where nobody has set them yet. */
export function openClaimConditions(claim: NodeClaim): NodeClaim {
  return changed(claim, openConditions(NODE_CLAIM_CONDITIONS, claim));
}

export function setClaimCondition(claim: NodeClaim, change: ConditionChange, nowMs: number): NodeClaim {
  return changed(claim, setCondition(NODE_CLAIM_CONDITIONS, claim, change, nowMs));
}

export function setPoolCondition(pool: NodePool, change: ConditionChange, nowMs: number): NodePool {
  return changed(pool, setCondition(NODE_POOL_CONDITIONS, pool, change, nowMs));
}

export function setOverlayCondition(overlay: NodeOverlay, change: ConditionChange, nowMs: number): NodeOverlay {
  return changed(overlay, setCondition(NODE_OVERLAY_CONDITIONS, overlay, change, nowMs));
}

/** L-14: absent counts as Unknown; its time is then that of the object (L-8). */
export function claimCondition(claim: NodeClaim, type: string): Condition {
  return findCondition(claim, type) ?? { type, status: "Unknown", lastTransitionTime: claim.metadata?.creationTimestamp };
}

export function findPoolCondition(pool: NodePool, type: string): Condition | undefined {
  return findCondition(pool, type);
}

function changed<T extends NodeClaim | NodePool | NodeOverlay>(object: T, conditions: readonly Condition[]): T {
  return conditions === object.status?.conditions ? object : withConditions(object, conditions);
}
