/** What the EC2 provider counts and tells, against the sandbox's API server and EC2. Rules O-198, O-227, O-228, O-270, O-274. */
import {
  AWS_VOCABULARY,
  CustomResourceDefinitions,
  crdOf,
  type Ec2NodeClass,
  Ec2NodeClasses,
  Events,
  type NodeClaim,
  NodeClaims,
  type NodePool,
  NodePools,
  OWNED_KINDS,
} from "@joinery/api";
import {
  type AwsProvider,
  type CreateFleetResult,
  createAwsMetrics,
  createAwsProvider,
  type Ec2Port,
  loadEc2Catalogue,
  waitingOnNodeClaims,
} from "@joinery/aws";
import { type CoreEvent, createController, createMetricsRegistry } from "@joinery/core";
import { createCache, createKubeClient, createRandom, createVirtualClock, type Transport } from "@joinery/kube";
import { createApiServer, createSimulatedEc2 } from "@joinery/sandbox";
import { afterEach, describe, expect, test } from "vitest";

const CLUSTER = "demo";
const LAUNCH_FAILURES = "karpenter_cloudprovider_instance_launch_failures_total";
const catalogue = loadEc2Catalogue();
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const nodeClass: Ec2NodeClass = {
  apiVersion: "karpenter.k8s.aws/v1",
  kind: "EC2NodeClass",
  metadata: { name: "default" },
  spec: {
    role: "KarpenterNodeRole-demo",
    amiSelectorTerms: [{ alias: "al2023@latest" }],
    subnetSelectorTerms: [{ tags: { "karpenter.sh/discovery": CLUSTER } }],
    securityGroupSelectorTerms: [{ tags: { "karpenter.sh/discovery": CLUSTER } }],
  },
};
const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };

function aClaim(requirements: NodeClaim["spec"]["requirements"] = [], name = "default-00001"): NodeClaim {
  return {
    metadata: { name, uid: `uid-of-${name}`, labels: { "karpenter.sh/nodepool": "default" } },
    spec: { nodeClassRef, requirements, resources: { requests: { cpu: "1", memory: "1Gi" } } },
  };
}

const only = (capacityType: string, zone?: string) => [
  { key: "node.kubernetes.io/instance-type", operator: "In" as const, values: ["m5.large"] },
  { key: "karpenter.sh/capacity-type", operator: "In" as const, values: [capacityType] },
  ...(zone === undefined ? [] : [{ key: "topology.kubernetes.io/zone", operator: "In" as const, values: [zone] }]),
];

async function aCluster() {
  const whole = await catalogue;
  const known = { ...whole, types: whole.types.filter(({ InstanceType }) => /^(m5|c5)\./.test(InstanceType)) };
  const clock = createVirtualClock({ startMs: Date.parse("2026-12-01T00:00:00Z") });
  const random = createRandom(1);
  const transport: Transport = createApiServer({ clock, random: random.split("api") }).transport();
  const client = createKubeClient(transport);
  for (const kind of OWNED_KINDS) await client.create(CustomResourceDefinitions, crdOf(kind));
  const ec2 = createSimulatedEc2({ clock, random: random.split("ec2"), catalogue: known, clusterName: CLUSTER });
  const stopping = new AbortController();
  stops.push(() => stopping.abort());

  async function finish<T>(call: Promise<T>): Promise<T> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    call.then(done, done);
    if (!(await clock.runUntil(() => isDone, 3_600_000))) throw new Error("the call did not end within an hour");
    return call;
  }
  return { clock, random, transport, client, ec2, known, stopping, finish };
}

