import type { Ec2NodeClass } from "@joinery/api";
import { describe, expect, test } from "vitest";
import { familyNamed } from "../instance-types/family.ts";
import { launchTemplateData, launchTemplateName, type TemplateFacts } from "./launch-template-data.ts";

type Spec = NonNullable<Ec2NodeClass["spec"]>;

function facts(spec: Partial<Spec> = {}, changes: Partial<TemplateFacts> = {}): TemplateFacts {
  return {
    nodeClass: {
      metadata: { name: "default" },
      spec: { amiSelectorTerms: [], subnetSelectorTerms: [], securityGroupSelectorTerms: [], metadataOptions: {}, ...spec },
      status: { instanceProfile: "p", securityGroups: [{ id: "sg-1" }, { id: "sg-2" }] },
    },
    family: familyNamed("AL2023"),
    imageId: "ami-1",
    userData: "dXNlcg==",
    capacityType: "on-demand",
    tenancy: "default",
    tags: [{ Key: "a", Value: "b" }],
    efaCount: 0,
    region: "us-west-2",
    ...changes,
  };
}

test("W-530…W-542: the plain template", () => {
  expect(launchTemplateData(facts())).toEqual({
    ImageId: "ami-1",
    UserData: "dXNlcg==",
    IamInstanceProfile: { Name: "p" },
    Monitoring: { Enabled: false },
    MetadataOptions: {
      HttpEndpoint: "enabled",
      HttpProtocolIpv6: "disabled",
      HttpPutResponseHopLimit: 1,
      HttpTokens: "required",
      InstanceMetadataTags: "disabled",
    },
    BlockDeviceMappings: [{ DeviceName: "/dev/xvda", Ebs: { Encrypted: true, VolumeSize: 20, VolumeType: "gp3" } }],
    NetworkInterfaces: [{ DeviceIndex: 0, Groups: ["sg-1", "sg-2"] }],
    EnclaveOptions: { Enabled: false },
    Placement: { Tenancy: "default" },
    CapacityReservationSpecification: { CapacityReservationPreference: "none" },
    TagSpecifications: [{ ResourceType: "network-interface", Tags: [{ Key: "a", Value: "b" }] }],
  });
});

test.each([
  { size: "200G", gib: 187 },
  { size: "4G", gib: 4 },
  { size: "2G", gib: 2 },
  { size: "200Gi", gib: 200 },
])("W-536, T-37: $size is $gib GiB", ({ size, gib }) => {
  const { BlockDeviceMappings } = launchTemplateData(
    facts({ blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: { volumeSize: size, iops: 0 } }] }),
  );
  expect(BlockDeviceMappings?.[0]?.Ebs).toMatchObject({ VolumeSize: gib, Iops: undefined });
});

test("X-65: Bottlerocket has 6 and 20 GiB, Custom what its image says", () => {
  const sizes = launchTemplateData(facts({}, { family: familyNamed("Bottlerocket") })).BlockDeviceMappings?.map(
    ({ Ebs }) => Ebs?.VolumeSize,
  );
  expect(sizes).toEqual([6, 20]);
  expect(launchTemplateData(facts({}, { family: familyNamed("Custom") }))).not.toHaveProperty("BlockDeviceMappings");
});

test.each([
  { region: "us-iso-east-1", has: false },
  { region: "us-isof-south-1", has: false },
  { region: "us-east-1", has: true },
])("W-535: IPv6 metadata in $region: $has", ({ region, has }) => {
  expect("HttpProtocolIpv6" in launchTemplateData(facts({}, { region })).MetadataOptions).toBe(has);
});

describe("W-512: network interfaces", () => {
  test("a: as listed; efa-only ones have nothing but their groups (T-36)", () => {
    const { NetworkInterfaces } = launchTemplateData(
      facts({
        associatePublicIPAddress: true,
        ipPrefixCount: 2,
        networkInterfaces: [
          { networkCardIndex: 0, deviceIndex: 0, interfaceType: "interface" },
          { networkCardIndex: 0, deviceIndex: 1, interfaceType: "efa-only" },
        ],
      }),
    );
    expect(NetworkInterfaces).toEqual([
      {
        NetworkCardIndex: 0,
        DeviceIndex: 0,
        InterfaceType: "interface",
        Groups: ["sg-1", "sg-2"],
        AssociatePublicIpAddress: true,
        Ipv4PrefixCount: 2,
      },
      { NetworkCardIndex: 0, DeviceIndex: 1, InterfaceType: "efa-only", Groups: ["sg-1", "sg-2"] },
    ]);
  });

  test("b: EFA interfaces on cards 0…3, device 0 on the first (T-35)", () => {
    const { NetworkInterfaces } = launchTemplateData(facts({}, { efaCount: 4 }));
    expect(
      NetworkInterfaces.map(({ NetworkCardIndex, DeviceIndex, InterfaceType }) => [NetworkCardIndex, DeviceIndex, InterfaceType]),
    ).toEqual([
      [0, 0, "efa"],
      [1, 1, "efa"],
      [2, 1, "efa"],
      [3, 1, "efa"],
    ]);
  });
});

test("W-531: spot requests are tagged too; X-32: enclaves as the node class says", () => {
  const data = launchTemplateData(facts({ enclaveOptions: { enabled: true } }, { capacityType: "spot" }));
  expect(data.TagSpecifications.map(({ ResourceType }) => ResourceType)).toEqual(["network-interface", "spot-instances-request"]);
  expect(data.EnclaveOptions).toEqual({ Enabled: true });
});

test("W-501, W-503: the name follows from the content, the cluster and the node class", () => {
  const data = launchTemplateData(facts());
  const name = launchTemplateName(data, "demo", "default");
  expect(name).toMatch(/^karpenter\.k8s\.aws\/\d{1,20}$/);
  expect(launchTemplateName(launchTemplateData(facts()), "demo", "default")).toBe(name);
  const others = [
    launchTemplateName(data, "demo", "other"),
    launchTemplateName(data, "other", "default"),
    launchTemplateName(launchTemplateData(facts({}, { imageId: "ami-2" })), "demo", "default"),
    launchTemplateName(launchTemplateData(facts({ detailedMonitoring: true })), "demo", "default"),
  ];
  expect(new Set([name, ...others]).size).toBe(5);
});
