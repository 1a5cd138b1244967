import { AwsError, type CreateFleetRequest, type Ec2Catalogue, loadEc2Catalogue } from "@joinery/aws";
import { createRandom, createVirtualClock } from "@joinery/kube";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { createSimulatedEc2, type SimulatedEc2Options } from "./simulated-ec2.ts";

let catalogue: Ec2Catalogue;
beforeAll(async () => {
  const whole = await loadEc2Catalogue();
  catalogue = { ...whole, types: whole.types.filter(({ InstanceType }) => /^(m5|c5|m6g)\./.test(InstanceType)) };
});

const NODE_CONFIG = `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n--//\nContent-Type: application/node.eks.aws\n\n# x\n{"spec":{"kubelet":{"config":{"maxPods":29,"registerWithTaints":[{"key":"a","effect":"NoExecute"}]},"flags":["--node-labels=team=web,x=y"]}}}\n--//--\n`;

async function aWorld(changes: Partial<SimulatedEc2Options> = {}) {
  const clock = createVirtualClock({ startMs: Date.parse("2026-12-01T00:00:00Z") });
  const ec2 = createSimulatedEc2({
    clock,
    random: createRandom(7),
    catalogue,
    clusterName: "demo",
    weather: { delayMs: [0, 0] },
    ...changes,
  });
  await ec2.createInstanceProfile({ InstanceProfileName: "p", Path: "/" });
  await ec2.createLaunchTemplate({
    LaunchTemplateName: "lt",
    LaunchTemplateData: {
      ImageId: "ami-00000000000000001",
      UserData: Buffer.from(NODE_CONFIG).toString("base64"),
      IamInstanceProfile: { Name: "p" },
      Monitoring: { Enabled: false },
      MetadataOptions: { HttpEndpoint: "enabled", HttpPutResponseHopLimit: 1, HttpTokens: "required", InstanceMetadataTags: "disabled" },
      NetworkInterfaces: [{ DeviceIndex: 0, Groups: [] }],
      EnclaveOptions: { Enabled: false },
      Placement: { Tenancy: "default" },
      TagSpecifications: [],
    },
  });
  const { Subnets } = await ec2.describeSubnets({});
  const fleet = (
    types: readonly string[],
    more: Partial<CreateFleetRequest> = {},
    capacityType: "spot" | "on-demand" = "on-demand",
  ): CreateFleetRequest => ({
    Type: "instant",
    LaunchTemplateConfigs: [
      {
        LaunchTemplateSpecification: { LaunchTemplateName: "lt", Version: "$Latest" },
        Overrides: types.flatMap((InstanceType) =>
          Subnets.map(({ SubnetId, AvailabilityZone }) => ({
            InstanceType,
            SubnetId,
            AvailabilityZone,
            ImageId: "ami-00000000000000001",
            Priority: 1,
          })),
        ),
      },
    ],
    TargetCapacitySpecification: { TotalTargetCapacity: 1, DefaultTargetCapacityType: capacityType },
    TagSpecifications: [{ ResourceType: "instance", Tags: [{ Key: "k", Value: "v" }] }],
    ...more,
  });
  return { clock, ec2, fleet, control: ec2.control };
}

