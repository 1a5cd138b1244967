/** The AWS provider's launches, seen from both sides: what core is told, and what EC2 has. */
import { Ec2NodeClasses, NodeClaims, type NodePool } from "@joinery/api";
import { afterEach, describe, expect, test } from "vitest";
import { type AwsWorld, aClaim, aNodeClass, anAwsWorld, aReadyWorld } from "./aws-world.test-support.ts";

let world: AwsWorld;
afterEach(() => world?.stop());

const onDemand = { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] } as const;
const types = (...values: string[]) => ({ key: "node.kubernetes.io/instance-type", operator: "In", values }) as const;
const aPool: NodePool = {
  metadata: { name: "default" },
  spec: { template: { spec: { nodeClassRef: aClaim().spec.nodeClassRef, requirements: [] } } },
};

describe("node class", () => {
  test("W-202…W-215: becomes Ready with images, subnets, groups, profile, finalizer and hash", async () => {
    world = await aReadyWorld();
    const nodeClass = await world.client.get(Ec2NodeClasses, { name: "default" });
    expect(nodeClass.status?.conditions?.map(({ type, status }) => `${type}=${status}`).sort()).toEqual([
      "AMIsReady=True",
      "CapacityReservationsReady=True",
      "InstanceProfileReady=True",
      "PlacementGroupReady=True",
      "Ready=True",
      "SecurityGroupsReady=True",
      "SubnetsReady=True",
      "ValidationSucceeded=True",
    ]);
    expect(nodeClass.status?.conditions?.at(-1)?.type).toBe("Ready");
    expect(nodeClass.metadata?.finalizers).toEqual(["karpenter.k8s.aws/termination"]);
    expect(nodeClass.metadata?.annotations).toMatchObject({ "karpenter.k8s.aws/ec2nodeclass-hash-version": "v6" });
    expect(nodeClass.status?.subnets?.map(({ zone, zoneID }) => `${zone}/${zoneID}`)).toEqual([
      "us-east-1a/use1-az6",
      "us-east-1b/use1-az1",
      "us-east-1c/use1-az2",
    ]);
    expect(nodeClass.status?.amis).toHaveLength(5);
    expect(world.ec2.control.profiles.get(nodeClass.status?.instanceProfile ?? "").Roles).toEqual([{ RoleName: "KarpenterNodeRole-demo" }]);
    expect(world.errors).toEqual([]);
  });

  test.each([
    { rule: "W-213", changes: { subnetSelectorTerms: [{ tags: { nobody: "*" } }] }, condition: "SubnetsReady", reason: "SubnetsNotFound" },
    {
      rule: "W-214",
      changes: { securityGroupSelectorTerms: [{ name: "nobody" }] },
      condition: "SecurityGroupsReady",
      reason: "SecurityGroupsNotFound",
    },
    {
      rule: "W-210",
      changes: { amiFamily: "Custom" as const, amiSelectorTerms: [{ name: "nobody*" }] },
      condition: "AMIsReady",
      reason: "AMINotFound",
    },
    { rule: "I-1209", changes: { amiSelectorTerms: [{ alias: "al2@latest" }] }, condition: "AMIsReady", reason: "UnsupportedAlias" },
    {
      rule: "W-236",
      changes: { subnetSelectorTerms: [{ id: "subnet-9" }] },
      condition: "ValidationSucceeded",
      reason: "DependenciesNotReady",
    },
  ])("$rule: $reason", async ({ changes, condition, reason }) => {
    world = await aReadyWorld({}, aNodeClass(changes));
    const { status } = await world.client.get(Ec2NodeClasses, { name: "default" });
    expect(status?.conditions?.find(({ type }) => type === condition)).toMatchObject({ status: "False", reason });
    expect(status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({ status: "False", reason: "UnhealthyDependents" });
    const outcome = await world.finish(world.provider.launch(aClaim()));
    expect(outcome.kind).toBe("node-class-not-ready");
  });

  test("W-320: goes with its profile and templates once no NodeClaim is left", async () => {
    world = await aReadyWorld();
    await world.finish(world.provider.launch(aClaim()));
    const { status } = await world.client.get(Ec2NodeClasses, { name: "default" });
    await world.client.delete(Ec2NodeClasses, { name: "default" });
    await world.clock.advance(30_000);
    expect(await world.client.find(Ec2NodeClasses, { name: "default" })).toBeUndefined();
    expect(world.ec2.control.profiles.has(status?.instanceProfile ?? "")).toBe(false);
    const { LaunchTemplates } = await world.finish(world.ec2.describeLaunchTemplates({}));
    expect(LaunchTemplates).toEqual([]);
  });

  test("W-320.1, T-19: waits for its NodeClaims, names five of them, and goes with the last", async () => {
    world = await aReadyWorld();
    const names = Array.from({ length: 7 }, (_, index) => `c${index + 1}`);
    for (const name of names) await world.client.create(NodeClaims, { ...aClaim(), metadata: { name } });
    await world.client.delete(Ec2NodeClasses, { name: "default" });
    await world.clock.advance(1_000);
    expect([...new Set(world.waiting)]).toEqual(["Waiting on NodeClaim termination for c1, c2, c3, c4, c5 and 2 other(s)"]);
    for (const name of names) await world.client.delete(NodeClaims, { name });
    await world.clock.advance(30_000);
    expect(await world.client.find(Ec2NodeClasses, { name: "default" })).toBeUndefined();
  });

  test("T-21: a failure keeps the finalizer, and is tried again", async () => {
    world = await aReadyWorld();
    await world.finish(world.provider.launch(aClaim()));
    world.ec2.control.script("deleteLaunchTemplate", { code: "InternalError", fault: "server" });
    await world.client.delete(Ec2NodeClasses, { name: "default" });
    await world.clock.runUntil(() => world.errors.length > 0, 30_000);
    expect(await world.client.find(Ec2NodeClasses, { name: "default" })).toBeDefined();
    await world.clock.advance(30_000);
    expect(await world.client.find(Ec2NodeClasses, { name: "default" })).toBeUndefined();
  });

  test("W-301, T-18: hashes of an older version are carried over; who has drifted keeps the hash", async () => {
    const old = { "karpenter.k8s.aws/ec2nodeclass-hash": "1", "karpenter.k8s.aws/ec2nodeclass-hash-version": "v5" };
    world = await anAwsWorld();
    for (const name of ["a", "b"]) await world.client.create(NodeClaims, { ...aClaim(), metadata: { name, annotations: old } });
    const drifted = { type: "Drifted", status: "True", reason: "x", message: "", lastTransitionTime: "2026-12-01T00:00:00Z" };
    await world.client.patch(
      NodeClaims,
      { name: "b" },
      { type: "merge", body: { status: { conditions: [drifted] } } },
      { subresource: "status" },
    );
    await world.client.create(Ec2NodeClasses, { ...aNodeClass(), metadata: { name: "default", annotations: old } });
    world.lead();
    await world.clock.advance(30_000);
    const hashOf = async (name: string) => (await world.client.get(NodeClaims, { name })).metadata?.annotations;
    const own = (await world.client.get(Ec2NodeClasses, { name: "default" })).metadata?.annotations ?? {};
    expect(own["karpenter.k8s.aws/ec2nodeclass-hash-version"]).toBe("v6");
    expect(await hashOf("a")).toMatchObject(own);
    expect(await hashOf("b")).toMatchObject({ ...own, "karpenter.k8s.aws/ec2nodeclass-hash": "1" });
  });

  test("a quiet node class asks EC2 once a minute and writes nothing", async () => {
    world = await aReadyWorld();
    const before = (await world.client.get(Ec2NodeClasses, { name: "default" })).metadata?.resourceVersion;
    await world.clock.advance(3_600_000);
    expect((await world.client.get(Ec2NodeClasses, { name: "default" })).metadata?.resourceVersion).toBe(before);
    expect(world.ec2.control.callsOf("getParameter")).toBe(5);
  });
});

describe("launch", () => {
  test("W-620…W-644: a spot instance of the cheapest pools, with labels, tags and user data", async () => {
    world = await aReadyWorld();
    const outcome = await world.finish(world.provider.launch(aClaim()));
    if (outcome.kind !== "launched") throw new Error(JSON.stringify(outcome));
    const [instance] = world.ec2.control.instances();
    expect(outcome.instance.providerId).toBe(`aws:///${instance?.pool.zone}/${instance?.instance.InstanceId}`);
    expect(outcome.instance.labels).toMatchObject({
      "karpenter.sh/capacity-type": "spot",
      "karpenter.sh/nodepool": "default",
      "kubernetes.io/arch": "amd64",
      "node.kubernetes.io/instance-type": instance?.pool.instanceType,
      "topology.kubernetes.io/zone": instance?.pool.zone,
    });
    expect(outcome.instance.annotations).toHaveProperty("karpenter.k8s.aws/instance-profile-name");
    expect(outcome.instance.capacity).not.toHaveProperty("nvidia.com/gpu");
    expect(Object.fromEntries((instance?.instance.Tags ?? []).map(({ Key, Value }) => [Key, Value]))).toEqual({
      "eks:eks-cluster-name": "demo",
      "joinery.dev/nodeclaim-uid": aClaim().metadata?.uid,
      "karpenter.k8s.aws/ec2nodeclass": "default",
      "karpenter.sh/nodeclaim": aClaim().metadata?.name,
      "karpenter.sh/nodepool": "default",
      "kubernetes.io/cluster/demo": "owned",
    });
    expect(instance?.machine.labels).toMatchObject({ "karpenter.sh/do-not-sync-taints": "true", team: "web" });
    expect(instance?.machine.taints).toEqual([
      { key: "dedicated", value: "web", effect: "NoSchedule" },
      { key: "karpenter.sh/unregistered", effect: "NoExecute" },
    ]);
    expect(instance?.machine.capacity.memory).toBeGreaterThan(outcome.instance.capacity.memory ?? Number.POSITIVE_INFINITY);
    expect(instance?.machine.allocatable.memory).toBeGreaterThan(outcome.instance.allocatable.memory ?? Number.POSITIVE_INFINITY);
    expect(instance?.machine.capacity.pods).toBe(outcome.instance.capacity.pods);
  });

  test.each([
    { rule: "W-614", given: [types("m5.large", "m5.metal", "g4dn.xlarge"), onDemand], launched: "m5.large" },
    { rule: "W-614", given: [types("g4dn.xlarge"), onDemand], launched: "g4dn.xlarge" },
    { rule: "I-1219", given: [types("inf2.xlarge"), onDemand], launched: "inf2.xlarge" },
    { rule: "W-617", given: [types("m5.xlarge", "m5.large", "m5.2xlarge"), onDemand], launched: "m5.large" },
  ])("$rule: launches $launched", async ({ given, launched }) => {
    world = await aReadyWorld();
    await world.finish(world.provider.launch(aClaim({ requirements: given })));
    expect(world.ec2.control.instances().map(({ pool }) => `${pool.capacityType} ${pool.instanceType}`)).toEqual([`on-demand ${launched}`]);
  });

  test("T-40: no capacity marks the pools for three minutes; then they are asked again", async () => {
    world = await aReadyWorld();
    world.ec2.control.limitCapacity({ instanceType: "m5.large" }, 0, 120_000);
    const claim = aClaim({ requirements: [types("m5.large"), onDemand] });
    expect(await world.finish(world.provider.launch(claim))).toMatchObject({
      kind: "insufficient-capacity",
      message: expect.stringContaining("InsufficientInstanceCapacity"),
    });
    const available = async () =>
      (await world.finish(world.provider.instanceTypes(aPool)))
        .find(({ name }) => name === "m5.large")
        ?.offerings.filter(({ isAvailable }) => isAvailable).length;
    expect(await available()).toBe(3);
    await world.clock.advance(180_000);
    expect(await available()).toBe(6);
    const again = await world.finish(
      world.provider.launch(aClaim({ uid: "another-uid-00002", requirements: [types("m5.large"), onDemand] })),
    );
    expect(again.kind).toBe("launched");
  });

  test("one full pool is passed over for the next", async () => {
    world = await aReadyWorld();
    world.ec2.control.limitCapacity({ instanceType: "m5.large" }, 0);
    const outcome = await world.finish(world.provider.launch(aClaim({ requirements: [types("m5.large", "m5.xlarge"), onDemand] })));
    expect(outcome).toMatchObject({ kind: "launched", instance: { labels: { "node.kubernetes.io/instance-type": "m5.xlarge" } } });
  });

  test.each([
    { code: "UnauthorizedOperation", message: "You are not authorized", reason: "Unauthorized" },
    { code: "RequestLimitExceeded", message: "Request limit exceeded.", reason: "RequestLimitExceeded" },
    { code: "PendingVerification", message: "wait", reason: "AccountPendingVerification" },
    { code: "Whatever", message: "x", reason: "LaunchFailed" },
  ])("A-118, W-641: $code is $reason", async ({ code, message, reason }) => {
    world = await aReadyWorld();
    world.ec2.control.script("createFleet", { code, message });
    expect(await world.finish(world.provider.launch(aClaim()))).toMatchObject({ kind: "failed", reason });
    expect((await world.finish(world.provider.launch(aClaim()))).kind).toBe("launched");
  });

  test("T-28: a template that someone deleted is made anew, and the launch succeeds", async () => {
    world = await aReadyWorld();
    world.ec2.control.script("createFleet", { code: "InvalidLaunchTemplateName.NotFoundException" });
    const { LaunchTemplates: none } = await world.finish(world.ec2.describeLaunchTemplates({}));
    expect(none).toEqual([]);
    expect((await world.finish(world.provider.launch(aClaim()))).kind).toBe("launched");
    expect(world.ec2.control.callsOf("createFleet")).toBe(2);
  });

  test("T-27, T-29: equal launches share templates; nobody's templates are deleted within two minutes", async () => {
    world = await aReadyWorld();
    await world.finish(world.provider.launch(aClaim()));
    const made = world.ec2.control.callsOf("createLaunchTemplate");
    await world.finish(world.provider.launch(aClaim({ uid: "another-uid-00002" })));
    expect(world.ec2.control.callsOf("createLaunchTemplate")).toBe(made);
    await world.clock.advance(120_000);
    const { LaunchTemplates } = await world.finish(world.ec2.describeLaunchTemplates({}));
    expect(LaunchTemplates).toEqual([]);
  });

  test("W-344: a subnet without addresses is left for another zone", async () => {
    world = await aReadyWorld();
    const claim = (uid: string) => aClaim({ uid, requirements: [types("m5.large"), onDemand] });
    const network = world.ec2.control.network;
    const [first] = network.subnets();
    while (network.free(first?.SubnetId ?? "") > 0) network.takeAddress(first?.SubnetId ?? "");
    const outcome = await world.finish(world.provider.launch(claim("uid-00001")));
    expect(outcome).toMatchObject({ kind: "launched" });
    expect(world.ec2.control.instances()[0]?.pool.zone).not.toBe(first?.AvailabilityZone);
  });

  test("W-622, W-700: a dedicated instance says so from the first moment", async () => {
    world = await aReadyWorld();
    const tenancy = { key: "karpenter.k8s.aws/instance-tenancy", operator: "In" as const, values: ["dedicated"] };
    const outcome = await world.finish(world.provider.launch(aClaim({ requirements: [tenancy] })));
    if (outcome.kind !== "launched") throw new Error(outcome.kind);
    expect(outcome.instance.labels["karpenter.k8s.aws/instance-tenancy"]).toBe("dedicated");
    await world.clock.advance(60_000);
    const found = await world.finish(world.provider.find(outcome.instance.providerId));
    expect(found?.labels["karpenter.k8s.aws/instance-tenancy"]).toBe("dedicated");
  });

  test("a missing node class is no capacity (W-600)", async () => {
    world = await anAwsWorld();
    expect((await world.finish(world.provider.launch(aClaim()))).kind).toBe("insufficient-capacity");
  });
});

describe("what exists", () => {
  test("an instance is found and listed at once, although EC2 shows it late", async () => {
    world = await aReadyWorld({ timing: { lagMs: [20_000, 20_000] } });
    const outcome = await world.finish(world.provider.launch(aClaim()));
    if (outcome.kind !== "launched") throw new Error(outcome.kind);
    const { providerId } = outcome.instance;
    expect(await world.finish(world.provider.find(providerId))).toMatchObject({ providerId });
    expect(await world.finish(world.provider.list())).toHaveLength(1);
    await world.clock.advance(30_000);
    expect(await world.finish(world.provider.list())).toMatchObject([
      { providerId, nodePoolName: "default", nodeClaimName: aClaim().metadata?.name },
    ]);
  });

  test("W-712: terminate is accepted until the instance is gone", async () => {
    world = await aReadyWorld();
    const outcome = await world.finish(world.provider.launch(aClaim()));
    if (outcome.kind !== "launched") throw new Error(outcome.kind);
    const claim = { ...aClaim(), status: { providerID: outcome.instance.providerId } };
    expect(await world.finish(world.provider.terminate(claim))).toBe("accepted");
    expect(await world.finish(world.provider.terminate(claim))).toBe("accepted");
    await world.clock.advance(60_000);
    expect(await world.finish(world.provider.terminate(claim))).toBe("gone");
    expect(await world.finish(world.provider.find(outcome.instance.providerId))).toBeUndefined();
    expect(await world.finish(world.provider.list())).toEqual([]);
  });
});

test("a NodeClaim that goes before its launch was written down takes the instance with it", async () => {
  world = await aReadyWorld({ timing: { lagMs: [0, 0] } });
  world.ec2.control.script("createFleet", { code: "NetworkingError", fault: "network", afterEffect: true });
  await expect(world.finish(world.provider.launch(aClaim()))).rejects.toThrow("NetworkingError");
  expect(await world.finish(world.provider.terminate(aClaim()))).toBe("accepted");
  await world.clock.advance(60_000);
  expect(await world.finish(world.provider.terminate(aClaim()))).toBe("gone");
  expect(world.ec2.control.instances().map(({ state }) => state)).toEqual(["terminated"]);
});

describe("tags (W-730…W-732)", () => {
  test("T-46: a NodeClaim with its Node gets the Name tag once, and a user's Name stays", async () => {
    world = await aReadyWorld({}, aNodeClass());
    for (const [uid, tags] of [
      ["uid-00001", []],
      ["uid-00002", [{ Key: "Name", Value: "custom" }]],
    ] as const) {
      const claim = aClaim({ uid });
      const outcome = await world.finish(world.provider.launch(claim));
      if (outcome.kind !== "launched") throw new Error(outcome.kind);
      const { providerId } = outcome.instance;
      await world.clock.advance(5_000);
      if (tags.length > 0) await world.finish(world.ec2.createTags({ Resources: [providerId.split("/").at(-1) ?? ""], Tags: tags }));
      await world.client.create(NodeClaims, { ...claim, metadata: { name: claim.metadata?.name ?? "" } });
      const body = { status: { providerID: providerId, nodeName: `node-${uid}` } };
      await world.client.patch(NodeClaims, { name: claim.metadata?.name ?? "" }, { type: "merge", body }, { subresource: "status" });
      await world.clock.advance(5_000);
      const annotations = (await world.client.get(NodeClaims, { name: claim.metadata?.name ?? "" })).metadata?.annotations;
      expect(annotations).toMatchObject({
        "karpenter.k8s.aws/tagged": "true",
        "compatibility.karpenter.k8s.aws/cluster-name-tagged": "true",
      });
    }
    const names = world.ec2.control.instances().map(({ instance }) => instance.Tags?.find(({ Key }) => Key === "Name")?.Value);
    expect(names).toEqual(["node-uid-00001", "custom"]);
    await world.clock.advance(60_000);
    expect(world.ec2.control.callsOf("createTags")).toBe(2);
    expect(world.errors).toEqual([]);
  });
});

test("I-203: the same array while nothing changes", async () => {
  world = await aReadyWorld();
  const first = await world.finish(world.provider.instanceTypes(aPool));
  await world.clock.advance(3_600_000);
  expect(await world.finish(world.provider.instanceTypes(aPool))).toBe(first);
});
