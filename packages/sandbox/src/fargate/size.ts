/** How big a micro-VM Fargate makes for a pod. Rules F-52…F-57. */
import type { Pod, Resources } from "@joinery/api";
import { maxResources, parseResources, sumResources } from "@joinery/api";

export interface FargateSize {
  readonly millicores: number;
  readonly memoryMebibytes: number;
}

export type FargateSizing =
  | { readonly kind: "fits"; readonly size: FargateSize }
  | { readonly kind: "too-big"; readonly millicores: number; readonly memoryMebibytes: number };

const GIBIBYTE_MEBIBYTES = 1024;
/** F-54: kubelet, kube-proxy and containerd. */
const SYSTEM_MEBIBYTES = 256;

/** F-58. */
const STORAGE_MAX_BYTES = 175 * 1024 ** 3;

/** F-52: vCPU, then the memory sizes in GB. */
const COMBINATIONS: readonly (readonly [number, readonly number[]])[] = [
  [0.25, [0.5, 1, 2]],
  [0.5, range(1, 4, 1)],
  [1, range(2, 8, 1)],
  [2, range(4, 16, 1)],
  [4, range(8, 30, 1)],
  [8, range(16, 60, 4)],
  [16, range(32, 120, 8)],
];

/** The smallest combination that covers the pod. F-53: the larger of the largest init container and the sum of the others. */
export function fargateSize({ spec }: Pod): FargateSizing {
  const running = sumResources(...spec.containers.map((container) => parseResources(container.resources?.requests)));
  const starting = maxResources(...(spec.initContainers ?? []).map((container) => parseResources(container.resources?.requests)));
  const need: Resources = maxResources(running, starting);
  const millicores = need.cpu ?? 0;
  const memoryMebibytes = Math.ceil((need.memory ?? 0) / (1024 * 1024)) + SYSTEM_MEBIBYTES;
  if ((need["ephemeral-storage"] ?? 0) > STORAGE_MAX_BYTES) {
    return { kind: "too-big", millicores, memoryMebibytes };
  }
  for (const [vcpus, sizes] of COMBINATIONS) {
    const gigabytes = sizes.find((size) => size * GIBIBYTE_MEBIBYTES >= memoryMebibytes);
    if (vcpus * 1000 >= millicores && gigabytes !== undefined) {
      return { kind: "fits", size: { millicores: vcpus * 1000, memoryMebibytes: gigabytes * GIBIBYTE_MEBIBYTES } };
    }
  }
  return { kind: "too-big", millicores, memoryMebibytes };
}

/** F-56: as the annotation `CapacityProvisioned` says it. */
export function capacityText({ millicores, memoryMebibytes }: FargateSize): string {
  return `${millicores / 1000}vCPU ${memoryMebibytes / GIBIBYTE_MEBIBYTES}GB`;
}

function range(from: number, to: number, step: number): readonly number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, at) => from + at * step);
}