/** The provider alone, with a node class that is ready unless it is left out. `fleet`: answers in EC2's place. */
async function aProvider({ hasNodeClass = true } = {}) {
  const cluster = await aCluster();
  const { clock, random, client, ec2, known, stopping } = cluster;
  const registry = createMetricsRegistry();
  const told: CoreEvent[] = [];
  let fleet: CreateFleetResult | undefined;
  const userData: string[] = [];
  const port: Ec2Port = {
    ...ec2,
    createFleet: async (request, signal) => fleet ?? ec2.createFleet(request, signal),
    createLaunchTemplate(request, signal) {
      userData.push(Buffer.from(request.LaunchTemplateData.UserData, "base64").toString("latin1"));
      return ec2.createLaunchTemplate(request, signal);
    },
  };
  const events = { publish: (event: CoreEvent) => void told.push(event) };
  const provider: AwsProvider = await createAwsProvider({
    ec2: port,
    client,
    clock,
    random,
    clusterName: CLUSTER,
    region: "us-east-1",
    catalogue: known,
    metrics: createAwsMetrics(registry),
    events,
  });
  if (hasNodeClass) await client.create(Ec2NodeClasses, nodeClass);
  const nodeClaims = createCache(client, NodeClaims, { clock, random });
  void nodeClaims.start(stopping.signal);
  const onWaiting = (waiting: Ec2NodeClass, message: string) => events.publish(waitingOnNodeClaims(waiting, message));
  for (const { run } of provider.controllers({ nodeClaims, onError: () => {}, onWaiting })) void run(stopping.signal);
  await clock.advance(60_000);
  const lines = async (name: string) => (await registry.metrics()).split("\n").filter((line) => line.startsWith(`${name}{`));
  return {
    ...cluster,
    provider,
    told,
    registry,
    /** Of each launch template that was made, one character a byte. */
    userData,
    lines,
    answer(result: CreateFleetResult | undefined) {
      fleet = result;
    },
  };
}

/** One error for m5.large in a zone. */
const failing = (ErrorCode: string, ErrorMessage: string, AvailabilityZone = "us-east-1a"): CreateFleetResult => ({
  FleetId: "fleet-1",
  Errors: [{ ErrorCode, ErrorMessage, LaunchTemplateAndOverrides: { Overrides: { InstanceType: "m5.large", AvailabilityZone } } }],
  Instances: [],
});

const labelled = (reason: string, zone = "us-east-1a", zoneId = "use1-az6", capacityType = "spot") =>
  `${LAUNCH_FAILURES}{zone="${zone}",zone_id="${zoneId}",capacity_type="${capacityType}",reason="${reason}"} 1`;

describe("launches that fail", () => {
  test("O-227: each error of a fleet that launched something in the end", async () => {
    const { ec2, provider, finish, lines, registry } = await aProvider();
    ec2.control.limitCapacity({ instanceType: "m5.large" }, 0);
    const requirements = [
      { key: "node.kubernetes.io/instance-type", operator: "In" as const, values: ["m5.large", "m5.xlarge"] },
      { key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["on-demand"] },
    ];
    expect((await finish(provider.launch(aClaim(requirements)))).kind).toBe("launched");
    expect((await lines(LAUNCH_FAILURES)).sort()).toEqual([
      labelled("LaunchFailed", "us-east-1a", "use1-az6", "on-demand"),
      labelled("LaunchFailed", "us-east-1b", "use1-az1", "on-demand"),
      labelled("LaunchFailed", "us-east-1c", "use1-az2", "on-demand"),
    ]);
    expect(await registry.metrics()).toContain(`# TYPE ${LAUNCH_FAILURES} counter`);
  });

  test.each([
    { code: "AuthFailure.ServiceLinkedRoleCreationNotPermitted", reason: "SpotSLRCreationFailed" },
    { code: "UnauthorizedOperation", reason: "Unauthorized" },
    { code: "InvalidLaunchTemplateId.NotFound", reason: "LaunchTemplateNotFound" },
    { code: "InvalidAMIID.Malformed", reason: "InvalidAMIID" },
    { code: "InvalidAMIID.NotFound", reason: "AMINotFound" },
    { code: "RequestLimitExceeded", reason: "RequestLimitExceeded" },
    { code: "InternalError", reason: "InternalError" },
    { code: "MaxFleetCountExceeded", reason: "FleetQuotaExceeded" },
    { code: "PendingVerification", reason: "AccountPendingVerification" },
    { code: "MaxSpotInstanceCountExceeded", reason: "SpotQuotaExceeded" },
    { code: "VcpuLimitExceeded", reason: "VCPULimitExceeded" },
    { code: "InsufficientFreeAddressesInSubnet", reason: "InsufficientFreeAddressesInSubnet" },
    { code: "InvalidParameterValue", message: "iamInstanceProfile.name is invalid", reason: "InstanceProfileNameInvalid" },
    { code: "InvalidParameterValue", message: "not eligible for Free Tier", reason: "FreeTierIneligible" },
    { code: "InvalidUserData.Malformed", message: "User data is limited to 16384 bytes", reason: "UserDataSizeLimitExceeded" },
    { code: "InvalidParameter", message: "a and b belong to different networks", reason: "SecurityGroupSubnetVPCMismatch" },
    { code: "UnauthorizedOperation", message: "Not authorized for images", reason: "AMIAuthorizationFailure" },
    { code: "InsufficientInstanceCapacity", reason: "LaunchFailed" },
    { code: "SpotMaxPriceTooLow", reason: "LaunchFailed" },
  ])("O-227, X-26: $code $message is $reason", async ({ code, message = "no", reason }) => {
    const { provider, finish, lines, answer } = await aProvider();
    answer(failing(code, message));
    await finish(provider.launch(aClaim(only("spot"))));
    expect(await lines(LAUNCH_FAILURES)).toEqual([labelled(reason)]);
  });

  test("O-227: the ID of a zone that the launch has no subnet in is not known", async () => {
    const { provider, finish, lines, answer } = await aProvider();
    answer(failing("InternalError", "no", "us-east-1f"));
    await finish(provider.launch(aClaim(only("spot"))));
    expect(await lines(LAUNCH_FAILURES)).toEqual([labelled("InternalError", "us-east-1f", "")]);
  });
});

