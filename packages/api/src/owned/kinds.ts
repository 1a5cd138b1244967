/** How the kinds that Joinery owns are addressed. */
import { kind } from "../kubernetes/kinds.ts";
import { AWS_GROUP, KARPENTER_GROUP, KWOK_GROUP } from "../labels.ts";
import type { CapacityBuffer } from "./capacity-buffer.ts";
import type { Ec2NodeClass } from "./ec2-node-class.ts";
import type { KwokNodeClass } from "./kwok-node-class.ts";
import type { NodeClaim } from "./node-claim.ts";
import type { NodeOverlay } from "./node-overlay.ts";
import type { NodePool } from "./node-pool.ts";

export const NodePools = kind<NodePool>(KARPENTER_GROUP, "v1", "NodePool", "nodepools", false);
export const NodeClaims = kind<NodeClaim>(KARPENTER_GROUP, "v1", "NodeClaim", "nodeclaims", false);
export const NodeOverlays = kind<NodeOverlay>(KARPENTER_GROUP, "v1alpha1", "NodeOverlay", "nodeoverlays", false);
export const CapacityBuffers = kind<CapacityBuffer>("autoscaling.x-k8s.io", "v1beta1", "CapacityBuffer", "capacitybuffers", true);
export const Ec2NodeClasses = kind<Ec2NodeClass>(AWS_GROUP, "v1", "EC2NodeClass", "ec2nodeclasses", false);
export const KwokNodeClasses = kind<KwokNodeClass>(KWOK_GROUP, "v1alpha1", "KWOKNodeClass", "kwoknodeclasses", false);
