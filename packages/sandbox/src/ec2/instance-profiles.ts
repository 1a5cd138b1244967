/** IAM, as far as nodes need it: instance profiles and which role is in them. Roles exist unless they are said to be missing. */
import { AwsError, type InstanceProfile, type Tag } from "@joinery/aws";

export class InstanceProfiles {
  readonly #profiles = new Map<string, InstanceProfile>();
  readonly #missingRoles = new Set<string>();

  /** The role is gone from the account. */
  removeRole(name: string): void {
    this.#missingRoles.add(name);
  }

  get(name: string): InstanceProfile {
    const profile = this.#profiles.get(name);
    if (profile === undefined) throw new AwsError("NoSuchEntity", `Instance Profile ${name} cannot be found.`);
    return profile;
  }

  has(name: string): boolean {
    return this.#profiles.has(name);
  }

  list(pathPrefix: string): readonly InstanceProfile[] {
    return [...this.#profiles.values()].filter(({ Path }) => Path.startsWith(pathPrefix));
  }

  create(InstanceProfileName: string, Path: string, Tags: readonly Tag[] = []): InstanceProfile {
    if (this.#profiles.has(InstanceProfileName))
      throw new AwsError("EntityAlreadyExists", `Instance Profile ${InstanceProfileName} already exists.`);
    const profile = { InstanceProfileName, Path, Roles: [], Tags };
    this.#profiles.set(InstanceProfileName, profile);
    return profile;
  }

  addRole(name: string, RoleName: string): void {
    const profile = this.get(name);
    if (this.#missingRoles.has(RoleName)) throw new AwsError("NoSuchEntity", `The role with name ${RoleName} cannot be found.`);
    if (profile.Roles.length > 0) throw new AwsError("LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1");
    this.#profiles.set(name, { ...profile, Roles: [{ RoleName }] });
  }

  dropRole(name: string): void {
    this.#profiles.set(name, { ...this.get(name), Roles: [] });
  }

  delete(name: string): void {
    if (this.get(name).Roles.length > 0)
      throw new AwsError("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.");
    this.#profiles.delete(name);
  }
}
