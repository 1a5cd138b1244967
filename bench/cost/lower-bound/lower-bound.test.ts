import { CAPACITY_TYPE_LABEL } from "@joinery/api";
import { type InstanceType, isLaunchable, type Problem, solve } from "@joinery/scheduling";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  aDaemonSet,
  aNode,
  anOffering,
  aPool,
  aProblem,
  aType,
  type PodWish,
  pods,
} from "../../../packages/scheduling/src/testing/builders.ts";
import { anyProblem, sociableProblem } from "../../../packages/scheduling/src/testing/random-problems.ts";
import { lowerBoundUsdPerHour } from "./lower-bound.ts";

const WEB: PodWish = {
  labels: { app: "web" },
  spec: {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "topology.kubernetes.io/zone",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: { app: "web" } },
      },
    ],
  },
};
const small = (price: number) =>
  aType({
    name: "small",
    cpu: 2.1,
    memory: "4Gi",
    pods: 100,
    offerings: [anOffering("spot", "z1", price), anOffering("on-demand", "z2", 3 * price)],
  });
const large = (price: number) =>
  aType({ name: "large", cpu: 8.1, memory: "16Gi", pods: 100, offerings: [anOffering("spot", "z1", price)] });
const gpu = aType({
  name: "gpu",
  cpu: 8.1,
  memory: "64Gi",
  pods: 100,
  resources: { "vendor-a": 2 },
  offerings: [anOffering("on-demand", "z1", 50)],
});

describe("the bound", () => {
  test.each<{ what: string; problem: Parameters<typeof aProblem>[0]; usdPerHour: number }>([
    { what: "buys parts of nodes", problem: { pods: pods(3, { requests: { cpu: "1" } }), types: [small(1)] }, usdPerHour: 1.5 },
    {
      what: "takes the type with the most for the money",
      problem: { pods: pods(4, { requests: { cpu: "1" } }), types: [small(1), large(3)] },
      usdPerHour: 1.5,
    },
    {
      what: "puts no pod where not even one has room",
      problem: { pods: pods(4, { requests: { cpu: "4" } }), types: [small(1), large(8)] },
      usdPerHour: 16,
    },
    {
      what: "keeps to selectors",
      problem: {
        pods: pods(2, { requests: { cpu: "1" }, nodeSelector: { "karpenter.sh/capacity-type": "on-demand" } }),
        types: [small(1)],
      },
      usdPerHour: 3,
    },
    {
      what: "keeps to taints",
      problem: {
        pods: pods(2, { requests: { cpu: "1" } }),
        pools: [
          aPool({ name: "tainted", taints: [{ key: "t", effect: "NoSchedule" }] }),
          aPool({ name: "od", requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }] }),
        ],
        types: [small(1)],
      },
      usdPerHour: 3,
    },
    {
      what: "lets pods without a GPU ride where GPUs are paid for",
      problem: {
        pods: [...pods(2, { requests: { cpu: "1", "vendor-a": 1 } }), ...pods(6, { name: "plain", requests: { cpu: "1" } })],
        types: [small(1), gpu],
      },
      usdPerHour: 50,
    },
    {
      what: "leaves DaemonSets their share",
      problem: { pods: pods(2, { requests: { cpu: "1" } }), types: [small(1)], daemonSets: [aDaemonSet({ requests: { cpu: "1" } })] },
      usdPerHour: 2,
    },
    {
      what: "fills what is there",
      problem: {
        pods: pods(4, { requests: { cpu: "1" } }),
        types: [small(1)],
        nodes: [aNode({ name: "n", allocatable: { cpu: 3, memory: "9Gi", pods: 9 } })],
      },
      usdPerHour: 0.5,
    },
    {
      what: "spreads over zones",
      problem: { pods: pods(8, { ...WEB, requests: { cpu: "1" } }), types: [small(1)] },
      usdPerHour: 4 * 0.5 + 4 * 1.5,
    },
    {
      what: "spreads as unevenly as the skew allows",
      problem: { pods: pods(9, { ...WEB, requests: { cpu: "1" } }), types: [small(1)] },
      usdPerHour: 5 * 0.5 + 4 * 1.5,
    },
  ])("$what", async ({ problem, usdPerHour }) => {
    expect(await lowerBoundUsdPerHour(aProblem(problem))).toBeCloseTo(usdPerHour, 6);
  });
});

describe("the bound of plans with a choice of two spot types", () => {
  test.each<{ what: string; problem: Parameters<typeof aProblem>[0]; usdPerHour: number }>([
    {
      what: "uses no more of a large node than the next one has",
      problem: { pods: pods(4, { requests: { cpu: "1" } }), types: [small(5), large(4)] },
      usdPerHour: 2 * 4,
    },
    {
      what: "uses all of it where a pod fits nothing else",
      problem: {
        pods: [...pods(1, { requests: { cpu: "4" } }), ...pods(4, { name: "small", requests: { cpu: "1" } })],
        types: [small(9), large(4)],
      },
      usdPerHour: 4,
    },
    {
      what: "does not limit what such a pod is not beside",
      problem: {
        pods: [...pods(1, { requests: { cpu: "8" } }), ...pods(4, { name: "small", requests: { cpu: "1" } })],
        types: [small(3), large(4)],
      },
      usdPerHour: 4 + (4 / 2) * 3,
    },
    {
      what: "leaves on-demand as it is",
      problem: {
        pods: pods(4, { requests: { cpu: "1" }, nodeSelector: { "karpenter.sh/capacity-type": "on-demand" } }),
        types: [small(1), large(1)],
      },
      usdPerHour: 6,
    },
  ])("$what", async ({ problem, usdPerHour }) => {
    expect(await lowerBoundUsdPerHour(aProblem(problem), { spotTypesMin: 2 })).toBeCloseTo(usdPerHour, 6);
  });
});

