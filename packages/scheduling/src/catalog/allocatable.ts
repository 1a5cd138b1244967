/** What pods can have of an instance type, for each way in which its offerings alter it. Rules S-52, S-53. */
import { type Resources, subtractResources, sumResources } from "@joinery/api";
import type { InstanceType, Offering } from "../instance-type.ts";

/** S-53: offerings that leave the same allocatable resources. */
export interface AllocatableGroup {
  readonly allocatable: Resources;
  readonly offerings: readonly Offering[];
}

/** S-52: capacity minus everything that is reserved; huge pages are taken out of memory. */
export function allocatableOf({ capacity, overhead }: InstanceType): Resources {
  return allocatable(capacity, totalOverhead(overhead));
}

/** The first group is the type as such; then one per distinct override, in the order of the offerings. */
export function allocatableGroups(type: InstanceType): readonly AllocatableGroup[] {
  const { offerings } = type;
  const available = offerings.every(isAvailableOffering) ? offerings : offerings.filter(isAvailableOffering);
  if (!available.some(hasOverride)) return [{ allocatable: allocatableOf(type), offerings: available }];
  const plain = available.filter((offering) => !hasOverride(offering));
  const overridden = Map.groupBy(available.filter(hasOverride), overrideKey);
  return [
    { allocatable: allocatableOf(type), offerings: plain },
    ...Array.from(overridden.values(), (group) => ({ allocatable: overriddenAllocatable(type, group[0]!), offerings: group })),
  ];
}

/** V-60: a full reservation is available, but nothing can be launched from it. */
export function isLaunchable({ isAvailable, requirements, reservationCapacity }: Offering): boolean {
  if (!isAvailable) return false;
  return (
    (reservationCapacity ?? 0) > 0 ||
    !requirements.some(({ key, values }) => key === "karpenter.sh/capacity-type" && values?.[0] === "reserved")
  );
}

function overriddenAllocatable({ capacity, overhead }: InstanceType, { capacityOverride, overheadOverride }: Offering): Resources {
  return allocatable({ ...capacity, ...capacityOverride }, { ...totalOverhead(overhead), ...overheadOverride });
}

function totalOverhead({ kubeReserved, systemReserved, evictionThreshold }: InstanceType["overhead"]): Resources {
  return sumResources(kubeReserved, systemReserved, evictionThreshold);
}

function allocatable(capacity: Resources, overhead: Resources): Resources {
  const rest = subtractResources(capacity, overhead);
  let hugePages = 0;
  for (const name in capacity) if (name.startsWith("hugepages-")) hugePages += capacity[name]!;
  return hugePages === 0 || rest.memory === undefined ? rest : { ...rest, memory: Math.max(0, rest.memory - hugePages) };
}

function isAvailableOffering({ isAvailable }: Offering): boolean {
  return isAvailable;
}

function hasOverride({ capacityOverride, overheadOverride }: Offering): boolean {
  return capacityOverride !== undefined || overheadOverride !== undefined;
}

function overrideKey({ capacityOverride, overheadOverride }: Offering): string {
  return JSON.stringify([sortedAmounts(capacityOverride), sortedAmounts(overheadOverride)]);
}

function sortedAmounts(resources: Resources | undefined): [string, number][] {
  return Object.entries(resources ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
}