test("O-228: an instance that EC2 does not end, by its zone", async () => {
  const { ec2, provider, finish, lines, registry } = await aProvider();
  const outcome = await finish(provider.launch(aClaim(only("on-demand", "us-east-1b"))));
  if (outcome.kind !== "launched") throw new Error(outcome.kind);
  const claim = { ...aClaim(), status: { providerID: outcome.instance.providerId } };
  const name = "karpenter_cloudprovider_instance_termination_failures_total";
  ec2.control.script("terminateInstances", { code: "UnauthorizedOperation", message: "no" });
  await expect(finish(provider.terminate(claim))).rejects.toThrow("no");
  expect(await lines(name)).toEqual([`${name}{zone="us-east-1b",zone_id="use1-az1"} 1`]);
  expect(await registry.metrics()).toContain(`# TYPE ${name} counter`);
  // What is ended, or gone already, is no failure.
  expect(await finish(provider.terminate(claim))).toBe("accepted");
  expect(await lines(name)).toEqual([`${name}{zone="us-east-1b",zone_id="use1-az1"} 1`]);
});

test("O-198, I-1604: the size of the user data that was made last, until its node class is gone", async () => {
  const { client, clock, provider, finish, lines, registry, userData } = await aProvider();
  const name = "karpenter_ec2nodeclasses_userdata_bytes";
  expect(await lines(name)).toEqual([]);
  await finish(provider.launch(aClaim(only("on-demand"))));
  expect(userData).toHaveLength(1);
  expect(await lines(name)).toEqual([`${name}{nodeclass="default"} ${userData[0]?.length}`]);
  expect(await registry.metrics()).toContain(`# TYPE ${name} gauge`);
  await client.delete(Ec2NodeClasses, { name: "default" });
  await clock.advance(60_000);
  expect(await client.find(Ec2NodeClasses, { name: "default" })).toBeUndefined();
  expect(await lines(name)).toEqual([]);
});

