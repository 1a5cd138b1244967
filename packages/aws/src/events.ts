/** What this provider tells people. Rules O-270, O-274, W-320.1, W-600, W-642.5, I-207. */
import { type Ec2NodeClass, Ec2NodeClasses, type NodeClaim, NodeClaims, type NodePool, NodePools } from "@joinery/api";
import { type CoreEvent, subjectOf } from "@joinery/core";

export function waitingOnNodeClaims(nodeClass: Ec2NodeClass, message: string): CoreEvent {
  const subject = subjectOf(Ec2NodeClasses, nodeClass);
  return { subject, type: "Normal", reason: "WaitingOnNodeClaimTermination", message, dedupe: [nodeClass.metadata?.uid ?? ""] };
}

/** Karpenter leaves the reason of the next two empty (O-274). */
export function poolWithoutNodeClass(nodePool: NodePool): CoreEvent {
  return unresolved(subjectOf(NodePools, nodePool));
}

export function claimWithoutNodeClass(claim: NodeClaim): CoreEvent {
  return unresolved(subjectOf(NodeClaims, claim));
}

/** And of this one. */
export function spotRoleMissing(claim: NodeClaim, code: string): CoreEvent {
  const subject = subjectOf(NodeClaims, claim);
  const message = `Attempted to launch a spot instance but failed due to "${code}"; the service-linked role of EC2 Spot is missing, and the controller may not create it`;
  return { subject, type: "Warning", reason: "SpotServiceLinkedRoleMissing", message, dedupe: [subject.uid ?? ""] };
}

function unresolved(subject: CoreEvent["subject"]): CoreEvent {
  return {
    subject,
    type: "Warning",
    reason: "NodeClassResolutionFailed",
    message: "Failed resolving NodeClass",
    dedupe: [subject.uid ?? ""],
  };
}
