/** An instance type of this provider from its plain facts, with the labels that follow from them (section 8, formats.md). */
import { ARCH_LABEL, formatAmount, INSTANCE_TYPE_LABEL, OS_LABEL, type Resources } from "@joinery/api";
import type { InstanceType, Offering, RequirementItem } from "@joinery/scheduling";
import { INSTANCE_CPU_LABEL, INSTANCE_FAMILY_LABEL, INSTANCE_MEMORY_LABEL, INSTANCE_SIZE_LABEL } from "../labels.ts";

export interface TypeFacts {
  readonly name: string;
  readonly architecture: string;
  readonly operatingSystems: readonly string[];
  readonly capacity: Resources;
  /** What the system keeps for itself. */
  readonly overhead: Resources;
  /** Further single-valued requirements. */
  readonly labels: Readonly<Record<string, string>>;
  readonly offerings: readonly Offering[];
  readonly volumeLimits?: Readonly<Record<string, number>> | undefined;
}

export function instanceTypeOf(facts: TypeFacts): InstanceType {
  const own: Readonly<Record<string, readonly string[]>> = {
    [INSTANCE_TYPE_LABEL]: [facts.name],
    [ARCH_LABEL]: [facts.architecture],
    [OS_LABEL]: facts.operatingSystems,
    [INSTANCE_CPU_LABEL]: [formatAmount("cpu", facts.capacity.cpu ?? 0)],
    [INSTANCE_MEMORY_LABEL]: [formatAmount("memory", facts.capacity.memory ?? 0)],
    [INSTANCE_FAMILY_LABEL]: [familyOf(facts.name)],
    [INSTANCE_SIZE_LABEL]: [sizeOf(facts)],
  };
  const extra = Object.fromEntries(Object.entries(facts.labels).map(([key, value]) => [key, [value]]));
  return {
    name: facts.name,
    requirements: toItems({ ...offeredValues(facts.offerings), ...own, ...extra }),
    capacity: facts.capacity,
    overhead: { kubeReserved: facts.overhead, systemReserved: {}, evictionThreshold: {} },
    offerings: facts.offerings,
    ...(facts.volumeLimits === undefined ? {} : { volumeLimits: facts.volumeLimits }),
  };
}

function familyOf(name: string): string {
  return name.split(/[.-]/, 1)[0] ?? name;
}

function sizeOf({ name, capacity }: TypeFacts): string {
  const [, size] = /^[^.]+\.([^.]+)$/.exec(name) ?? [];
  return size ?? formatAmount("cpu", capacity.cpu ?? 0);
}

/** Zones, capacity types and whatever else the offerings tell apart: all values of each key. */
function offeredValues(offerings: readonly Offering[]): Record<string, readonly string[]> {
  const values = new Map<string, Set<string>>();
  for (const requirement of offerings.flatMap((offering) => offering.requirements)) {
    if (requirement.operator !== "In") continue;
    const known = values.get(requirement.key) ?? new Set();
    for (const value of requirement.values ?? []) known.add(value);
    values.set(requirement.key, known);
  }
  return Object.fromEntries([...values].map(([key, set]) => [key, [...set].sort()]));
}

function toItems(values: Readonly<Record<string, readonly string[]>>): RequirementItem[] {
  return Object.entries(values)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, list]) => ({ key, operator: "In", values: list }));
}
