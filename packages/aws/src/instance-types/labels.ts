/** What an instance type is labelled with. Rules I-301…I-329, without I-323. */
import {
  ARCH_LABEL,
  CAPACITY_TYPE_LABEL,
  INSTANCE_TYPE_LABEL,
  OS_LABEL,
  REGION_LABEL,
  WINDOWS_BUILD_LABEL,
  ZONE_ID_LABEL,
  ZONE_LABEL,
} from "@joinery/api";
import type { RequirementItem } from "@joinery/scheduling";
import type { StaticTables, Zone } from "../catalogue/ec2-catalogue.ts";
import type { InstanceTypeInfo } from "../ec2/instance-type-info.ts";
import type { Family } from "./family.ts";
import type { ItemPool, LabelValue } from "./item-pool.ts";

export interface LabelContext {
  readonly region: string;
  /** Of the node class's subnets. */
  readonly zones: readonly Zone[];
  /** Names of the zones in which EC2 offers the type. */
  readonly offeredZones: readonly string[];
  readonly family: Family;
  readonly networkMbps: StaticTables["networkMbps"];
  readonly pool: ItemPool;
}

const NAME_SHAPE = /^([a-z]+)(-[0-9]+tb)?([0-9]+).*\./;
const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: "amd64", arm64: "arm64" };

/** One item per key of the table in section 3, sorted by key. */
export function labelRequirements(info: InstanceTypeInfo, context: LabelContext): RequirementItem[] {
  const values: Record<string, LabelValue> = {
    ...kubernetesLabels(info, context),
    ...prefixed({ ...nameLabels(info), ...machineLabels(info, context), ...deviceLabels(info) }),
  };
  const keys = Object.keys(values).sort();
  return keys.map((key) => context.pool.item(key, values[key]));
}

/** I-302. */
function architectureOf({ ProcessorInfo }: InstanceTypeInfo): string {
  const architectures = ProcessorInfo?.SupportedArchitectures ?? [];
  return architectures.map((name) => ARCHITECTURES[name]).find((name) => name !== undefined) ?? architectures.join();
}

/** I-304. */
function usableZones({ zones, offeredZones }: Pick<LabelContext, "zones" | "offeredZones">): readonly Zone[] {
  return zones.filter(({ name }) => offeredZones.includes(name));
}

/** I-307, without reservations. */
export function capacityTypesOf({ SupportedUsageClasses = [] }: InstanceTypeInfo): readonly string[] {
  return SupportedUsageClasses.filter((name) => name === "on-demand" || name === "spot");
}

function kubernetesLabels(info: InstanceTypeInfo, context: LabelContext): Record<string, LabelValue> {
  const architecture = architectureOf(info);
  const zones = usableZones(context);
  const zoneIds = [...new Set(zones.map(({ id }) => id).filter((id) => id !== ""))];
  const { windowsBuild } = context.family;
  return {
    [INSTANCE_TYPE_LABEL]: info.InstanceType,
    [ARCH_LABEL]: architecture,
    [OS_LABEL]: windowsBuild === undefined ? "linux" : architecture === "amd64" ? "windows" : [],
    [ZONE_LABEL]: zones.map(({ name }) => name),
    ...(zoneIds.length === 0 ? {} : { [ZONE_ID_LABEL]: zoneIds }),
    [REGION_LABEL]: context.region,
    [CAPACITY_TYPE_LABEL]: capacityTypesOf(info),
    [WINDOWS_BUILD_LABEL]: windowsBuild,
  };
}

/** I-315…I-317. */
function nameLabels({ InstanceType }: InstanceTypeInfo): Record<string, LabelValue> {
  const [, category, , generation] = NAME_SHAPE.exec(InstanceType) ?? [];
  const parts = InstanceType.split(".");
  const [family, size] = parts.length === 2 ? parts : [];
  return {
    "instance-category": category,
    "instance-generation": generation,
    "instance-family": family,
    "instance-size": size,
    "instance-capability-flex": String((parts[0] ?? "").includes("-flex")),
  };
}

function machineLabels(info: InstanceTypeInfo, { networkMbps }: LabelContext): Record<string, LabelValue> {
  const { EbsInfo, InstanceStorageInfo, NetworkInfo, ProcessorInfo } = info;
  const hasNvme = InstanceStorageInfo !== undefined && InstanceStorageInfo.NvmeSupport !== "unsupported";
  return {
    "instance-cpu": String(info.VCpuInfo?.DefaultVCpus ?? 0),
    "instance-cpu-manufacturer": normalized(ProcessorInfo?.Manufacturer ?? ""),
    "instance-cpu-sustained-clock-speed-mhz": String(Math.round((ProcessorInfo?.SustainedClockSpeedInGhz ?? 0) * 1000)),
    "instance-memory": String(info.MemoryInfo?.SizeInMiB ?? 0),
    "instance-ebs-bandwidth":
      EbsInfo?.EbsOptimizedSupport === "default" ? text(EbsInfo.EbsOptimizedInfo?.MaximumBandwidthInMbps) : undefined,
    "instance-network-bandwidth": text(networkMbps.get(info.InstanceType)),
    "instance-local-nvme": hasNvme ? text(InstanceStorageInfo.TotalSizeInGB) : undefined,
    "instance-hypervisor": info.Hypervisor ?? "",
    "instance-encryption-in-transit-supported": String(NetworkInfo?.EncryptionInTransitSupported ?? false),
    "instance-tenancy": ["default", "dedicated"],
    // Reservations and placement groups give these values once they are resolved (I-325); without any they must not exist.
    "capacity-reservation-id": undefined,
    "capacity-reservation-type": undefined,
    "capacity-reservation-interruptible": undefined,
  };
}

/** I-319, I-320: labels only where there is exactly one kind of device. */
function deviceLabels({ GpuInfo, InferenceAcceleratorInfo, NeuronInfo }: InstanceTypeInfo): Record<string, LabelValue> {
  const gpu = only(GpuInfo?.Gpus);
  const neuron = only(NeuronInfo?.NeuronDevices);
  const inference = NeuronInfo === undefined ? only(InferenceAcceleratorInfo?.Accelerators) : undefined;
  return {
    "instance-gpu-name": normalized(gpu?.Name),
    "instance-gpu-manufacturer": normalized(gpu?.Manufacturer),
    "instance-gpu-count": text(gpu?.Count),
    "instance-gpu-memory": text(gpu?.MemoryInfo?.SizeInMiB),
    "instance-accelerator-name": normalized(neuron?.Name ?? inference?.Name),
    "instance-accelerator-manufacturer": neuron === undefined ? normalized(inference?.Manufacturer) : "aws",
    "instance-accelerator-count": text(neuron?.Count ?? inference?.Count),
  };
}

function only<T>(list: readonly T[] | undefined): T | undefined {
  return list?.length === 1 ? list[0] : undefined;
}

function text(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

/** I-327. */
function normalized<T extends string | undefined>(name: T): T {
  return name?.toLowerCase().replaceAll(" ", "-") as T;
}

function prefixed(labels: Record<string, LabelValue>): Record<string, LabelValue> {
  return Object.fromEntries(Object.entries(labels).map(([suffix, value]) => [`karpenter.k8s.aws/${suffix}`, value]));
}
