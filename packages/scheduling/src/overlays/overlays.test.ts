import { CORE_VOCABULARY, type NodeOverlay } from "@joinery/api";
import { expect, test } from "vitest";
import type { InstanceType } from "../instance-type.ts";
import { toNodeClaim } from "../plan/node-claim.ts";
import type { PoolOffer } from "../problem.ts";
import { solve } from "../solve/solve.ts";
import { anOffering, aPod, aPool, aProblem, aType } from "../testing/builders.ts";
import { evaluateOverlays } from "./evaluate-overlays.ts";

const ZONE = "topology.kubernetes.io/zone";
const type = (name: string, more: Partial<Parameters<typeof aType>[0]> = {}): InstanceType =>
  aType({
    name,
    cpu: 2,
    memory: "4Gi",
    offerings: ["zone-2", "zone-3", "zone-4"].map((zone) => anOffering("on-demand", zone, 1.02)),
    ...more,
  });

function overlay(name: string, spec: Partial<NodeOverlay["spec"]>): NodeOverlay {
  return { metadata: { name }, spec: { requirements: [], ...spec } as NodeOverlay["spec"] };
}

function evaluated(overlays: readonly NodeOverlay[], offers: readonly PoolOffer[] = [{ nodePool: aPool(), instanceTypes: [type("t")] }]) {
  const { verdicts, overlays: set } = evaluateOverlays(overlays, offers, CORE_VOCABULARY);
  const kinds = Object.fromEntries(Array.from(verdicts, ([name, { kind }]) => [name, kind]));
  return { kinds, verdicts, types: offers.map(({ nodePool, instanceTypes }) => set.typesFor(nodePool, instanceTypes)) };
}

const pricesOf = ({ offerings }: InstanceType) => offerings.map(({ priceUsdPerHour }) => priceUsdPerHour);
const inZones = (...values: string[]): NodeOverlay["spec"]["requirements"] => [{ key: ZONE, operator: "In", values }];

test("L-242: the heavier overlay prices its zone, the lighter one what is left", () => {
  const { kinds, types } = evaluated([
    overlay("b", { weight: 10, price: "165.421", requirements: inZones("zone-2", "zone-4") }),
    overlay("a", { weight: 20, price: "121.421", requirements: inZones("zone-2") }),
  ]);
  expect(kinds).toEqual({ a: "valid", b: "valid" });
  expect(pricesOf(types[0]![0]!)).toEqual([121.421, 1.02, 165.421]);
});

test("L-243, L-258, A-54: of two of one weight the earlier name conflicts, and is applied nowhere", () => {
  const offers = [
    { nodePool: aPool({ name: "one", labels: { team: "a" } }), instanceTypes: [type("t")] },
    { nodePool: aPool({ name: "two" }), instanceTypes: [type("t")] },
  ];
  const ofTeam: NodeOverlay["spec"]["requirements"] = [{ key: "team", operator: "In", values: ["a"] }];
  const { kinds, verdicts, types } = evaluated(
    [overlay("overlay-a", { weight: 10, price: "7" }), overlay("overlay-b", { weight: 10, price: "7", requirements: ofTeam })],
    offers,
  );
  expect(kinds).toEqual({ "overlay-b": "valid", "overlay-a": "conflict" });
  expect(verdicts.get("overlay-a")).toMatchObject({ other: "overlay-b", nodePool: "one", instanceType: "t", about: "price" });
  expect(pricesOf(types[0]![0]!)).toEqual([7, 7, 7]);
  expect(pricesOf(types[1]![0]!)).toEqual([1.02, 1.02, 1.02]);
});

test.each([
  ["13234.223", 13_234.223],
  ["+1000", 1001.02],
  ["-0.5", 0.52],
  ["-4", 0],
  ["+10%", 1.122],
  ["-100%", 0],
  ["-150%", 0],
])("L-239: 1.02 with %s is %f", (text, price) => {
  const isAdjustment = /^[+-]/.test(text);
  const { types } = evaluated([overlay("o", isAdjustment ? { priceAdjustment: text } : { price: text })]);
  for (const found of pricesOf(types[0]![0]!)) expect(found).toBeCloseTo(price, 9);
});

test("L-232: the heaviest alone prices an offering, and what adjusts starts from the provider's price", () => {
  const { kinds, types } = evaluated([
    overlay("heavy", { weight: 3, priceAdjustment: "+1", requirements: inZones("zone-2") }),
    overlay("middle", { weight: 2, price: "7", requirements: inZones("zone-2", "zone-3") }),
    overlay("light", { priceAdjustment: "+1" }),
  ]);
  expect(kinds).toEqual({ heavy: "valid", middle: "valid", light: "valid" });
  expect(pricesOf(types[0]![0]!)).toEqual([2.02, 7, 2.02]);
});

