/** What the node keeps for itself, as the EKS images compute it. Rules I-601…I-609. */
import type { Resources } from "@joinery/api";
import type { Overhead } from "@joinery/scheduling";
import type { InstanceTypeInfo } from "../ec2/instance-type-info.ts";
import { eniPods, type MachineSettings, vcpusOf } from "./capacity.ts";
import { NO_KUBELET_SETTINGS, thresholdBytes } from "./kubelet-settings.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** Millicores per thousand millicores of each band (I-601). */
const CPU_BANDS = [
  { from: 0, to: 1000, share: 0.06 },
  { from: 1000, to: 2000, share: 0.01 },
  { from: 2000, to: 4000, share: 0.005 },
  { from: 4000, to: Number.POSITIVE_INFINITY, share: 0.0025 },
] as const;

/** `capacity`: of the type, for thresholds that are a share of it and, where the family counts by it, its pods. */
export function overheadOf(info: InstanceTypeInfo, settings: MachineSettings, capacity: Resources): Overhead {
  const podsMax = settings.family.isMemoryOverheadEniLimited ? eniPods(info, settings, 0) : (capacity.pods ?? 0);
  const { kubeReserved, systemReserved, evictionHard } = settings.kubelet ?? NO_KUBELET_SETTINGS;
  return {
    kubeReserved: { cpu: reservedCpu(vcpusOf(info) * 1000), memory: reservedMemory(podsMax), "ephemeral-storage": GIB, ...kubeReserved },
    systemReserved,
    evictionThreshold: {
      memory: threshold(evictionHard["memory.available"], capacity.memory) ?? 100 * MIB,
      "ephemeral-storage": threshold(evictionHard["nodefs.available"] ?? "10%", capacity["ephemeral-storage"]) ?? 0,
    },
  };
}

/** Millicores of millicores. */
export function reservedCpu(millicores: number): number {
  return CPU_BANDS.reduce((sum, { from, to, share }) => sum + Math.trunc(Math.max(0, Math.min(millicores, to) - from) * share), 0);
}

/** I-602, bytes: the formula of the EKS images. */
function reservedMemory(podsMax: number): number {
  return (11 * podsMax + 255) * MIB;
}

function threshold(text: string | undefined, capacity = 0): number | undefined {
  return text === undefined ? undefined : thresholdBytes(text, capacity);
}
