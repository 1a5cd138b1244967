/** What can be said of an EC2NodeClass without asking AWS. Rules. */
import { EC2_NODE_CLASS_LABEL, EKS_CLUSTER_NAME_TAG, NODE_CLAIM_TAG, NODE_CLAIM_UID_TAG, NODE_POOL_LABEL } from "../labels.ts";
import type { Ec2NodeClassSpec } from "../owned/ec2-node-class.ts";
import { parseQuantity } from "../quantity.ts";
import { type Invalidity, type RuntimeVerdict, verdictOf } from "./invalidity.ts";

const RESTRICTED_TAGS = [EKS_CLUSTER_NAME_TAG, NODE_POOL_LABEL, NODE_CLAIM_TAG, NODE_CLAIM_UID_TAG, EC2_NODE_CLASS_LABEL];
const CLUSTER_TAG = /^kubernetes\.io\/cluster\/[0-9A-Za-z][A-Za-z0-9\-_]*$/;

/** All that is wrong with the tags, aliases and volumes of the spec. */
export function validateEc2NodeClass(spec: Ec2NodeClassSpec): RuntimeVerdict {
  return verdictOf([...checkTags(spec.tags ?? {}), ...checkAliases(spec), ...checkVolumes(spec)]);
}

/** W-10: keys of `spec.tags` that are not the user's to set. */
export function isRestrictedTag(key: string): boolean {
  return RESTRICTED_TAGS.includes(key) || CLUSTER_TAG.test(key);
}

/** reason TagValidationFailed. */
function checkTags(tags: Readonly<Record<string, string>>): Invalidity[] {
  const restricted = Object.keys(tags).filter(isRestrictedTag);
  return restricted.map((key) => ({ kind: "restricted-tag", path: ["spec", "tags", key], message: `tag "${key}" is restricted` }));
}

/** a second `@` is admitted, but names no version. */
function checkAliases({ amiSelectorTerms }: Ec2NodeClassSpec): Invalidity[] {
  return amiSelectorTerms.flatMap(({ alias }, at): Invalidity[] => {
    if (alias === undefined || alias.split("@").length === 2) return [];
    return [{ kind: "invalid-alias", path: ["spec", "amiSelectorTerms", at, "alias"], message: `alias "${alias}" must be family@version` }];
  });
}

/** a bare `Ti` passes the pattern. */
function checkVolumes({ blockDeviceMappings = [] }: Ec2NodeClassSpec): Invalidity[] {
  return blockDeviceMappings.flatMap(({ ebs }, at): Invalidity[] => {
    const size = ebs?.volumeSize;
    if (size === undefined || parseQuantity(size) !== undefined) return [];
    return [
      { kind: "invalid-quantity", path: ["spec", "blockDeviceMappings", at, "ebs", "volumeSize"], message: `"${size}" is no quantity` },
    ];
  });
}