describe("fleets", () => {
  test("the cheapest type on demand; its machine boots with what its user data says, and runs until it is terminated", async () => {
    const { ec2, fleet, clock, control } = await aWorld();
    const story: string[] = [];
    control.onInstanceRunning(({ name }) => story.push(`running ${name}`));
    control.onInstanceStopping(({ name }) => story.push(`stopping ${name}`));
    control.onInstanceTerminated(({ name }) => story.push(`terminated ${name}`));
    const { Instances } = await ec2.createFleet(fleet(["m5.xlarge", "m5.large"]));
    expect(Instances?.[0]?.InstanceType).toBe("m5.large");
    const id = Instances?.[0]?.InstanceIds[0] ?? "";
    await clock.advance(20_000);
    const [machine] = control.instances().map((instance) => instance.machine);
    expect(machine).toMatchObject({ name: "ip-10-0-0-4.ec2.internal", taints: [{ key: "a", effect: "NoExecute" }], volumesMax: 25 });
    expect(machine?.labels).toMatchObject({
      team: "web",
      x: "y",
      "node.kubernetes.io/instance-type": "m5.large",
      "topology.kubernetes.io/zone": "us-east-1a",
    });
    expect(machine?.capacity).toMatchObject({ cpu: 2000, pods: 29 });
    await ec2.terminateInstances({ InstanceIds: [id] });
    await clock.advance(60_000);
    expect(story).toEqual(["running", "stopping", "terminated"].map((word) => `${word} ip-10-0-0-4.ec2.internal`));
    expect((await ec2.describeInstances({ InstanceIds: [id] })).Instances[0]?.State.Name).toBe("terminated");
    await clock.advance(3_600_000);
    await expect(ec2.describeInstances({ InstanceIds: [id] })).rejects.toMatchObject({ code: "InvalidInstanceID.NotFound" });
  });

  test("a bounded pool fills, says so, and has room again when an instance goes", async () => {
    const { ec2, fleet, clock, control } = await aWorld();
    control.limitCapacity({ instanceType: "m5.large", zone: "us-east-1a" }, 1);
    control.limitCapacity({ instanceType: "m5.large", zone: "us-east-1b" }, 0);
    control.limitCapacity({ instanceType: "m5.large", zone: "us-east-1c" }, 0);
    const first = await ec2.createFleet(fleet(["m5.large"]));
    const second = await ec2.createFleet(fleet(["m5.large"]));
    expect(second.Instances).toEqual([]);
    expect(second.Errors?.map(({ ErrorCode }) => ErrorCode)).toEqual(Array.from({ length: 3 }, () => "InsufficientInstanceCapacity"));
    await ec2.terminateInstances({ InstanceIds: first.Instances?.[0]?.InstanceIds ?? [] });
    await clock.advance(60_000);
    expect((await ec2.createFleet(fleet(["m5.large"]))).Instances).toHaveLength(1);
  });

  test.each([
    { what: "an image of another architecture", types: ["m6g.large"], code: "InvalidParameterValue" },
    { what: "a type that is not sold there", types: ["m9.large"], code: "Unsupported" },
  ])("$what is refused: $code", async ({ types, code }) => {
    const { ec2, fleet } = await aWorld();
    const { Errors, Instances } = await ec2.createFleet(fleet(types));
    expect([Instances, Errors?.[0]?.ErrorCode]).toEqual([[], code]);
  });

  test("a template that does not exist is an error of the call", async () => {
    const { ec2, fleet } = await aWorld();
    await ec2.deleteLaunchTemplate({ LaunchTemplateName: "lt" });
    await expect(ec2.createFleet(fleet(["m5.large"]))).rejects.toMatchObject({ code: "InvalidLaunchTemplateName.NotFoundException" });
  });

  test("several at once, as a target asks", async () => {
    const { ec2, fleet } = await aWorld();
    const target = { TotalTargetCapacity: 3, DefaultTargetCapacityType: "on-demand" } as const;
    expect((await ec2.createFleet(fleet(["m5.large"], { TargetCapacitySpecification: target }))).Instances).toHaveLength(3);
  });
});

describe("client tokens", () => {
  test("the same token and parameters are one launch, whatever happens between", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 }), fc.boolean(), async (tokens, areRepliesLost) => {
        const { ec2, fleet, control } = await aWorld();
        if (areRepliesLost) control.setWeather({ lostReplyChance: 0.5 });
        const answers = new Map<string, string>();
        for (const token of tokens) {
          const answer = await ec2.createFleet(fleet(["m5.large"], { ClientToken: token })).catch(() => undefined);
          if (answer === undefined) continue;
          const text = JSON.stringify(answer);
          expect(answers.get(token) ?? text).toBe(text);
          answers.set(token, text);
        }
        expect(control.instances()).toHaveLength(new Set(tokens).size);
      }),
      { numRuns: 30 },
    );
  });

  test("the same token with other parameters is a mistake, and launches nothing", async () => {
    const { ec2, fleet, control } = await aWorld();
    await ec2.createFleet(fleet(["m5.large"], { ClientToken: "a" }));
    await expect(ec2.createFleet(fleet(["m5.xlarge"], { ClientToken: "a" }))).rejects.toMatchObject({
      code: "IdempotentParameterMismatch",
    });
    expect(control.instances()).toHaveLength(1);
  });
});

