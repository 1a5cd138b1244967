/** The content of a launch template, and its name, which follows from the content. Rules W-500…W-503, W-512, W-513, W-530…W-541, X-32. */
import { type Ec2NodeClass, parseResources } from "@joinery/api";
import type { BlockDeviceMapping, FleetTagSpecification, LaunchTemplateData, NetworkInterface, Tag } from "../ec2/launch-shapes.ts";
import type { Family } from "../instance-types/family.ts";

export interface TemplateFacts {
  readonly nodeClass: Ec2NodeClass;
  readonly family: Family;
  readonly imageId: string;
  /** Base64. */
  readonly userData: string;
  readonly capacityType: "spot" | "on-demand";
  readonly tenancy: string;
  readonly tags: readonly Tag[];
  /** Interfaces of type `efa`; 0 for ordinary nodes. */
  readonly efaCount: number;
  readonly region: string;
}

const GIB = 2 ** 30;
const REGIONS_WITHOUT_IPV6_METADATA: ReadonlySet<string> = new Set([
  "us-iso-east-1",
  "us-iso-west-1",
  "us-isob-east-1",
  "us-isob-west-1",
  "us-isof-south-1",
  "us-isof-east-1",
]);

export function launchTemplateData(facts: TemplateFacts): LaunchTemplateData {
  const { nodeClass, family, imageId, userData, capacityType, tenancy, tags, region } = facts;
  const { spec, status } = nodeClass;
  const devices = spec?.blockDeviceMappings?.map(deviceOf) ?? [];
  const mappings = devices.length > 0 ? devices : family.defaultDevices;
  const nested = spec?.cpuOptions?.nestedVirtualization;
  const tagged: readonly FleetTagSpecification["ResourceType"][] =
    capacityType === "spot" ? ["network-interface", "spot-instances-request"] : ["network-interface"];
  return {
    ImageId: imageId,
    UserData: userData,
    ...(status?.instanceProfile === undefined ? {} : { IamInstanceProfile: { Name: status.instanceProfile } }),
    Monitoring: { Enabled: spec?.detailedMonitoring ?? false },
    MetadataOptions: metadataOptions(spec?.metadataOptions, region),
    ...(mappings.length === 0 ? {} : { BlockDeviceMappings: mappings }),
    NetworkInterfaces: networkInterfaces(facts),
    ...(nested === undefined ? {} : { CpuOptions: { NestedVirtualization: nested } }),
    EnclaveOptions: { Enabled: spec?.enclaveOptions?.enabled ?? false },
    Placement: { Tenancy: tenancy },
    CapacityReservationSpecification: { CapacityReservationPreference: "none" },
    TagSpecifications: tagged.map((ResourceType) => ({ ResourceType, Tags: tags })),
  };
}

/** W-501, I-1602: equal content of equally named node classes of one cluster, equal name. */
export function launchTemplateName(data: LaunchTemplateData, clusterName: string, nodeClassName: string): string {
  return `karpenter.k8s.aws/${hash64(JSON.stringify([clusterName, nodeClassName, data]))}`;
}

/** W-536. */
function deviceOf({ deviceName, ebs }: NonNullable<NonNullable<Ec2NodeClass["spec"]>["blockDeviceMappings"]>[number]): BlockDeviceMapping {
  if (ebs === undefined) return { DeviceName: deviceName };
  const size = ebs.volumeSize === undefined ? undefined : Math.ceil((parseResources({ storage: ebs.volumeSize }).storage ?? 0) / GIB);
  return {
    DeviceName: deviceName,
    Ebs: {
      DeleteOnTermination: ebs.deleteOnTermination,
      Encrypted: ebs.encrypted,
      Iops: ebs.iops || undefined,
      KmsKeyId: ebs.kmsKeyID,
      SnapshotId: ebs.snapshotID,
      Throughput: ebs.throughput || undefined,
      VolumeInitializationRate: ebs.volumeInitializationRate,
      VolumeSize: size,
      VolumeType: ebs.volumeType,
    },
  };
}

/** W-535. */
function metadataOptions(
  options: NonNullable<Ec2NodeClass["spec"]>["metadataOptions"],
  region: string,
): LaunchTemplateData["MetadataOptions"] {
  const ipv6 = REGIONS_WITHOUT_IPV6_METADATA.has(region) ? {} : { HttpProtocolIpv6: options?.httpProtocolIPv6 ?? "disabled" };
  return {
    HttpEndpoint: options === undefined ? "disabled" : (options.httpEndpoint ?? "enabled"),
    ...ipv6,
    HttpPutResponseHopLimit: options === undefined ? 2 : (options.httpPutResponseHopLimit ?? 1),
    HttpTokens: options?.httpTokens ?? "required",
    InstanceMetadataTags: "disabled",
  };
}

/** W-512: as listed; or EFA interfaces; or one plain one. */
function networkInterfaces({ nodeClass: { spec, status }, efaCount }: TemplateFacts): readonly NetworkInterface[] {
  const Groups = (status?.securityGroups ?? []).map(({ id }) => id);
  const common = {
    Groups,
    ...(spec?.associatePublicIPAddress === undefined ? {} : { AssociatePublicIpAddress: spec.associatePublicIPAddress }),
    ...(spec?.ipPrefixCount === undefined ? {} : { Ipv4PrefixCount: spec.ipPrefixCount }),
    ...connectionTracking(spec?.connectionTracking),
  };
  if ((spec?.networkInterfaces ?? []).length > 0) {
    return (spec?.networkInterfaces ?? []).map(({ networkCardIndex, deviceIndex, interfaceType }) => ({
      NetworkCardIndex: networkCardIndex,
      DeviceIndex: deviceIndex,
      InterfaceType: interfaceType,
      ...(interfaceType === "efa-only" ? { Groups } : common),
    }));
  }
  if (efaCount === 0) return [{ DeviceIndex: 0, ...common }];
  return Array.from({ length: efaCount }, (_, card) => ({
    NetworkCardIndex: card,
    DeviceIndex: card === 0 ? 0 : 1,
    InterfaceType: "efa",
    ...common,
  }));
}

/** W-513. */
function connectionTracking(
  tracking: NonNullable<Ec2NodeClass["spec"]>["connectionTracking"],
): Pick<NetworkInterface, "ConnectionTrackingSpecification"> {
  if (tracking === undefined) return {};
  const { tcpEstablishedTimeout, udpStreamTimeout, udpTimeout } = tracking;
  return {
    ConnectionTrackingSpecification: {
      TcpEstablishedTimeout: tcpEstablishedTimeout,
      UdpStreamTimeout: udpStreamTimeout,
      UdpTimeout: udpTimeout,
    },
  };
}

/** FNV-1a in two halves of different offsets, as unsigned decimal text. */
function hash64(text: string): string {
  let high = 0x811c9dc5;
  let low = 0x01234567;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x01000193) ^ (high >>> 15);
  }
  return ((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)).toString();
}
