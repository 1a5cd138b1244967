import { parseResources } from "@joinery/api";
import { expect, test } from "vitest";
import type { InstanceType, Offering } from "../instance-type.ts";
import { anOffering } from "../testing/builders.ts";
import { allocatableGroups, allocatableOf, isLaunchable } from "./allocatable.ts";

const Gi = 2 ** 30;
const aBareType = (capacity: Record<string, string>, reserved: string, offerings: readonly Offering[] = []): InstanceType => ({
  name: "t",
  requirements: [],
  capacity: parseResources(capacity),
  overhead: { kubeReserved: {}, systemReserved: parseResources({ memory: reserved }), evictionThreshold: {} },
  offerings,
});

test.each([
  { hugePages: { "hugepages-2Mi": "5Gi", "hugepages-1Gi": "10Gi" }, memory: 4 * Gi },
  { hugePages: { "hugepages-1Gi": "60Gi" }, memory: 0 },
])("S-52: huge pages are taken out of memory: $memory left", ({ hugePages, memory }) => {
  expect(allocatableOf(aBareType({ memory: "20Gi", ...(hugePages as Record<string, string>) }, "1Gi")).memory).toBe(memory);
});

test("S-53: an override replaces the amounts it names; equal overrides are one group; unavailable offerings are in none", () => {
  const more = { overheadOverride: parseResources({ memory: "3Gi" }), capacityOverride: { ext: 12 } };
  const offerings = [
    anOffering("on-demand", "z1", 1),
    anOffering("on-demand", "z2", 1, more),
    anOffering("on-demand", "z3", 1, more),
    anOffering("spot", "z1", 1, { isAvailable: false, capacityOverride: { ext: 1 } }),
  ];
  const groups = allocatableGroups(aBareType({ memory: "16Gi" }, "1Gi", offerings));
  expect(groups.map(({ allocatable }) => allocatable)).toEqual([{ memory: 15 * Gi }, { memory: 13 * Gi, ext: 12 }]);
  expect(groups.map((group) => group.offerings.length)).toEqual([1, 2]);
});

test("S-53: the first group is there without offerings", () => {
  expect(allocatableGroups(aBareType({ memory: "16Gi" }, "1Gi"))).toHaveLength(1);
});

test.each([
  { offering: anOffering("reserved", "z1", 1), isLaunchable: false },
  { offering: anOffering("reserved", "z1", 1, { reservationCapacity: 1 }), isLaunchable: true },
  { offering: anOffering("reserved", "z1", 1, { reservationCapacity: 5, isAvailable: false }), isLaunchable: false },
  { offering: anOffering("spot", "z1", 1), isLaunchable: true },
])("V-60: launchable is healthy and with a free slot ($isLaunchable)", ({ offering, isLaunchable: expected }) => {
  expect(isLaunchable(offering)).toBe(expected);
});