test("L-229: a conflict about one type keeps the whole overlay out, its other types and its capacity too", () => {
  const ofType = (...values: string[]): NodeOverlay["spec"]["requirements"] => [
    { key: "node.kubernetes.io/instance-type", operator: "In", values },
  ];
  const offers = [{ nodePool: aPool(), instanceTypes: [type("a"), type("b")] }];
  const { kinds, types } = evaluated(
    [overlay("z", { price: "5", requirements: ofType("a") }), overlay("y", { price: "6", capacity: { gpu: "1" } })],
    offers,
  );
  expect(kinds).toEqual({ z: "valid", y: "conflict" });
  const [a, b] = types[0]!;
  expect([pricesOf(a!)[0], pricesOf(b!)[0]]).toEqual([5, 1.02]);
  expect([a!.capacity.gpu, b!.capacity.gpu]).toEqual([undefined, undefined]);
});

test.each<{ what: string; spec: Partial<NodeOverlay["spec"]>; price: number; gpu: number | undefined }>([
  { what: "price and capacity", spec: { price: "3", capacity: { gpu: "2" } }, price: 3, gpu: 2 },
  { what: "nothing", spec: {}, price: 1.02, gpu: undefined },
])("L-234: an overlay of $what is valid", ({ spec, price, gpu }) => {
  const { kinds, types } = evaluated([overlay("o", spec)]);
  expect(kinds).toEqual({ o: "valid" });
  expect(pricesOf(types[0]![0]!)).toEqual([price, price, price]);
  expect(types[0]![0]!.capacity.gpu).toBe(gpu);
});

test("L-253: two light ones under a heavier one conflict all the same", () => {
  const { kinds, types } = evaluated([
    overlay("z", { weight: 5, price: "1" }),
    overlay("y", { price: "2" }),
    overlay("x", { priceAdjustment: "-1%" }),
  ]);
  expect(kinds).toEqual({ z: "valid", y: "valid", x: "conflict" });
  expect(pricesOf(types[0]![0]!)).toEqual([1, 1, 1]);
});

test.each<{ rule: string; sets: readonly Record<string, string>[]; expected: readonly string[] }>([
  { rule: "L-231: disjoint resources do not conflict", sets: [{ fuse: "1" }, { gpu: "2" }], expected: ["valid", "valid"] },
  { rule: "L-231: equal amounts conflict", sets: [{ gpu: "2" }, { gpu: "2" }], expected: ["valid", "conflict"] },
  {
    rule: "L-252: every earlier one is remembered",
    sets: [{ gpu: "2" }, { fpga: "1" }, { gpu: "3" }],
    expected: ["valid", "valid", "conflict"],
  },
])("$rule", ({ sets, expected }) => {
  const names = ["z", "y", "x"];
  const { verdicts } = evaluated(sets.map((capacity, at) => overlay(names[at]!, { capacity })));
  expect(sets.map((_, at) => verdicts.get(names[at]!)?.kind)).toEqual(expected);
});

test("L-233, L-240: capacities of several overlays add up by resource, the heaviest decides; huge pages cost memory", () => {
  const [type0] = evaluated([
    overlay("heavy", { weight: 2, capacity: { gpu: "4" } }),
    overlay("light", { capacity: { gpu: "1", "hugepages-2Mi": "1Gi" } }),
  ]).types[0]!;
  expect(type0!.capacity).toMatchObject({ gpu: 4, "hugepages-2Mi": 2 ** 30 });
  const plan = (memory: string) =>
    solve(aProblem({ pods: [aPod({ requests: { gpu: 3, memory } })], types: [type0!] })).unschedulable.length;
  expect([plan("2Gi"), plan("3Gi")]).toEqual([0, 1]);
});

test.each([
  { rule: "A-106", spec: { capacity: { memory: "1Gi" } }, path: ["spec", "capacity", "memory"] },
  { rule: "A-105", spec: { requirements: [{ key: ZONE, operator: "NotIn", values: [] }] }, path: ["spec", "requirements", 0, "values"] },
] as const)("L-227, $rule: what is wrong at run time is left out and told", ({ spec, path }) => {
  const { verdicts, types } = evaluated([overlay("wrong", { price: "5", ...(spec as object) })]);
  expect(verdicts.get("wrong")).toMatchObject({ kind: "invalid", invalid: [{ path }] });
  expect(pricesOf(types[0]![0]!)).toEqual([1.02, 1.02, 1.02]);
});

