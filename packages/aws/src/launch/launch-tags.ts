/** Tags of everything that is made for a node. Rules W-6, W-9, W-10. */
import {
  CLUSTER_TAG_PREFIX,
  EC2_NODE_CLASS_LABEL,
  type Ec2NodeClass,
  EKS_CLUSTER_NAME_TAG,
  isRestrictedTag,
  NODE_CLAIM_TAG,
  NODE_CLAIM_UID_TAG,
  NODE_POOL_LABEL,
  type NodeClaim,
} from "@joinery/api";
import type { Tag } from "../ec2/launch-shapes.ts";

/** W-10: keys of `spec.tags` that are not the user's to set. */
export function findReservedTag(tags: Readonly<Record<string, string>> = {}): string | undefined {
  return Object.keys(tags).find(isRestrictedTag);
}

/** W-9. */
export function launchTags(nodeClass: Ec2NodeClass, claim: NodeClaim, clusterName: string): readonly Tag[] {
  return toTags({
    ...nodeClass.spec?.tags,
    [`${CLUSTER_TAG_PREFIX}${clusterName}`]: "owned",
    [NODE_POOL_LABEL]: claim.metadata?.labels?.[NODE_POOL_LABEL] ?? "",
    [EKS_CLUSTER_NAME_TAG]: clusterName,
    [EC2_NODE_CLASS_LABEL]: nodeClass.metadata?.name ?? "",
  });
}

/** The launch tags and whose instance it is. */
export function instanceTags(tags: readonly Tag[], { metadata }: NodeClaim): readonly Tag[] {
  return [...tags, { Key: NODE_CLAIM_TAG, Value: metadata?.name ?? "" }, { Key: NODE_CLAIM_UID_TAG, Value: metadata?.uid ?? "" }];
}

export function tagValue(tags: readonly Tag[] | undefined, key: string): string | undefined {
  return tags?.find(({ Key }) => Key === key)?.Value;
}

/** Sorted by key, so that equal sets are equal texts. */
function toTags(tags: Readonly<Record<string, string>>): readonly Tag[] {
  return Object.keys(tags)
    .sort()
    .map((Key) => ({ Key, Value: tags[Key] ?? "" }));
}
