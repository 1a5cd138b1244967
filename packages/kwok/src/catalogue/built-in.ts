/**
 * What this provider sells without a file: families `c`, `s`, `m` (2, 4, 8 GiB per vCPU), sizes from 1 to 256 vCPU by doubling, both
 * architectures, four zones, spot and on demand. The shape follows Karpenter's KWOK provider; names and prices are ours.
 */
import { CAPACITY_TYPE_LABEL, ZONE_LABEL } from "@joinery/api";
import type { InstanceType, Offering } from "@joinery/scheduling";
import { instanceTypeOf } from "./instance-type-of.ts";

const GIB = 2 ** 30;
const FAMILIES = [
  { family: "c", memoryGibPerCpu: 2 },
  { family: "s", memoryGibPerCpu: 4 },
  { family: "m", memoryGibPerCpu: 8 },
] as const;
const CPU_COUNTS = [1, 2, 4, 8, 16, 32, 64, 128, 256] as const;
const ARCHITECTURES = ["amd64", "arm64"] as const;
export const BUILT_IN_ZONES = ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"] as const;

/** Fitted to general purpose machines of large clouds: 2 vCPU with 8 GiB cost 0.096 USD. */
const USD_PER_CPU_HOUR = 0.032;
const USD_PER_GIB_HOUR = 0.004;
const ARM_SHARE = 0.8;
const SPOT_SHARE = 0.4;
const PODS_PER_CPU = 16;
const PODS_MAX = 1024;

/** All families in all sizes and architectures, in every built-in zone, on demand and as spot. */
export function builtInKwokCatalogue(): readonly InstanceType[] {
  return FAMILIES.flatMap(({ family, memoryGibPerCpu }) =>
    CPU_COUNTS.flatMap((cpus) =>
      ARCHITECTURES.map((architecture) => sell({ family, cpus, memoryGib: cpus * memoryGibPerCpu, architecture })),
    ),
  );
}

interface Model {
  readonly family: string;
  readonly cpus: number;
  readonly memoryGib: number;
  readonly architecture: (typeof ARCHITECTURES)[number];
}

function sell({ family, cpus, memoryGib, architecture }: Model): InstanceType {
  const price = (cpus * USD_PER_CPU_HOUR + memoryGib * USD_PER_GIB_HOUR) * (architecture === "arm64" ? ARM_SHARE : 1);
  return instanceTypeOf({
    name: `${family}-${cpus}x-${architecture}-linux`,
    architecture,
    operatingSystems: ["linux"],
    capacity: { cpu: cpus * 1000, memory: memoryGib * GIB, "ephemeral-storage": 20 * GIB, pods: Math.min(cpus * PODS_PER_CPU, PODS_MAX) },
    overhead: {},
    labels: {},
    offerings: BUILT_IN_ZONES.flatMap((zone) => [offer(zone, "on-demand", price), offer(zone, "spot", price * SPOT_SHARE)]),
  });
}

function offer(zone: string, capacityType: string, price: number): Offering {
  return {
    requirements: [
      { key: CAPACITY_TYPE_LABEL, operator: "In", values: [capacityType] },
      { key: ZONE_LABEL, operator: "In", values: [zone] },
    ],
    priceUsdPerHour: Math.round(price * 1e6) / 1e6,
    isAvailable: true,
  };
}
