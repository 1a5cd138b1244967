import type { Ec2NodeClass } from "@joinery/api";
import { describe, expect, test } from "vitest";
import { loadBuiltInCatalogue } from "./built-in.ts";
import { decodeInfo, encodeInfo } from "./columns.ts";
import { loadEc2Catalogue } from "./ec2-catalogue.ts";
import { estimateSpotPrice } from "./spot-model.ts";

describe("the built-in catalogue", () => {
  test("has all types of us-east-1, dated, with sources and with what is not known", async () => {
    const catalogue = await loadEc2Catalogue();
    expect(catalogue.types).toHaveLength(1386);
    expect(catalogue.zones.map(({ name }) => name)).toEqual(["a", "b", "c", "d", "e", "f"].map((zone) => `us-east-1${zone}`));
    expect(catalogue.sources.onDemandPrices.asOf).toBe("2026-07-20");
    expect(catalogue.sources.spotPrices.isEstimated).toBe(true);
    expect(catalogue.sources.onDemandPrices.isEstimated).toBeUndefined();
    expect(catalogue.typesWithoutPrice).toHaveLength(46);
    expect(catalogue.types.filter(({ InstanceType }) => catalogue.onDemandPrice(InstanceType) === undefined)).toHaveLength(46);
  });

  test("sells nothing without a price, nothing that AL2023 cannot boot, and nothing outside of its zones", async () => {
    const { types, typesWithoutPrice } = await loadBuiltInCatalogue();
    const { zonesByType } = await loadEc2Catalogue();
    for (const { name, offerings } of types) {
      const isUnsellable = typesWithoutPrice.includes(name) || name.startsWith("a1.") || (zonesByType.get(name) ?? []).length === 0;
      expect(offerings.length > 0, name).toBe(!isUnsellable);
      expect(offerings.every(({ priceUsdPerHour, isAvailable }) => priceUsdPerHour > 0 && isAvailable)).toBe(true);
    }
  });

  test("a spot offering costs its share of on demand, in each zone another", async () => {
    const { types } = await loadBuiltInCatalogue();
    const m5 = types.find(({ name }) => name === "m5.large");
    const spot =
      m5?.offerings
        .filter(({ requirements }) => requirements.some(({ values }) => values?.[0] === "spot"))
        .map(({ priceUsdPerHour }) => priceUsdPerHour) ?? [];
    expect(spot).toHaveLength(5);
    expect(new Set(spot).size).toBeGreaterThan(3);
    expect(spot.every((price) => price > 0.02 && price < 0.06)).toBe(true);
  });
});

describe("of a node class, a type offers", () => {
  const classOf = (spec: object, status?: object) =>
    ({ spec: { amiSelectorTerms: [{ alias: "al2023@latest" }], ...spec }, ...(status && { status }) }) as unknown as Pick<
      Ec2NodeClass,
      "spec" | "status"
    >;
  const GIB = 2 ** 30;
  const large = { blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: { volumeSize: "200Gi" } }] };

  test.each([
    { rule: "I-403", spec: {}, name: "m5.large", wish: { storage: 20 * GIB } },
    { rule: "I-403", spec: large, name: "m5.large", wish: { storage: 200 * GIB } },
    { rule: "I-403", spec: { instanceStorePolicy: "RAID0" }, name: "m5d.large", wish: { storage: 75e9 } },
    { rule: "I-404", spec: { kubelet: { maxPods: 110 } }, name: "m5.large", wish: { pods: 110 } },
    { rule: "I-404", spec: { kubelet: { maxPods: "50 + 60" } }, name: "m5.large", wish: { pods: 29 } },
    {
      rule: "I-1105",
      spec: { amiSelectorTerms: [{ alias: "windows2022@latest" }] },
      name: "m5.large",
      wish: { os: ["windows"], pods: 110 },
    },
    { rule: "I-803", spec: {}, name: "a1.large", wish: { zones: 0 } },
    { rule: "I-803", spec: { amiSelectorTerms: [{ alias: "bottlerocket@latest" }] }, name: "a1.large", wish: { zones: 3 } },
    { rule: "I-801", spec: {}, status: { subnets: [{ id: "s-1", zone: "us-east-1b" }] }, name: "m5.large", wish: { zones: 1 } },
    { rule: "I-801", spec: {}, status: { subnets: [{ id: "s-1", zone: "eu-west-1b" }] }, name: "m5.large", wish: { zones: 5 } },
  ])("$rule: $wish of $name where it says $spec", async ({ spec, status, name, wish }) => {
    const { typesOf } = await loadBuiltInCatalogue();
    const { capacity, requirements, offerings } = typesOf(classOf(spec, status)).find((type) => type.name === name)!;
    const valuesOf = (items: typeof requirements, label: string) => items.find(({ key }) => key === label)?.values;
    const zones = new Set(offerings.map((offering) => valuesOf(offering.requirements, "topology.kubernetes.io/zone")?.[0])).size;
    const facts = { storage: capacity["ephemeral-storage"], pods: capacity.pods, os: valuesOf(requirements, "kubernetes.io/os"), zones };
    expect(facts).toMatchObject(wish);
  });

  test("the same as of every class that differs in nothing that types depend on", async () => {
    const { types, typesOf } = await loadBuiltInCatalogue();
    expect(typesOf(undefined)).toBe(types);
    expect(typesOf(classOf({ role: "other" }))).toBe(types);
    expect(typesOf(classOf(large))).toBe(typesOf(classOf(large)));
    expect(typesOf(classOf(large))).not.toBe(types);
  });
});

test("the model of spot prices is between a sixth and three quarters of on demand, and repeats", async () => {
  const { types, zones, onDemandPrice } = await loadEc2Catalogue();
  for (const { InstanceType } of types) {
    const price = onDemandPrice(InstanceType);
    if (price === undefined) continue;
    for (const { name } of zones) {
      const share = estimateSpotPrice(InstanceType, name, price) / price;
      expect(share, `${InstanceType} ${name}`).toBeGreaterThan(1 / 6);
      expect(share, `${InstanceType} ${name}`).toBeLessThan(3 / 4);
    }
  }
  expect(estimateSpotPrice("m5.large", "us-east-1a", 0.096)).toBe(estimateSpotPrice("m5.large", "us-east-1a", 0.096));
});

test("columns lose nothing", async () => {
  const { types } = await loadEc2Catalogue();
  const names = types.map(({ InstanceType }) => InstanceType);
  expect(decodeInfo(names, encodeInfo(types))).toEqual(types);
});
