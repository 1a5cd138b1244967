/** What EC2's own API says about types, zones and offerings, reduced to what the catalogue keeps. Rules I-101, I-102. */
import {
  DescribeAvailabilityZonesCommand,
  EC2Client,
  paginateDescribeInstanceTypeOfferings,
  paginateDescribeInstanceTypes,
} from "@aws-sdk/client-ec2";
import type { InstanceTypeInfo } from "../ec2/instance-type-info.ts";

export interface Ec2Facts {
  /** Sorted by name. */
  readonly types: readonly InstanceTypeInfo[];
  /** Sorted by name. */
  readonly zones: readonly { readonly name: string; readonly id: string }[];
  readonly zonesByType: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface ApiOptions {
  readonly region: string;
  readonly endpoint: string | undefined;
}

export async function fetchEc2Facts({ region, endpoint }: ApiOptions): Promise<Ec2Facts> {
  const client = new EC2Client({ region, ...(endpoint === undefined ? {} : { endpoint }) });
  const types = await instanceTypes(client);
  const zonesByType = await offerings(client);
  const zones = await availabilityZones(client, new Set([...zonesByType.values()].flatMap((names) => [...names])));
  return { types, zones, zonesByType };
}

/** The filters of I-101 are applied here and not by the service, so that stand-ins with simpler filters give the same answer. */
async function instanceTypes(client: EC2Client): Promise<InstanceTypeInfo[]> {
  const found: InstanceTypeInfo[] = [];
  for await (const page of paginateDescribeInstanceTypes({ client, pageSize: 100 }, {})) {
    for (const type of page.InstanceTypes ?? [])
      if (type.InstanceType !== undefined) found.push(trim({ ...type, InstanceType: type.InstanceType }));
  }
  return found.filter(isUsable).sort((a, b) => (a.InstanceType < b.InstanceType ? -1 : 1));
}

function isUsable({ SupportedVirtualizationTypes = [], ProcessorInfo }: InstanceTypeInfo): boolean {
  const architectures = ProcessorInfo?.SupportedArchitectures ?? [];
  return SupportedVirtualizationTypes.includes("hvm") && architectures.some((name) => name === "x86_64" || name === "arm64");
}

/** Lists keep only the fields that the provider reads, so that equal devices are equal values. */
function trim(type: InstanceTypeInfo): InstanceTypeInfo {
  const { NetworkInfo, GpuInfo, NeuronInfo, InferenceAcceleratorInfo } = type;
  const device = ({ Name, Manufacturer, Count, MemoryInfo }: NonNullable<NonNullable<typeof GpuInfo>["Gpus"]>[number]) => ({
    Name,
    Manufacturer,
    Count,
    MemoryInfo: MemoryInfo && { SizeInMiB: MemoryInfo.SizeInMiB },
  });
  return {
    ...type,
    NetworkInfo: NetworkInfo && {
      ...NetworkInfo,
      NetworkCards: NetworkInfo.NetworkCards?.map(({ NetworkCardIndex, MaximumNetworkInterfaces }) => ({
        NetworkCardIndex,
        MaximumNetworkInterfaces,
      })),
    },
    GpuInfo: GpuInfo && { Gpus: GpuInfo.Gpus?.map(device) },
    InferenceAcceleratorInfo: InferenceAcceleratorInfo && { Accelerators: InferenceAcceleratorInfo.Accelerators?.map(device) },
    NeuronInfo: NeuronInfo && {
      NeuronDevices: NeuronInfo.NeuronDevices?.map(({ Name, Count, CoreInfo }) => ({
        Name,
        Count,
        CoreInfo: CoreInfo && { Count: CoreInfo.Count },
      })),
    },
  };
}

async function offerings(client: EC2Client): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>();
  for await (const page of paginateDescribeInstanceTypeOfferings({ client, pageSize: 1000 }, { LocationType: "availability-zone" })) {
    for (const { InstanceType = "", Location = "" } of page.InstanceTypeOfferings ?? []) {
      found.set(InstanceType, (found.get(InstanceType) ?? new Set()).add(Location));
    }
  }
  return found;
}

async function availabilityZones(client: EC2Client, offered: ReadonlySet<string>): Promise<{ name: string; id: string }[]> {
  const { AvailabilityZones = [] } = await client.send(new DescribeAvailabilityZonesCommand({}));
  const ids = new Map(AvailabilityZones.map(({ ZoneName, ZoneId }) => [ZoneName, ZoneId ?? ""]));
  return [...offered].sort().map((name) => ({ name, id: ids.get(name) ?? "" }));
}