describe("events", () => {
  const pool: NodePool = { metadata: { name: "default", uid: "pool" }, spec: { template: { spec: { nodeClassRef, requirements: [] } } } };
  const claim = aClaim(only("spot"));
  const unresolved = { type: "Warning", reason: "NodeClassResolutionFailed", message: "Failed resolving NodeClass" };

  test("O-274, I-207, W-600: a node class that is not there", async () => {
    const { provider, finish, told } = await aProvider({ hasNodeClass: false });
    expect(await finish(provider.instanceTypes(pool))).toEqual([]);
    expect((await finish(provider.launch(claim))).kind).toBe("insufficient-capacity");
    expect(told).toEqual([
      { ...unresolved, subject: { apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "default", uid: "pool" }, dedupe: ["pool"] },
      {
        ...unresolved,
        subject: { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: "default-00001", uid: "uid-of-default-00001" },
        dedupe: ["uid-of-default-00001"],
      },
    ]);
  });

  test("O-274, W-642.5: the role of EC2 Spot is missing", async () => {
    const { provider, finish, told, answer } = await aProvider();
    const code = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";
    answer(failing(code, "no"));
    expect((await finish(provider.launch(claim))).kind).toBe("insufficient-capacity");
    expect(told).toMatchObject([
      {
        type: "Warning",
        reason: "SpotServiceLinkedRoleMissing",
        subject: { kind: "NodeClaim", name: "default-00001" },
        message: expect.stringContaining(code),
        dedupe: ["uid-of-default-00001"],
      },
    ]);
  });

  test("O-270, W-320.1: a node class waits for its NodeClaims, of which five are named", async () => {
    const { client, clock, told } = await aProvider();
    for (let n = 1; n <= 7; n++) {
      const { metadata, spec } = aClaim(only("on-demand"), `c${n}`);
      await client.create(NodeClaims, { metadata: { name: metadata?.name, labels: metadata?.labels }, spec });
    }
    await clock.advance(1000);
    await client.delete(Ec2NodeClasses, { name: "default" });
    await clock.advance(1000);
    const { metadata } = await client.get(Ec2NodeClasses, { name: "default" });
    expect(told[0]).toEqual({
      subject: { apiVersion: "karpenter.k8s.aws/v1", kind: "EC2NodeClass", name: "default", uid: metadata?.uid },
      type: "Normal",
      reason: "WaitingOnNodeClaimTermination",
      message: "Waiting on NodeClaim termination for c1, c2, c3, c4, c5 and 2 other(s)",
      dedupe: [metadata?.uid],
    });
  });

  test("O-274, O-275, O-276, O-231: as a controller leaves them at the API server", async () => {
    const { client, clock, random, transport, ec2, known, stopping } = await aCluster();
    const registry = createMetricsRegistry();
    const metrics = createAwsMetrics(registry);
    const controller = createController({
      transport,
      clock,
      random,
      registry,
      provider: {
        nodeClassKinds: [Ec2NodeClasses],
        vocabulary: AWS_VOCABULARY,
        async create({ kube, events, nodeClaims }) {
          const facts = { ec2, client: kube, clock, random, clusterName: CLUSTER, region: "us-east-1", catalogue: known };
          const cloud = await createAwsProvider({ ...facts, metrics, events });
          return { cloud, loops: cloud.controllers({ nodeClaims, onError: () => {} }) };
        },
      },
    });
    void controller.run(stopping.signal).catch(() => {});
    await clock.advance(5000);
    await client.create(NodeClaims, { metadata: { name: "lonely" }, spec: { nodeClassRef, requirements: [] } });
    await clock.advance(5000);
    await client.create(NodePools, { metadata: { name: "default" }, spec: { template: { spec: { nodeClassRef, requirements: [] } } } });
    await client.create(Ec2NodeClasses, nodeClass);
    await clock.advance(60_000);
    expect(await registry.metrics()).toMatch(
      /^operator_ec2nodeclass_status_condition_count{namespace="",name="default",type="Ready",status="True",reason="Ready"} 1$/m,
    );
    await client.delete(NodePools, { name: "default" });
    await client.delete(Ec2NodeClasses, { name: "default" });
    await clock.advance(60_000);
    expect(await registry.metrics()).not.toMatch(/^operator_ec2nodeclass_\w+{.*name="default"/m);
    const { items } = await client.list(Events, { namespace: "default" });
    const shown = items.map(({ reason, type, involvedObject: { kind, name } }) => `${type} ${reason} ${kind}/${name}`);
    expect(shown).toEqual(
      expect.arrayContaining([
        "Warning NodeClassResolutionFailed NodeClaim/lonely",
        "Normal Ready EC2NodeClass/default",
        "Normal SubnetsReady EC2NodeClass/default",
        "Normal Finalized EC2NodeClass/default",
      ]),
    );
  });
});
