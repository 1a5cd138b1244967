/** What an instance of a type has. Rules I-401…I-413. */
import { parseResources, type Resources } from "@joinery/api";
import type { StaticTables } from "../catalogue/ec2-catalogue.ts";
import type { GpuDevice, InstanceTypeInfo } from "../ec2/instance-type-info.ts";
import type { Family } from "./family.ts";
import { type KubeletSettings, NO_KUBELET_SETTINGS } from "./kubelet-settings.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const ROOT_DISK_DEFAULT = 20 * GIB;
/** Where density is not limited by network interfaces. */
const PODS_DEFAULT = 110;

/** What of a node class bears on capacity and overhead. */
export interface MachineSettings {
  readonly family: Family;
  readonly instanceStorePolicy?: string | undefined;
  readonly blockDeviceMappings?:
    | readonly { readonly deviceName?: string; readonly rootVolume?: boolean; readonly ebs?: { readonly volumeSize?: string } }[]
    | undefined;
  readonly networkInterfaces?: readonly { readonly networkCardIndex: number; readonly interfaceType: string }[] | undefined;
  /** A fraction: what the hypervisor and the machine's firmware keep of the memory. */
  readonly vmMemoryOverheadPercent: number;
  readonly reservedEnis: number;
  readonly kubelet?: KubeletSettings;
}

/** Every resource is a key, with 0 where the type has none. */
export function capacityOf(
  info: InstanceTypeInfo,
  settings: MachineSettings,
  branchInterfaces: StaticTables["branchInterfaces"],
): Resources {
  const neuron = info.NeuronInfo?.NeuronDevices ?? [];
  return {
    cpu: vcpusOf(info) * 1000,
    memory: memoryOf(info, settings.vmMemoryOverheadPercent),
    "ephemeral-storage": storageOf(info, settings),
    pods: podsOf(info, settings),
    "nvidia.com/gpu": gpusBy(info, "NVIDIA"),
    "amd.com/gpu": gpusBy(info, "AMD"),
    "habana.ai/gaudi": gpusBy(info, "Habana"),
    "aws.amazon.com/neuron": neuron.reduce((sum, { Count = 0 }) => sum + Count, 0),
    "aws.amazon.com/neuroncore": (neuron[0]?.Count ?? 0) * (neuron[0]?.CoreInfo?.Count ?? 0),
    "vpc.amazonaws.com/efa": efasOf(info, settings),
    "vpc.amazonaws.com/pod-eni": branchInterfaces.get(info.InstanceType) ?? 0,
    ...windowsAddresses(info, settings, branchInterfaces),
  };
}

export function vcpusOf({ VCpuInfo }: InstanceTypeInfo): number {
  return VCpuInfo?.DefaultVCpus ?? 0;
}

/** I-405: pods that the addresses of the default network card carry, one interface's first address being the node's. */
export function eniPods(
  { NetworkInfo }: InstanceTypeInfo,
  { networkInterfaces = [] }: Pick<MachineSettings, "networkInterfaces">,
  reservedEnis: number,
): number {
  const card = NetworkInfo?.NetworkCards?.[NetworkInfo.DefaultNetworkCardIndex ?? 0];
  const efaOnly = networkInterfaces.filter(
    ({ networkCardIndex, interfaceType }) => networkCardIndex === 0 && interfaceType === "efa-only",
  ).length;
  const usable = Math.max((card?.MaximumNetworkInterfaces ?? 0) - reservedEnis - efaOnly, 0);
  return usable === 0 ? 0 : usable * ((NetworkInfo?.Ipv4AddressesPerInterface ?? 1) - 1) + 2;
}

/** I-404. */
function podsOf(info: InstanceTypeInfo, settings: MachineSettings): number {
  const { family, reservedEnis, kubelet = NO_KUBELET_SETTINGS } = settings;
  const density = family.isPodDensityEniLimited ? eniPods(info, settings, reservedEnis) : PODS_DEFAULT;
  const podsMax = kubelet.maxPods ?? density;
  const isPerCore = (kubelet.podsPerCore ?? 0) > 0 && family.name !== "Bottlerocket";
  return isPerCore ? Math.min((kubelet.podsPerCore ?? 0) * vcpusOf(info), podsMax) : podsMax;
}

/** I-402. In whole MiB. */
function memoryOf({ MemoryInfo, ProcessorInfo }: InstanceTypeInfo, overheadShare: number): number {
  // Arm machines show 64 MiB less for reasons of their firmware.
  const size = (MemoryInfo?.SizeInMiB ?? 0) - (ProcessorInfo?.SupportedArchitectures?.[0] === "arm64" ? 64 : 0);
  return (size - Math.ceil((size * MIB * overheadShare) / 1024 / 1024)) * MIB;
}

/** I-403, first match wins. */
function storageOf(
  { InstanceStorageInfo }: InstanceTypeInfo,
  { family, instanceStorePolicy, blockDeviceMappings = [] }: MachineSettings,
): number {
  if (instanceStorePolicy === "RAID0" && InstanceStorageInfo?.TotalSizeInGB !== undefined) return InstanceStorageInfo.TotalSizeInGB * 1e9;
  const root = blockDeviceMappings.find(({ rootVolume }) => rootVolume === true)?.ebs?.volumeSize;
  if (root !== undefined) return bytes(root);
  if (blockDeviceMappings.length > 0) {
    if (family.name === "Custom") return bytes(blockDeviceMappings.at(-1)?.ebs?.volumeSize);
    const ephemeral = blockDeviceMappings.find(({ deviceName }) => deviceName === family.ephemeralDevice)?.ebs?.volumeSize;
    if (ephemeral !== undefined) return bytes(ephemeral);
  }
  const device = family.defaultDevices.find(({ DeviceName }) => DeviceName === family.ephemeralDevice);
  return device?.Ebs?.VolumeSize === undefined ? ROOT_DISK_DEFAULT : device.Ebs.VolumeSize * GIB;
}

function bytes(size: string | undefined): number {
  return size === undefined ? ROOT_DISK_DEFAULT : (parseResources({ storage: size }).storage ?? ROOT_DISK_DEFAULT);
}

/** I-407. */
function gpusBy({ GpuInfo }: InstanceTypeInfo, manufacturer: string): number {
  const ofMaker = (GpuInfo?.Gpus ?? []).filter(({ Manufacturer }: GpuDevice) => Manufacturer === manufacturer);
  return ofMaker.reduce((sum, { Count = 0 }) => sum + Count, 0);
}

/** I-409. */
function efasOf({ NetworkInfo }: InstanceTypeInfo, { networkInterfaces }: MachineSettings): number {
  if (networkInterfaces !== undefined) return networkInterfaces.filter(({ interfaceType }) => interfaceType === "efa-only").length;
  return NetworkInfo?.EfaInfo?.MaximumEfaInterfaces ?? 0;
}

/** I-411. */
function windowsAddresses(
  info: InstanceTypeInfo,
  { family }: MachineSettings,
  branchInterfaces: StaticTables["branchInterfaces"],
): Resources {
  const isWindows = family.windowsBuild !== undefined && info.ProcessorInfo?.SupportedArchitectures?.includes("x86_64");
  if (!isWindows) return {};
  const addresses = branchInterfaces.has(info.InstanceType) ? (info.NetworkInfo?.Ipv4AddressesPerInterface ?? 1) - 1 : 0;
  return { "vpc.amazonaws.com/PrivateIPv4Address": addresses };
}
