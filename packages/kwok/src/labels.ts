/** Names of this provider's own labels and annotations. Section 8 of the API chapter. */
import { KWOK_GROUP } from "@joinery/api";

export const INSTANCE_SIZE_LABEL = `${KWOK_GROUP}/instance-size`;
export const INSTANCE_FAMILY_LABEL = `${KWOK_GROUP}/instance-family`;
export const INSTANCE_CPU_LABEL = `${KWOK_GROUP}/instance-cpu`;
export const INSTANCE_MEMORY_LABEL = `${KWOK_GROUP}/instance-memory`;

/** Label and annotation: tells kwok's own kubelet stand-in, where one runs, to keep the Node alive. */
export const FAKE_NODE_LABEL = "kwok.x-k8s.io/node";
export const PARTITION_LABEL = "kwok-partition";
/** Read by the tool eks-node-viewer. */
export const INSTANCE_PRICE_LABEL = "eks-node-viewer/instance-price";
/** Our own: whose Node this is, so that a NodeClaim made anew under an old name does not adopt the old Node. */
export const CLAIM_UID_ANNOTATION = `${KWOK_GROUP}/nodeclaim-uid`;

export const PROVIDER_ID_PREFIX = "kwok://";
