/** Whether a node class can use a type at all. Rule I-803 (all but placement groups), X-31. */
import type { Ec2NodeClassSpec } from "@joinery/api";
import type { InstanceTypeInfo } from "../ec2/instance-type-info.ts";
import type { Family } from "./family.ts";

export interface CompatibilitySettings
  extends Pick<Ec2NodeClassSpec, "networkInterfaces" | "cpuOptions" | "connectionTracking" | "enclaveOptions"> {
  readonly family: Family;
}

export function isUsable(info: InstanceTypeInfo, settings: CompatibilitySettings): boolean {
  const { family, cpuOptions, connectionTracking, enclaveOptions } = settings;
  if (family.name === "AL2023" && info.InstanceType.startsWith("a1.")) return false;
  if (cpuOptions?.nestedVirtualization === "enabled" && !info.ProcessorInfo?.SupportedFeatures?.includes("nested-virtualization"))
    return false;
  if (connectionTracking !== undefined && info.Hypervisor !== "nitro") return false;
  if (enclaveOptions?.enabled === true && info.NitroEnclavesSupport !== "supported") return false;
  return hasInterfaces(info, settings.networkInterfaces);
}

function hasInterfaces({ NetworkInfo }: InstanceTypeInfo, wanted: Ec2NodeClassSpec["networkInterfaces"]): boolean {
  if (wanted === undefined) return true;
  const cards = NetworkInfo?.NetworkCards ?? [];
  if (cards.length === 0 || NetworkInfo?.EnaSupport === "unsupported") return false;
  const efaOnly = wanted.filter(({ interfaceType }) => interfaceType === "efa-only").length;
  if (efaOnly > (NetworkInfo?.EfaInfo?.MaximumEfaInterfaces ?? 0)) return false;
  return wanted.every(({ networkCardIndex, deviceIndex }) =>
    cards.some((card) => card.NetworkCardIndex === networkCardIndex && (card.MaximumNetworkInterfaces ?? 0) > deviceIndex),
  );
}
