/** The instance profile of a node class: made for its role, never changed, removed with it. Rules W-400…W-410, W-320. */
import type { Ec2NodeClass } from "@joinery/api";
import { type Clock, type Random, randomUuid } from "@joinery/kube";
import { hasAwsCode, isAwsNotFound } from "../ec2/aws-error.ts";
import type { Ec2Port, InstanceProfile } from "../ec2/ec2-port.ts";
import { fnv1Decimal } from "./fnv64.ts";

export interface InstanceProfilesOptions {
  readonly ec2: Ec2Port;
  readonly clock: Clock;
  readonly random: Random;
  readonly clusterName: string;
  readonly region: string;
}

const PROFILE_LIFETIME_MS = 900_000;
const RECREATED_LIFETIME_MS = 60_000;
const ROLE_MISSING_LIFETIME_MS = 60_000;

interface Remembered<T> {
  readonly value: T;
  readonly endMs: number;
}

export class InstanceProfiles {
  readonly #options: InstanceProfilesOptions;
  /** Profile → name of its role. */
  readonly #roles = new Map<string, Remembered<string>>();
  /** `role/UID` → profile: covers a status that could not be written (W-401.1). */
  readonly #recreated = new Map<string, Remembered<string>>();
  readonly #missingRoles = new Map<string, Remembered<Error>>();

  constructor(options: InstanceProfilesOptions) {
    this.#options = options;
  }

  /** Name of the profile that nodes of the class get from now on. */
  async ensure(nodeClass: Ec2NodeClass, signal?: AbortSignal): Promise<string> {
    const { role, instanceProfile } = nodeClass.spec ?? {};
    if (instanceProfile !== undefined) return instanceProfile;
    if (role === undefined) throw new Error("the node class names neither a role nor an instance profile");
    const wanted = lastSegment(role);
    const memory = `${wanted}/${nodeClass.metadata?.uid}`;
    const current = this.#recall(this.#recreated, memory) ?? nodeClass.status?.instanceProfile;
    if (current !== undefined && (await this.#roleOf(current, signal)) === wanted) return current;
    const name = await this.#create(nodeClass, wanted, signal);
    this.#remember(this.#recreated, memory, name, RECREATED_LIFETIME_MS);
    return name;
  }

  /** W-320.2: everything that was made for the node class, also under the name that older versions gave. */
  async removeAll(nodeClass: Ec2NodeClass, signal?: AbortSignal): Promise<void> {
    const { ec2, clusterName, region } = this.#options;
    const { InstanceProfiles } = await ec2.listInstanceProfiles({ PathPrefix: this.#pathOf(nodeClass) }, signal);
    for (const { InstanceProfileName } of InstanceProfiles) await this.#remove(InstanceProfileName, signal);
    const legacyName = `${clusterName}_${fnv1Decimal(`${region}${nodeClass.metadata?.name}`)}`;
    if (/^[\w+=,.@-]{1,128}$/.test(legacyName)) await this.#remove(legacyName, signal);
  }

  async #create(nodeClass: Ec2NodeClass, role: string, signal: AbortSignal | undefined): Promise<string> {
    const { ec2, clusterName, region, random } = this.#options;
    const missing = this.#recall(this.#missingRoles, role);
    if (missing !== undefined) throw missing;
    const nodeClassName = nodeClass.metadata?.name ?? "";
    const InstanceProfileName = `${clusterName}_${fnv1Decimal(`${region}${nodeClassName}${randomUuid(random)}`)}`;
    const tags = {
      ...nodeClass.spec?.tags,
      [`kubernetes.io/cluster/${clusterName}`]: "owned",
      "eks:eks-cluster-name": clusterName,
      "karpenter.k8s.aws/ec2nodeclass": nodeClassName,
      "topology.kubernetes.io/region": region,
    };
    const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
    await ec2.createInstanceProfile({ InstanceProfileName, Path: this.#pathOf(nodeClass), Tags }, signal);
    try {
      await ec2.addRoleToInstanceProfile({ InstanceProfileName, RoleName: role }, signal);
    } catch (error) {
      if (hasAwsCode(error, "NoSuchEntity") && /role/i.test(error.message)) {
        this.#remember(this.#missingRoles, role, error, ROLE_MISSING_LIFETIME_MS);
      }
      // Best effort: what cannot be removed now is found by its path when the node class goes.
      await this.#remove(InstanceProfileName, signal).catch(() => undefined);
      throw error;
    }
    this.#remember(this.#roles, InstanceProfileName, role, PROFILE_LIFETIME_MS);
    return InstanceProfileName;
  }

  /** "" where there is no such profile, or none in it. */
  async #roleOf(name: string, signal: AbortSignal | undefined): Promise<string> {
    const held = this.#recall(this.#roles, name);
    if (held !== undefined) return held;
    const profile = await this.#find(name, signal);
    const role = profile?.Roles[0]?.RoleName ?? "";
    if (profile !== undefined) this.#remember(this.#roles, name, role, PROFILE_LIFETIME_MS);
    return role;
  }

  /** W-410. */
  async #remove(InstanceProfileName: string, signal: AbortSignal | undefined): Promise<void> {
    const { ec2 } = this.#options;
    const profile = await this.#find(InstanceProfileName, signal);
    if (profile === undefined) return;
    for (const { RoleName } of profile.Roles) await ec2.removeRoleFromInstanceProfile({ InstanceProfileName, RoleName }, signal);
    await ec2.deleteInstanceProfile({ InstanceProfileName }, signal);
    this.#roles.delete(InstanceProfileName);
  }

  async #find(InstanceProfileName: string, signal: AbortSignal | undefined): Promise<InstanceProfile | undefined> {
    try {
      return (await this.#options.ec2.getInstanceProfile({ InstanceProfileName }, signal)).InstanceProfile;
    } catch (error) {
      if (isAwsNotFound(error)) return undefined;
      throw error;
    }
  }

  #pathOf({ metadata }: Ec2NodeClass): string {
    return `/karpenter/${this.#options.region}/${this.#options.clusterName}/${metadata?.uid}/`;
  }

  #recall<T>(memory: Map<string, Remembered<T>>, key: string): T | undefined {
    const held = memory.get(key);
    if (held !== undefined && held.endMs <= this.#options.clock.monotonicMs()) memory.delete(key);
    return memory.get(key)?.value;
  }

  #remember<T>(memory: Map<string, Remembered<T>>, key: string, value: T, lifetimeMs: number): void {
    memory.set(key, { value, endMs: this.#options.clock.monotonicMs() + lifetimeMs });
  }
}

/** W-405: a role may be given with its path. */
function lastSegment(role: string): string {
  return role.slice(role.lastIndexOf("/") + 1);
}