test.each([
  { rule: "a key that neither defines is not there", requirements: [{ key: "team", operator: "In", values: ["a"] }], isMeant: false },
  { rule: "unless its absence will do", requirements: [{ key: "team", operator: "NotIn", values: ["a"] }], isMeant: true },
  { rule: "the pool's own requirements do not count", requirements: [{ key: "tier", operator: "Exists" }], isMeant: false },
  { rule: "its labels do", requirements: [{ key: "role", operator: "In", values: ["db"] }], isMeant: true },
  { rule: "and its name", requirements: [{ key: "karpenter.sh/nodepool", operator: "In", values: ["default"] }], isMeant: true },
  {
    rule: "an offering must be left",
    requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] }],
    isMeant: false,
  },
] as const)("L-228: $rule", ({ requirements, isMeant }) => {
  const nodePool = aPool({ labels: { role: "db" }, requirements: [{ key: "tier", operator: "In", values: ["x"] }] });
  const given = [type("t")];
  const { types } = evaluated(
    [overlay("o", { price: "9", requirements: [...requirements] as never })],
    [{ nodePool, instanceTypes: given }],
  );
  expect(pricesOf(types[0]![0]!)[0]).toBe(isMeant ? 9 : 1.02);
  if (!isMeant) expect(types[0]).toBe(given);
});

test("L-241, L-254, V-76: given objects stay as they are; volume limits and what offerings change of capacity are kept", () => {
  const changed = anOffering("on-demand", "zone-2", 1, { capacityOverride: { ext: 4 }, isAvailable: false });
  const given = [type("a", { offerings: [changed], volumeLimits: { d: 3 } }), type("b")];
  const before = JSON.stringify(given);
  const ofA: NodeOverlay["spec"]["requirements"] = [{ key: "node.kubernetes.io/instance-type", operator: "In", values: ["a"] }];
  const { types } = evaluated([overlay("o", { price: "2", requirements: ofA })], [{ nodePool: aPool(), instanceTypes: given }]);
  expect(JSON.stringify(given)).toBe(before);
  expect(types[0]![1]).toBe(given[1]);
  expect(types[0]![0]).toMatchObject({ volumeLimits: { d: 3 }, offerings: [{ priceUsdPerHour: 2, capacityOverride: { ext: 4 } }] });
});

test("pools that no overlay tells apart share one list", () => {
  const instanceTypes = [type("t")];
  const offers = ["a", "b", "c"].map((name) => ({ nodePool: aPool({ name }), instanceTypes }));
  const { types } = evaluated([overlay("o", { price: "2" })], offers);
  expect(types[1]).toBe(types[0]);
  expect(types[2]).toBe(types[0]);
  const ofB: NodeOverlay["spec"]["requirements"] = [{ key: "karpenter.sh/nodepool", operator: "In", values: ["b"] }];
  const apart = evaluated([overlay("o", { price: "2", requirements: ofB })], offers).types;
  expect(apart.map(([first]) => pricesOf(first!)[0])).toEqual([1.02, 2, 1.02]);
});

test("S-183, S-204: the plan goes by overlaid prices, and the NodeClaim says so", () => {
  const given = [
    type("cheap", { offerings: [anOffering("on-demand", "zone-2", 1)] }),
    type("dear", { offerings: [anOffering("on-demand", "zone-2", 2)] }),
  ];
  const ofCheap: NodeOverlay["spec"]["requirements"] = [{ key: "node.kubernetes.io/instance-type", operator: "In", values: ["cheap"] }];
  const [types] = evaluated(
    [overlay("o", { priceAdjustment: "+200%", requirements: ofCheap })],
    [{ nodePool: aPool(), instanceTypes: given }],
  ).types;
  const [node] = solve(aProblem({ types: types! })).newNodes;
  expect(node!.instanceTypes.map(({ name }) => name)).toEqual(["dear", "cheap"]);
  expect(node!.cheapest).toMatchObject({ instanceType: "dear", priceUsdPerHour: 2 });
  const { annotations } = toNodeClaim(node!).metadata!;
  expect(annotations).toMatchObject({ "karpenter.sh/price-overlay-applied": "true" });
  expect(annotations).not.toHaveProperty("karpenter.sh/capacity-overlay-applied");
});
