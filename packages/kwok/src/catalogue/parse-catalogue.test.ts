import { describe, expect, test } from "vitest";
import { builtInKwokCatalogue } from "./built-in.ts";
import { formatCatalogueFault, parseCatalogue } from "./parse-catalogue.ts";

const requirements = [
  { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
  { key: "topology.kubernetes.io/zone", operator: "In", values: ["us-east-1a"] },
];
const anOffering = (changes: object = {}) => ({ Price: 0.192, Available: true, Requirements: requirements, ...changes });
const aType = (changes: object = {}) => ({
  name: "m-4x",
  architecture: "amd64",
  operatingSystems: ["linux"],
  resources: { cpu: "4", memory: "16Gi" },
  offerings: [anOffering()],
  ...changes,
});

function types(json: unknown) {
  const outcome = parseCatalogue(json);
  if (outcome.kind === "invalid") throw new Error(outcome.faults.map(formatCatalogueFault).join("\n"));
  return outcome.types;
}

describe("a catalogue file", () => {
  test("gives types with derived labels and defaults", () => {
    const [type] = types([aType()]);
    expect(type).toMatchObject({ name: "m-4x", capacity: { cpu: 4000, memory: 16 * 2 ** 30, pods: 110 } });
    const values = Object.fromEntries((type?.requirements ?? []).map(({ key, values }) => [key, values]));
    expect(values).toEqual({
      "karpenter.kwok.sh/instance-cpu": ["4"],
      "karpenter.kwok.sh/instance-family": ["m"],
      "karpenter.kwok.sh/instance-memory": ["16Gi"],
      "karpenter.kwok.sh/instance-size": ["4"],
      "karpenter.sh/capacity-type": ["on-demand"],
      "kubernetes.io/arch": ["amd64"],
      "kubernetes.io/os": ["linux"],
      "node.kubernetes.io/instance-type": ["m-4x"],
      "topology.kubernetes.io/zone": ["us-east-1a"],
    });
    expect(type?.offerings).toEqual([{ requirements, priceUsdPerHour: 0.192, isAvailable: true }]);
  });

  test.each([
    { name: "m5.2xlarge", family: "m5", size: "2xlarge" },
    { name: "c-4x-amd64-linux", family: "c", size: "4" },
    { name: "box", family: "box", size: "4" },
  ])("$name is of family $family and size $size", ({ name, family, size }) => {
    const [type] = types([aType({ name })]);
    const value = (key: string) => type?.requirements.find((item) => item.key === key)?.values?.[0];
    expect([value("karpenter.kwok.sh/instance-family"), value("karpenter.kwok.sh/instance-size")]).toEqual([family, size]);
  });

  test("takes labels, overhead and volume limits (V-70)", () => {
    const [type] = types([
      aType({ labels: { "example.com/rack": "r1" }, overhead: { cpu: "100m", memory: "255Mi" }, volumeLimits: { "ebs.csi.aws.com": 25 } }),
    ]);
    expect(type?.requirements).toContainEqual({ key: "example.com/rack", operator: "In", values: ["r1"] });
    expect(type?.overhead.kubeReserved).toEqual({ cpu: 100, memory: 255 * 2 ** 20 });
    expect(type?.volumeLimits).toEqual({ "ebs.csi.aws.com": 25 });
  });

  test("keeps the slots of a reserved offering (V-60)", () => {
    const reserved = [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["reserved"] }, requirements[1]];
    const [type] = types([aType({ offerings: [anOffering({ ReservationCapacity: 3, Requirements: reserved })] })]);
    expect(type?.offerings[0]?.reservationCapacity).toBe(3);
  });
});

test.each([
  { json: {}, fault: "wrong-type", path: "" },
  { json: [1], fault: "wrong-type", path: "[0]" },
  { json: [aType({ name: 5 })], fault: "wrong-type", path: "[0].name" },
  { json: [aType({ resources: { cpu: "4x", memory: "1Gi" } })], fault: "bad-quantity", path: "[0].resources.cpu" },
  { json: [aType({ resources: { cpu: "-4", memory: "1Gi" } })], fault: "bad-quantity", path: "[0].resources.cpu" },
  { json: [aType({ resources: { cpu: "4" } })], fault: "missing", path: "[0].resources.memory" },
  { json: [aType({ offerings: undefined })], fault: "missing", path: "[0].offerings" },
  { json: [aType({ offerings: [anOffering({ Price: "x" })] })], fault: "wrong-type", path: "[0].offerings[0].Price" },
  { json: [aType({ offerings: [anOffering({ Price: -1 })] })], fault: "out-of-range", path: "[0].offerings[0].Price" },
  { json: [aType({ offerings: [anOffering({ price: 1 })] })], fault: "unknown-field", path: "[0].offerings[0].price" },
  {
    json: [aType({ offerings: [anOffering({ Requirements: [requirements[0]] })] })],
    fault: "missing",
    path: "[0].offerings[0].Requirements",
  },
  {
    json: [aType({ offerings: [anOffering({ Requirements: [...requirements, { key: "a", operator: "Gt", values: ["1"] }] })] })],
    fault: "bad-requirement",
    path: "[0].offerings[0].Requirements[2].operator",
  },
  { json: [aType(), aType()], fault: "duplicate", path: "[1].name" },
  { json: [aType({ labels: { "a.b/c": 1 } })], fault: "wrong-type", path: '[0].labels["a.b/c"]' },
])("$fault at $path", ({ json, fault, path }) => {
  expect(parseCatalogue(json)).toMatchObject({ kind: "invalid", faults: [{ code: fault, path }] });
});

test("the built-in catalogue: three families, nine sizes, two architectures, four zones", () => {
  const catalogue = builtInKwokCatalogue();
  expect(catalogue).toHaveLength(54);
  expect(new Set(catalogue.map(({ name }) => name)).size).toBe(54);
  expect(catalogue.every(({ offerings }) => offerings.length === 8)).toBe(true);
  expect(catalogue.every(({ offerings }) => offerings.every(({ priceUsdPerHour }) => priceUsdPerHour > 0))).toBe(true);
});
