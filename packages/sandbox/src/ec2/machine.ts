/** The machine behind an instance: what its kubelet will report. It has a little more memory than the provider's cautious estimate. */
import type { Resources, Taint } from "@joinery/api";
import { capacityOf, type Ec2Instance, familyNamed, type InstanceTypeInfo, overheadOf, type StaticTables } from "@joinery/aws";
import { readNodeConfig } from "./node-config.ts";

/** Fits the wish that the sandbox's kubelets take. */
export interface Machine {
  /** Name of the Node: the private DNS name. */
  readonly name: string;
  readonly providerId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly capacity: Resources;
  readonly allocatable: Resources;
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
  readonly volumesMax: number;
  readonly instanceId: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: "spot" | "on-demand";
}

export interface MachineFacts {
  readonly instance: Ec2Instance;
  readonly info: InstanceTypeInfo;
  readonly zoneId: string;
  readonly region: string;
  readonly userData: string;
  readonly diskGib: number;
  readonly tables: StaticTables;
}

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** What hypervisor and firmware take of real machines: 5 to 6.5 %, by type; the provider assumes 7.5 %. */
const MEMORY_LOSS = { least: 0.05, spread: 0.015 };

export function machineOf(facts: MachineFacts): Machine {
  const { instance, info, region } = facts;
  const config = readNodeConfig(facts.userData);
  const capacity = realCapacity(facts, config.maxPods);
  const zone = instance.Placement.AvailabilityZone;
  const name = instance.PrivateDnsName ?? "";
  return {
    name,
    providerId: `aws:///${zone}/${instance.InstanceId}`,
    labels: {
      ...config.labels,
      "kubernetes.io/hostname": name,
      "kubernetes.io/arch": info.ProcessorInfo?.SupportedArchitectures?.includes("arm64") ? "arm64" : "amd64",
      "kubernetes.io/os": "linux",
      "node.kubernetes.io/instance-type": instance.InstanceType,
      "topology.kubernetes.io/zone": zone,
      "topology.kubernetes.io/region": region,
      "topology.k8s.aws/zone-id": facts.zoneId,
    },
    taints: config.taints,
    capacity,
    allocatable: allocatable(facts, capacity),
    addresses: [
      { type: "InternalIP", address: instance.PrivateIpAddress ?? "" },
      { type: "Hostname", address: name },
      { type: "InternalDNS", address: name },
    ],
    volumesMax: Math.max(1, (info.EbsInfo?.MaximumEbsAttachments ?? 28) - 2),
    instanceId: instance.InstanceId,
    instanceType: instance.InstanceType,
    zone,
    capacityType: instance.SpotInstanceRequestId === undefined ? "on-demand" : "spot",
  };
}

/** In `us-east-1` the domain has no region in it. */
export function privateDnsName(address: string, region: string): string {
  return `ip-${address.replaceAll(".", "-")}.${region === "us-east-1" ? "ec2.internal" : `${region}.compute.internal`}`;
}

const SETTINGS = { family: familyNamed("AL2023"), reservedEnis: 0 };

function realCapacity({ info, diskGib, tables }: MachineFacts, maxPods: number | undefined): Resources {
  const loss = MEMORY_LOSS.least + MEMORY_LOSS.spread * shareOf(info.InstanceType);
  const estimate = capacityOf(info, { ...SETTINGS, vmMemoryOverheadPercent: loss }, tables.branchInterfaces);
  const devices = Object.entries(estimate).filter(([resource, amount]) => amount > 0 && resource !== "vpc.amazonaws.com/pod-eni");
  return {
    ...Object.fromEntries(devices),
    // File systems keep a little of the disk, and kubelets count in KiB.
    "ephemeral-storage": Math.floor((diskGib * GIB * 0.9994) / 1024) * 1024,
    memory: Math.floor((estimate.memory ?? 0) / 4096) * 4096,
    pods: maxPods ?? estimate.pods ?? 110,
  };
}

function allocatable({ info }: MachineFacts, capacity: Resources): Resources {
  const { kubeReserved } = overheadOf(info, { ...SETTINGS, vmMemoryOverheadPercent: 0 }, capacity);
  return {
    ...capacity,
    cpu: (capacity.cpu ?? 0) - (kubeReserved.cpu ?? 0),
    memory: (capacity.memory ?? 0) - (kubeReserved.memory ?? 0) - 100 * MIB,
    "ephemeral-storage": Math.floor((capacity["ephemeral-storage"] ?? 0) * 0.9 - GIB),
  };
}

/** From 0 to 1 by the name alone, so that all machines of a type are alike. */
function shareOf(name: string): number {
  let hash = 0;
  for (let index = 0; index < name.length; index++) hash = (hash * 31 + name.charCodeAt(index)) % 997;
  return hash / 997;
}