describe("what others see", () => {
  test("instances come into sight late, and their states too", async () => {
    const { ec2, fleet, clock } = await aWorld({ timing: { lagMs: [5_000, 5_000], startMs: [1_000, 1_000] } });
    await ec2.createFleet(fleet(["m5.large"]));
    const seen = async () => (await ec2.describeInstances({})).Instances.map(({ State }) => State.Name);
    const story = [await seen()];
    for (const ms of [5_000, 1_000]) {
      await clock.advance(ms);
      story.push(await seen());
    }
    expect(story).toEqual([[], ["pending"], ["running"]]);
  });

  test("filters and pages", async () => {
    const { ec2, fleet } = await aWorld({ timing: { lagMs: [0, 0] } });
    for (let count = 0; count < 3; count++) await ec2.createFleet(fleet(["m5.large"]));
    const Filters = [{ Name: "tag:k", Values: ["v*"] }];
    const first = await ec2.describeInstances({ Filters, MaxResults: 2 });
    const second = await ec2.describeInstances({ Filters, MaxResults: 2, NextToken: first.NextToken });
    expect([first.Instances.length, second.Instances.length, second.NextToken]).toEqual([2, 1, undefined]);
    expect((await ec2.describeInstances({ Filters: [{ Name: "tag-key", Values: ["other"] }] })).Instances).toEqual([]);
    await expect(ec2.describeInstances({ Filters: [{ Name: "colour", Values: ["red"] }] })).rejects.toBeInstanceOf(AwsError);
  });

  test("spot prices move a little, and repeat", async () => {
    const { ec2, clock } = await aWorld();
    const priceNow = async () =>
      (await ec2.describeSpotPriceHistory({})).SpotPriceHistory.find(
        ({ InstanceType, AvailabilityZone }) => InstanceType === "m5.large" && AvailabilityZone === "us-east-1a",
      )?.SpotPrice;
    const before = Number(await priceNow());
    await clock.advance(12 * 3_600_000);
    const after = Number(await priceNow());
    expect(after).not.toBe(before);
    expect(Math.abs(after / before - 1)).toBeLessThan(0.2);
  });
});

test("a spot interruption gives two minutes' notice", async () => {
  const { ec2, fleet, clock, control } = await aWorld({ timing: { lagMs: [0, 0], startMs: [1_000, 1_000] } });
  const notices: string[] = [];
  control.onSpotNotice(({ detail }) => notices.push(detail["instance-id"]));
  const { Instances } = await ec2.createFleet(fleet(["m5.large"], {}, "spot"));
  const id = Instances?.[0]?.InstanceIds[0] ?? "";
  await clock.advance(10_000);
  control.interruptSpot(id);
  expect(notices).toEqual([id]);
  const stateNow = () => control.instances()[0]?.state;
  await clock.advance(119_000);
  expect(stateNow()).toBe("running");
  await clock.advance(1_000);
  expect(stateNow()).toBe("shutting-down");
});

test("scripted faults hit in order; one may take effect all the same", async () => {
  const { ec2, fleet, control } = await aWorld();
  control.script("createFleet", { code: "RequestLimitExceeded", times: 2 });
  control.script("createFleet", { code: "NetworkingError", fault: "network", afterEffect: true });
  const codes: string[] = [];
  for (let call = 0; call < 4; call++) {
    await ec2.createFleet(fleet(["m5.large"])).then(
      () => codes.push("ok"),
      (error: AwsError) => codes.push(error.code),
    );
  }
  expect(codes).toEqual(["RequestLimitExceeded", "RequestLimitExceeded", "NetworkingError", "ok"]);
  expect(control.instances()).toHaveLength(2);
  expect(control.callsOf("createFleet")).toBe(4);
});
