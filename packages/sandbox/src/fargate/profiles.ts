/** The Fargate profiles of the cluster: made, active, deleted, with the checks of the EKS API. Rules F-6…F-32, F-76…F-78, F-92. */
import type { Clock, Random } from "@joinery/kube";
import { randomUuid } from "@joinery/kube";
import type { FargateSelector } from "./selectors.ts";

export interface FargateProfileWish {
  readonly name: string;
  readonly podExecutionRoleArn: string;
  readonly subnetIds: readonly string[];
  readonly selectors: readonly FargateSelector[];
  readonly tags?: Readonly<Record<string, string>>;
}

export interface FargateProfile extends FargateProfileWish {
  readonly arn: string;
  readonly createdAtMs: number;
  /** F-9. Pods are matched while it is ACTIVE alone (F-34). */
  readonly status: "CREATING" | "ACTIVE" | "DELETING";
}

/** What the EKS API would refuse, with its own code. */
export type FargateRefusal = {
  readonly code: "InvalidParameterException" | "ResourceInUseException" | "ResourceLimitExceededException" | "ResourceNotFoundException";
  readonly message: string;
};

export class FargateError extends Error {
  override readonly name = "FargateError";
  readonly refusal: FargateRefusal;

  constructor(refusal: FargateRefusal) {
    super(`${refusal.code}: ${refusal.message}`);
    this.refusal = refusal;
  }
}

export interface FargateSubnet {
  readonly id: string;
  readonly zone: string;
  /** Routed to an internet gateway (F-24). */
  readonly isPublic?: boolean;
}

export interface FargateProfilesOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly region: string;
  readonly account: string;
  readonly clusterName: string;
  /** Undefined for an unknown subnet. */
  readonly findSubnet: (id: string) => FargateSubnet | undefined;
  /** F-14: typically one to two minutes. */
  readonly changeMs: readonly [number, number];
  readonly onDeleting: (profile: FargateProfile) => void;
}

export interface FargateProfiles {
  /** Throws `FargateError` for what EKS refuses; resolves when the profile is ACTIVE. */
  create(wish: FargateProfileWish): Promise<FargateProfile>;
  /** Its pods go with it (F-30). Resolves when the profile is gone. */
  delete(name: string): Promise<void>;
  find(name: string): FargateProfile | undefined;
  list(): readonly FargateProfile[];
  /** Those that pods are matched with now. */
  active(): readonly FargateProfile[];
}

const PROFILES_MAX = 10;
const SELECTORS_MAX = 5;
const LABELS_MAX = 5;

export function createFargateProfiles(options: FargateProfilesOptions): FargateProfiles {
  const { clock, random, region, account, clusterName, findSubnet, changeMs, onDeleting } = options;
  const profiles = new Map<string, FargateProfile>();

  const spanMs = (): number => changeMs[0] + random.below(changeMs[1] - changeMs[0] + 1);

  async function create(wish: FargateProfileWish): Promise<FargateProfile> {
    const refusal = refusalOf(wish, findSubnet) ?? conflictOf(wish.name);
    if (refusal !== undefined) {
      throw new FargateError(refusal);
    }
    const arn = `arn:aws:eks:${region}:${account}:fargateprofile/${clusterName}/${wish.name}/${randomUuid(random)}`;
    const creating: FargateProfile = { ...wish, arn, createdAtMs: clock.wallMs(), status: "CREATING" };
    profiles.set(wish.name, creating);
    await clock.sleep(spanMs());
    const active: FargateProfile = { ...creating, status: "ACTIVE" };
    profiles.set(wish.name, active);
    return active;
  }

  function conflictOf(name: string): FargateRefusal | undefined {
    const busy = [...profiles.values()].find(({ status }) => status !== "ACTIVE");
    if (busy !== undefined) {
      return {
        code: "ResourceInUseException",
        message: `Cluster ${clusterName} currently has Fargate profile ${busy.name} in status ${busy.status}`,
      };
    }
    if (profiles.has(name)) {
      return { code: "ResourceInUseException", message: `Fargate Profile already exists with name ${name}` };
    }
    return profiles.size >= PROFILES_MAX
      ? {
          code: "ResourceLimitExceededException",
          message: `Cluster ${clusterName} has ${profiles.size} of ${PROFILES_MAX} Fargate profiles`,
        }
      : undefined;
  }

  async function remove(name: string): Promise<void> {
    const profile = profiles.get(name);
    if (profile === undefined) {
      throw new FargateError({ code: "ResourceNotFoundException", message: `No Fargate Profile found with name: ${name}.` });
    }
    const busy = [...profiles.values()].find(({ status }) => status !== "ACTIVE");
    if (busy !== undefined) {
      const message = `Cluster ${clusterName} currently has Fargate profile ${busy.name} in status ${busy.status}`;
      throw new FargateError({ code: "ResourceInUseException", message });
    }
    const deleting: FargateProfile = { ...profile, status: "DELETING" };
    profiles.set(name, deleting);
    onDeleting(deleting);
    await clock.sleep(spanMs());
    profiles.delete(name);
  }

  return {
    create,
    delete: remove,
    find: (name) => profiles.get(name),
    list: () => [...profiles.values()],
    active: () => [...profiles.values()].filter(({ status }) => status === "ACTIVE"),
  };
}

/** What is wrong with the wish itself; undefined when nothing is. */
export function refusalOf(wish: FargateProfileWish, findSubnet: FargateProfilesOptions["findSubnet"]): FargateRefusal | undefined {
  const invalid = (message: string): FargateRefusal => ({ code: "InvalidParameterException", message });
  if (wish.name.startsWith("eks-")) {
    return invalid(`The Fargate profile name "${wish.name}" starts with the reserved prefix: eks-.`);
  }
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/.test(wish.name)) {
    return invalid(`The Fargate profile name "${wish.name}" must be 1 to 63 letters, digits, - or _, and begin with a letter or digit.`);
  }
  if (!/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@-]+$/.test(wish.podExecutionRoleArn)) {
    return invalid(`Misconfigured PodExecutionRole "${wish.podExecutionRoleArn}": want the ARN of a role with path "/".`);
  }
  if (wish.selectors.length < 1 || wish.selectors.length > SELECTORS_MAX) {
    return invalid(`A Fargate profile has 1 to ${SELECTORS_MAX} selectors, not ${wish.selectors.length}.`);
  }
  const crowded = wish.selectors.find(({ labels }) => Object.keys(labels ?? {}).length > LABELS_MAX);
  if (crowded !== undefined) {
    return invalid(`The selector of namespace "${crowded.namespace}" has more than ${LABELS_MAX} label pairs.`);
  }
  if (wish.selectors.some(({ namespace }) => namespace === "")) {
    return invalid("Every selector needs a namespace.");
  }
  for (const id of wish.subnetIds) {
    const subnet = findSubnet(id);
    if (subnet === undefined) {
      return invalid(`Subnet ${id} does not exist.`);
    }
    if (subnet.isPublic === true) {
      return invalid(`Subnet ${id} provided in Fargate Profile is not a private subnet.`);
    }
  }
  return wish.subnetIds.length === 0 ? invalid("A Fargate profile needs at least one private subnet.") : undefined;
}
