import type { Ec2NodeClass } from "@joinery/api";
import { createRandom, createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { AwsError } from "../ec2/aws-error.ts";
import type { InstanceProfile } from "../ec2/ec2-port.ts";
import { type Stubs, stubPort } from "../ec2/stub-port.test-support.ts";
import { InstanceProfiles } from "./instance-profiles.ts";

/** IAM with some profiles; `stubs` win. */
function aWorld(profiles: readonly InstanceProfile[] = [], stubs: Stubs = {}) {
  const held = new Map(profiles.map((profile) => [profile.InstanceProfileName, profile]));
  const get = (name: string) => {
    const profile = held.get(name);
    if (profile === undefined) throw new AwsError("NoSuchEntity", `Instance Profile ${name} cannot be found.`);
    return profile;
  };
  const { ec2, calls } = stubPort({
    getInstanceProfile: ({ InstanceProfileName }) => ({ InstanceProfile: get(InstanceProfileName) }),
    listInstanceProfiles: ({ PathPrefix }) => ({ InstanceProfiles: [...held.values()].filter(({ Path }) => Path.startsWith(PathPrefix)) }),
    createInstanceProfile({ InstanceProfileName, Path, Tags }) {
      const InstanceProfile = { InstanceProfileName, Path, Roles: [], Tags };
      held.set(InstanceProfileName, InstanceProfile);
      return { InstanceProfile };
    },
    addRoleToInstanceProfile({ InstanceProfileName, RoleName }) {
      held.set(InstanceProfileName, { ...get(InstanceProfileName), Roles: [{ RoleName }] });
      return {};
    },
    removeRoleFromInstanceProfile({ InstanceProfileName }) {
      held.set(InstanceProfileName, { ...get(InstanceProfileName), Roles: [] });
      return {};
    },
    deleteInstanceProfile({ InstanceProfileName }) {
      held.delete(InstanceProfileName);
      return {};
    },
    ...stubs,
  });
  const clock = createVirtualClock({ startMs: 0 });
  const make = (clusterName = "test-cluster") =>
    new InstanceProfiles({ ec2, clock, random: createRandom(1), clusterName, region: "us-west-2" });
  const countOf = (name: string) => calls.filter((call) => call.name === name).length;
  return { held, calls, clock, make, profiles: make(), countOf };
}

const aClass = (role: string | undefined, instanceProfile?: string, spec: object = {}): Ec2NodeClass => ({
  metadata: { name: "default", uid: "u1" },
  spec: { role, amiSelectorTerms: [], subnetSelectorTerms: [], securityGroupSelectorTerms: [], ...spec },
  status: { instanceProfile },
});
const aProfile = (InstanceProfileName: string, role?: string, Path = "/karpenter/us-west-2/test-cluster/u1/"): InstanceProfile => ({
  InstanceProfileName,
  Path,
  Roles: role === undefined ? [] : [{ RoleName: role }],
});

test("W-401, T-23: another role gets another profile, and the old one stays as it is", async () => {
  const { profiles, held } = aWorld([aProfile("c_1", "role-a")]);
  const name = await profiles.ensure(aClass("role-b", "c_1"));
  expect(name).toMatch(/^test-cluster_\d+$/);
  expect(held.get(name)).toMatchObject({ Path: "/karpenter/us-west-2/test-cluster/u1/", Roles: [{ RoleName: "role-b" }] });
  expect(Object.fromEntries((held.get(name)?.Tags ?? []).map(({ Key, Value }) => [Key, Value]))).toEqual({
    "kubernetes.io/cluster/test-cluster": "owned",
    "eks:eks-cluster-name": "test-cluster",
    "karpenter.k8s.aws/ec2nodeclass": "default",
    "topology.kubernetes.io/region": "us-west-2",
  });
  expect(held.get("c_1")?.Roles).toEqual([{ RoleName: "role-a" }]);
});

test("W-401.1, T-24: a status that was lost does not make a second profile", async () => {
  const { profiles, countOf } = aWorld();
  const first = await profiles.ensure(aClass("role-a"));
  expect(await profiles.ensure(aClass("role-a"))).toBe(first);
  expect(countOf("createInstanceProfile")).toBe(1);
});

test("the right profile is asked for once in a quarter of an hour", async () => {
  const { profiles, countOf, clock } = aWorld([aProfile("c_1", "role-a")]);
  for (let pass = 0; pass < 3; pass++) expect(await profiles.ensure(aClass("role-a", "c_1"))).toBe("c_1");
  expect(countOf("getInstanceProfile")).toBe(1);
  await clock.advance(900_000);
  await profiles.ensure(aClass("role-a", "c_1"));
  expect(countOf("getInstanceProfile")).toBe(2);
});

test("W-405: a role with a path is attached by its name, and stays right", async () => {
  const { profiles, countOf, clock } = aWorld();
  const name = await profiles.ensure(aClass("team/node-role"));
  await clock.advance(900_000);
  expect(await profiles.ensure(aClass("team/node-role", name))).toBe(name);
  expect(countOf("createInstanceProfile")).toBe(1);
});

test("W-403: a profile of the user's own is taken without asking IAM", async () => {
  const { profiles, calls } = aWorld();
  expect(await profiles.ensure(aClass(undefined, undefined, { instanceProfile: "mine" }))).toBe("mine");
  expect(calls).toEqual([]);
});

test("W-404, T-25: a role that is missing makes one profile a minute at most, and leaves none", async () => {
  const { profiles, held, countOf, clock } = aWorld([], {
    addRoleToInstanceProfile() {
      throw new AwsError("NoSuchEntity", "The role with name x cannot be found.");
    },
  });
  await expect(profiles.ensure(aClass("x"))).rejects.toThrow("cannot be found");
  await expect(profiles.ensure(aClass("x"))).rejects.toThrow("cannot be found");
  expect([held.size, countOf("createInstanceProfile")]).toEqual([0, 1]);
  await clock.advance(60_000);
  await expect(profiles.ensure(aClass("x"))).rejects.toThrow("cannot be found");
  expect(countOf("createInstanceProfile")).toBe(2);
});

test("W-320.2, T-20: all of the node class go, with the one of the old name; others stay", async () => {
  const { profiles, held } = aWorld([
    aProfile("p1", "r"),
    aProfile("p2"),
    aProfile("test-cluster_4067990795380418201", "r", "/"),
    aProfile("other", "r", "/karpenter/us-west-2/test-cluster/u2/"),
  ]);
  await profiles.removeAll(aClass("r"));
  expect([...held.keys()]).toEqual(["other"]);
});

test("T-22: a cluster name that no profile can have is not looked up", async () => {
  const { make, countOf } = aWorld();
  await make("a:b").removeAll(aClass("r"));
  expect(countOf("getInstanceProfile")).toBe(0);
});
