/** The pairs of annotations that hold drift hashes, and what they say together. Rules A-124…A-126. */
import type { Condition } from "../kubernetes/meta.ts";
import {
  EC2_NODE_CLASS_HASH_ANNOTATION,
  EC2_NODE_CLASS_HASH_VERSION_ANNOTATION,
  NODE_POOL_HASH_ANNOTATION,
  NODE_POOL_HASH_VERSION_ANNOTATION,
} from "../labels.ts";
import { EC2_NODE_CLASS_HASH_VERSION } from "./ec2-node-class-hash.ts";
import { NODE_POOL_HASH_VERSION } from "./node-pool-hash.ts";

/** Where one owner's hash stands, and the version that is written today. */
export interface HashAnnotations {
  readonly hash: string;
  readonly version: string;
  readonly currentVersion: string;
}

export const NODE_POOL_HASHES: HashAnnotations = {
  hash: NODE_POOL_HASH_ANNOTATION,
  version: NODE_POOL_HASH_VERSION_ANNOTATION,
  currentVersion: NODE_POOL_HASH_VERSION,
};
export const EC2_NODE_CLASS_HASHES: HashAnnotations = {
  hash: EC2_NODE_CLASS_HASH_ANNOTATION,
  version: EC2_NODE_CLASS_HASH_VERSION_ANNOTATION,
  currentVersion: EC2_NODE_CLASS_HASH_VERSION,
};

type Annotations = Readonly<Record<string, string>> | undefined;

/** both annotations of an owner or a new NodeClaim. */
export function hashAnnotations({ hash, version, currentVersion }: HashAnnotations, value: string): Record<string, string> {
  return { [hash]: value, [version]: currentVersion };
}

/** drifted when all four annotations are there, the versions agree and the hashes do not. */
export function isStaticallyDrifted({ hash, version }: HashAnnotations, owner: Annotations, claim: Annotations): boolean {
  const [ownerHash, ownerVersion, claimHash, claimVersion] = [owner?.[hash], owner?.[version], claim?.[hash], claim?.[version]];
  if (ownerHash === undefined || ownerVersion === undefined || claimHash === undefined || claimVersion === undefined) return false;
  return ownerVersion === claimVersion && ownerHash !== claimHash;
}

/**
 * what a NodeClaim's annotations must become when the owner's hash version is out of date; undefined when nothing. Ask before
 * the owner is updated. A claim that has drifted already keeps its hash.
 */
export function migratedAnnotations(
  kind: HashAnnotations,
  owner: Annotations,
  ownerHash: string,
  claim: Annotations,
  claimConditions: readonly Condition[] = [],
): Record<string, string> | undefined {
  const { version, currentVersion } = kind;
  if (owner?.[version] === currentVersion || claim?.[version] === currentVersion) return undefined;
  const hasDrifted = claimConditions.some(({ type }) => type === "Drifted");
  return hasDrifted ? { [version]: currentVersion } : hashAnnotations(kind, ownerHash);
}