describe("the bound with a charge for each node", () => {
  test.each<{ what: string; problem: Parameters<typeof aProblem>[0]; charge: number; usdPerHour: number }>([
    {
      what: "pays for parts of nodes",
      problem: { pods: pods(3, { requests: { cpu: "1" } }), types: [small(1)] },
      charge: 2,
      usdPerHour: 4.5,
    },
    {
      what: "takes fewer and dearer nodes for it",
      problem: { pods: pods(8, { requests: { cpu: "1" } }), types: [small(1), large(5)] },
      charge: 2,
      usdPerHour: 5 + 2,
    },
    {
      what: "does not pay for nodes that exist",
      problem: {
        pods: pods(4, { requests: { cpu: "1" } }),
        types: [small(1)],
        nodes: [aNode({ name: "n", allocatable: { cpu: 3, memory: "9Gi", pods: 9 } })],
      },
      charge: 2,
      usdPerHour: 0.5 + 1,
    },
  ])("$what", async ({ problem, charge, usdPerHour }) => {
    expect(await lowerBoundUsdPerHour(aProblem(problem), { nodeChargeUsdPerHour: charge })).toBeCloseTo(usdPerHour, 6);
  });
});

test("no plan that places these pods costs less", async () => {
  await fc.assert(fc.asyncProperty(anyProblem, holdsForOurPlan), { numRuns: 200 });
  await fc.assert(fc.asyncProperty(sociableProblem, holdsForOurPlan), { numRuns: 200 });
});

test("a plan that lists a type to be had on demand alone keeps to the bound of plans with fewer spot types", async () => {
  const typeOf = (name: string, podsMax: number, capacityType: string, price: number) =>
    aType({ name, cpu: 4, memory: "8Gi", pods: podsMax, offerings: [anOffering(capacityType, "z1", price)] });
  const types = [
    typeOf("on-demand", 4, "on-demand", 2),
    typeOf("spot-a", 4, "spot", 1),
    typeOf("spot-b", 4, "spot", 1),
    typeOf("spot-c", 1, "spot", 1),
  ];
  const pool = aPool({ requirements: [{ key: "node.kubernetes.io/instance-type", operator: "Exists", minValues: 3 }] });
  await holdsForOurPlan(aProblem({ pools: [pool], types, pods: pods(3, { requests: { cpu: "1m" } }) }));
});

/**
 * Two things in Karpenter's own rules, kept by ours, let a plan pay less than its pods would need: S-56 prices a type by all of its
 * offerings, also by those on which the pods would have no room (so no overrides here), and S-31 lets a pod that wants some label go where
 * another pod keeps values of it away, which is a node without the label (so nobody wants one).
 */
async function holdsForOurPlan(given: Problem): Promise<void> {
  const { problem, newNodes, price } = plannedPlainly(given);
  expect(await lowerBoundUsdPerHour(problem)).toBeLessThanOrEqual(price + 1e-6);
  const charge = 0.7;
  const charged = price + charge * newNodes.length;
  expect(await lowerBoundUsdPerHour(problem, { nodeChargeUsdPerHour: charge })).toBeLessThanOrEqual(charged + 1e-6);
  const spotTypes = newNodes
    .filter(({ cheapest }) => cheapest.capacityType === "spot")
    .map(({ instanceTypes }) => instanceTypes.filter(isSpotType).length);
  const spotTypesMin = Math.min(...spotTypes);
  if (spotTypes.length > 0 && spotTypesMin > 1)
    expect(await lowerBoundUsdPerHour(problem, { spotTypesMin })).toBeLessThanOrEqual(price + 1e-6);
}

/** A node whose cheapest offering is spot may list types that are to be had on demand alone; they are no choice of spot ones. */
function isSpotType({ offerings }: InstanceType): boolean {
  return offerings.some(
    (offering) =>
      isLaunchable(offering) && offering.requirements.some(({ key, values }) => key === CAPACITY_TYPE_LABEL && values?.includes("spot")),
  );
}

function plannedPlainly(given: Problem) {
  const problem = {
    ...given,
    pools: given.pools.map(({ nodePool, instanceTypes }) => ({ nodePool, instanceTypes: instanceTypes.map(plainType) })),
  };
  fc.pre(!JSON.stringify(problem.pods).includes('"color","operator":"Exists"'));
  const { newNodes, unschedulable } = solve(problem);
  const left = new Set(unschedulable.map(({ pod }) => pod));
  const price = newNodes.reduce((sum, { cheapest }) => sum + cheapest.priceUsdPerHour, 0);
  return { problem: { ...problem, pods: problem.pods.filter(({ key }) => !left.has(key)) }, newNodes, price };
}

function plainType(type: InstanceType): InstanceType {
  return {
    ...type,
    offerings: type.offerings.map(({ capacityOverride: _capacity, overheadOverride: _overhead, ...offering }) => offering),
  };
}
