/** Instance types of the corpora: evenly growing ones, as Karpenter's own benchmark has them, and families like EC2's. */
import { parseResources } from "@joinery/api";
import type { InstanceType, Offering } from "@joinery/scheduling";
import type { Chance } from "./random.ts";

export const ZONES = ["zone-a", "zone-b", "zone-c"];

/** Type i has i CPUs and 2i GiB, spot in two zones and on-demand in three. */
export function growingTypes(count: number): InstanceType[] {
  return Array.from({ length: count }, (_, index) => {
    const size = index + 1;
    const price = 0.1 * size + (0.1 * size * 2 * 2 ** 30) / 1e9;
    const offerings = [
      ...["zone-a", "zone-b"].map((zone) => offering("spot", zone, price)),
      ...ZONES.map((zone) => offering("on-demand", zone, price)),
    ];
    const capacity = { cpu: String(size), memory: `${size * 2}Gi`, pods: String(size * 10) };
    return instanceType({ name: `growing-${index}`, arch: "amd64", capacity, reserved: { cpu: "100m", memory: "10Mi" }, offerings });
  });
}

const SIZES: readonly (readonly [name: string, cpus: number, pods: number])[] = [
  ["large", 2, 29],
  ["xlarge", 4, 58],
  ["2xlarge", 8, 58],
  ["4xlarge", 16, 234],
  ["8xlarge", 32, 234],
  ["12xlarge", 48, 234],
  ["16xlarge", 64, 737],
  ["24xlarge", 96, 737],
];

const FAMILIES: readonly (readonly [name: string, memoryPerCpu: number, usdPerCpu: number, arch: string])[] = [
  ["c6", 2, 0.0425, "amd64"],
  ["m6", 4, 0.048, "amd64"],
  ["r6", 8, 0.063, "amd64"],
  ["c7", 2, 0.0446, "amd64"],
  ["m7", 4, 0.0504, "amd64"],
  ["r7", 8, 0.0661, "amd64"],
  ["c7g", 2, 0.0363, "arm64"],
  ["m7g", 4, 0.0408, "arm64"],
  ["r7g", 8, 0.0536, "arm64"],
];

/** Compute, general and memory families with published-like ratios, prices and reserved memory. */
export function familyTypes({ fraction }: Chance): InstanceType[] {
  return FAMILIES.flatMap(([family, memoryPerCpu, usdPerCpu, arch]) =>
    SIZES.map(([size, cpus, pods]) => {
      const offerings = ZONES.flatMap((zone) => [
        offering("on-demand", zone, usdPerCpu * cpus),
        offering("spot", zone, usdPerCpu * cpus * (0.28 + 0.34 * fraction())),
      ]);
      const memory = cpus * memoryPerCpu;
      const capacity = { cpu: String(cpus), memory: `${memory}Gi`, pods: String(pods), "ephemeral-storage": "20Gi" };
      const reserved = { cpu: `${80 + Math.max(0, cpus - 4) * 3}m`, memory: `${355 + 11 * pods}Mi` };
      return instanceType({ name: `${family}.${size}`, arch, capacity, reserved, offerings });
    }),
  );
}

interface TypeWish {
  readonly name: string;
  readonly arch: string;
  readonly capacity: Record<string, string>;
  readonly reserved: Record<string, string>;
  readonly offerings: readonly Offering[];
}

function instanceType({ name, arch, capacity, reserved, offerings }: TypeWish): InstanceType {
  const offered = (key: string) => [
    ...new Set(offerings.flatMap(({ requirements }) => requirements.find((item) => item.key === key)!.values!)),
  ];
  const label = (key: string, ...values: string[]) => ({ key, operator: "In", values }) as const;
  return {
    name,
    requirements: [
      label("node.kubernetes.io/instance-type", name),
      label("kubernetes.io/arch", arch),
      label("kubernetes.io/os", "linux"),
      label("topology.kubernetes.io/zone", ...offered("topology.kubernetes.io/zone")),
      label("karpenter.sh/capacity-type", ...offered("karpenter.sh/capacity-type")),
    ],
    capacity: parseResources(capacity),
    overhead: { kubeReserved: parseResources(reserved), systemReserved: {}, evictionThreshold: {} },
    offerings,
  };
}

function offering(capacityType: string, zone: string, priceUsdPerHour: number): Offering {
  const label = (key: string, value: string) => ({ key, operator: "In", values: [value] }) as const;
  return {
    requirements: [label("karpenter.sh/capacity-type", capacityType), label("topology.kubernetes.io/zone", zone)],
    priceUsdPerHour,
    isAvailable: true,
  };
}
