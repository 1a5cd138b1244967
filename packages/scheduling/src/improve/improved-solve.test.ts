/** Plans that a cheaper one is known for, and what a cheaper plan may never do. */
import { describe, expect, test } from "vitest";
import type { InstanceType } from "../instance-type.ts";
import type { Plan } from "../plan.ts";
import type { Problem } from "../problem.ts";
import { Solver, solve as solveGreedily } from "../solve/solve.ts";
import { aNode, anOffering, aPod, aPool, aProblem, aType, type PodWish, type ProblemWish, pods, zoneSpread } from "../testing/builders.ts";
import { construct } from "./construct.ts";
import { Filler } from "./filler.ts";
import { flexibilityUsdPerHour } from "./flexibility-cost.ts";
import { solve } from "./improved-solve.ts";
import { type Improvement, improvementOf, stepsFor } from "./improvement.ts";
import { packingModel } from "./packing-model.ts";
import { podGroups } from "./pod-groups.ts";
import { ruinAndRecreate } from "./ruin.ts";
import { SeededRandom } from "./seeded-random.ts";

const ZONES = ["z1", "z2", "z3"];

/** The same price in every zone. */
function offered(onDemand: number, spot?: number) {
  return ZONES.flatMap((zone) => [
    anOffering("on-demand", zone, onDemand),
    ...(spot === undefined ? [] : [anOffering("spot", zone, spot)]),
  ]);
}

function improved(wish: ProblemWish, more: Partial<Improvement> = {}): { readonly problem: Problem; readonly plan: Plan } {
  const plain = aProblem(wish);
  const improvement = { ...improvementOf("default")!, spotTypesMin: 1, ...more };
  const problem = { ...plain, options: { ...plain.options, improvement } };
  return { problem, plan: solve(problem) };
}

function usdPerHour({ newNodes }: Plan): number {
  return newNodes.reduce((sum, { cheapest }) => sum + cheapest.priceUsdPerHour, 0);
}

const cpu = (amount: string, count: number, more: Partial<PodWish> = {}) =>
  pods(count, { name: `cpu${amount}`, requests: { cpu: amount, memory: "100Mi" }, ...more });

describe("planted plans", () => {
  test.each<{ name: string; wish: ProblemWish; price: number }>([
    {
      name: "pods without GPU ride with those that need one where that is free, and else have nodes of their own",
      wish: {
        pods: [...cpu("3", 4), ...cpu("3", 2, { name: "gpu", requests: { cpu: "3", memory: "100Mi", "nvidia.com/gpu": "1" } })],
        pools: [aPool()],
        types: [
          aType({ name: "m", cpu: 4, memory: "16Gi", pods: 20, offerings: offered(0.2) }),
          aType({ name: "g", cpu: 8, memory: "32Gi", pods: 20, resources: { "nvidia.com/gpu": "1" }, offerings: offered(1.2) }),
        ],
      },
      price: 2 * 1.2 + 2 * 0.2,
    },
    {
      name: "pods that demand on-demand do not pull others there",
      wish: {
        pods: [...cpu("1500m", 4), ...cpu("1500m", 2, { name: "od", nodeSelector: { "karpenter.sh/capacity-type": "on-demand" } })],
        pools: [aPool()],
        types: [aType({ name: "m", cpu: 4, memory: "16Gi", pods: 20, offerings: offered(0.3, 0.1) })],
      },
      price: 0.3 + 2 * 0.1,
    },
    {
      name: "pods of few cores and much memory, and the other way round, each have the family that suits them",
      wish: {
        pods: [...cpu("1200m", 6), ...pods(6, { name: "memory", requests: { cpu: "200m", memory: "5Gi" } })],
        pools: [aPool()],
        types: [
          aType({ name: "c", cpu: 8, memory: "8Gi", pods: 20, offerings: offered(0.3) }),
          aType({ name: "m", cpu: 8, memory: "32Gi", pods: 20, offerings: offered(0.7) }),
          aType({ name: "r", cpu: 2, memory: "32Gi", pods: 20, offerings: offered(0.3) }),
        ],
      },
      price: 0.6,
    },
    {
      name: "a pool of more weight is used though it is dearer",
      wish: {
        pods: cpu("1500m", 4),
        pools: [
          aPool({ name: "dear", weight: 10, requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }] }),
          aPool({ name: "cheap" }),
        ],
        types: [
          aType({ name: "m", cpu: 4, memory: "16Gi", pods: 20, offerings: offered(0.3, 0.1) }),
          aType({ name: "x", cpu: 8, memory: "16Gi", pods: 20, offerings: offered(0.9, 0.8) }),
        ],
      },
      price: 2 * 0.3,
    },
    {
      name: "pods spread over zones stay so, with the price of each",
      wish: {
        pods: cpu("1500m", 6, {
          labels: { app: "a" },
          spec: { topologySpreadConstraints: [zoneSpread({ app: "a" })] },
        }),
        pools: [aPool()],
        types: [
          aType({ name: "m", cpu: 4, memory: "16Gi", pods: 20, offerings: offered(0.2) }),
          aType({ name: "x", cpu: 16, memory: "64Gi", pods: 20, offerings: offered(0.9) }),
        ],
      },
      price: 3 * 0.2,
    },
    {
      name: "a pod with a port of its host keeps its node, and the others are none the worse for it",
      wish: {
        pods: [
          aPod({
            name: "port",
            requests: { cpu: "3500m", memory: "1Gi" },
            spec: {
              containers: [
                { name: "main", ports: [{ containerPort: 80, hostPort: 80 }], resources: { requests: { cpu: "3500m", memory: "1Gi" } } },
              ],
            },
          }),
          ...cpu("1500m", 4),
          ...cpu("1500m", 2, { name: "od", nodeSelector: { "karpenter.sh/capacity-type": "on-demand" } }),
        ],
        pools: [aPool()],
        types: [aType({ name: "m", cpu: 4, memory: "16Gi", pods: 20, offerings: offered(0.3, 0.1) })],
      },
      price: 0.1 + 0.3 + 2 * 0.1,
    },
  ])("$name", ({ wish, price }) => {
    const { plan } = improved(wish);
    expect(plan.unschedulable).toEqual([]);
    expect(usdPerHour(plan)).toBeCloseTo(price, 9);
  });

  test("what nodes cost beside their instances keeps plans from crumbling", () => {
    const wish: ProblemWish = {
      pods: cpu("1500m", 8),
      pools: [aPool()],
      types: [
        aType({ name: "s", cpu: 2, memory: "8Gi", pods: 20, offerings: offered(0.1) }),
        aType({ name: "l", cpu: 13, memory: "48Gi", pods: 20, offerings: offered(0.81) }),
      ],
    };
    expect(improved(wish, { nodeOverheadUsdPerHour: 0, rootVolumeUsdPerHour: 0 }).plan.newNodes).toHaveLength(8);
    expect(improved(wish).plan.newNodes).toHaveLength(1);
  });

  test("nodes that exist are used before new ones, by the pods that save most", () => {
    const { plan } = improved({
      pods: [aPod({ name: "big", requests: { cpu: "3", memory: "1Gi" } }), aPod({ name: "small", requests: { cpu: "1", memory: "1Gi" } })],
      pools: [aPool()],
      nodes: [aNode({ name: "there", labels: { "kubernetes.io/arch": "amd64" }, allocatable: { cpu: "3", memory: "8Gi", pods: "10" } })],
      types: [
        aType({ name: "s", cpu: 2, memory: "8Gi", pods: 20, offerings: offered(0.1) }),
        aType({ name: "l", cpu: 4, memory: "8Gi", pods: 20, offerings: offered(0.5) }),
      ],
    });
    expect(plan.existingNodes).toEqual([{ name: "there", pods: ["default/big"] }]);
    expect(usdPerHour(plan)).toBeCloseTo(0.1, 9);
  });
});

/** Three families of seven sizes; the larger, the cheaper by the core, a little. */
const FAMILIES: readonly InstanceType[] = [
  { family: "c", gibPerCore: 2, price: 0.02 },
  { family: "m", gibPerCore: 4, price: 0.025 },
  { family: "r", gibPerCore: 8, price: 0.035 },
].flatMap(({ family, gibPerCore, price }) =>
  [2, 4, 8, 16, 32, 48, 64].map((cores, size) => {
    const spot = price * cores * (1 - size / 200);
    return aType({
      name: `${family}-${cores}`,
      cpu: cores,
      memory: `${gibPerCore * cores}Gi`,
      pods: 100,
      offerings: offered(3 * spot, spot),
    });
  }),
);

describe("spot nodes", () => {
  const bimodal = [...cpu("2", 60), ...pods(60, { name: "memory", requests: { cpu: "200m", memory: "6Gi" } })];
  const wish: ProblemWish = { pods: bimodal, pools: [aPool()], types: FAMILIES };

  test("list as many types as are wanted, and what that costs is told", () => {
    const { problem, plan } = improved(wish, { spotTypesMin: 15 });
    const free = improved(wish).plan;
    expect(plan.improvement?.isImproved).toBe(true);
    expect(plan.newNodes.map(({ cheapest }) => cheapest.capacityType)).not.toContain("on-demand");
    expect(Math.min(...plan.newNodes.map(({ instanceTypes }) => instanceTypes.length))).toBeGreaterThanOrEqual(15);
    expect(Math.min(...free.newNodes.map(({ instanceTypes }) => instanceTypes.length))).toBeLessThan(15);
    const cost = flexibilityUsdPerHour(problem, plan)!;
    expect(cost).toBeGreaterThan(0);
    expect(cost).toBeCloseTo(usdPerHour(plan) - usdPerHour(free), 9);
  });

  test("list what they can where not even a pod alone allows so many", () => {
    const { model, steps } = modelOf(aProblem({ ...wish, pods: [...bimodal, ...cpu("30", 2)] }));
    expect([...model.spotTypesNeeded].sort((a, b) => a - b)).toEqual([0, 15, 15]);
    const filler = new Filler(model);
    const bins = ruinAndRecreate(model, filler, construct(model, filler, steps)!, steps, new SeededRandom(1));
    const large = model.spotTypesNeeded.indexOf(0);
    for (const { space, column, items } of bins) {
      const hasLarge = items.some((group, at) => at % 2 === 0 && group === large);
      expect(model.spaces[space]!.columns.spotTypes[column]).toBeGreaterThanOrEqual(hasLarge ? 0 : 15);
    }
  });

  test("are joined where that costs no more, also where there are few types", () => {
    const types = [2, 4, 8].map((size) =>
      aType({ name: `a-${size}x`, cpu: size, memory: `${size * 4}Gi`, pods: 20, offerings: offered(9, 0.016 * size) }),
    );
    const { plan } = improved({ pods: cpu("900m", 6), pools: [aPool()], types }, { spotTypesMin: 15 });
    expect(plan.newNodes.map(({ cheapest }) => cheapest.instanceType).sort()).toEqual(["a-2x", "a-4x"]);
  });

  test("list too few where the greedy plan does so too, and no plan with enough of them is cheaper", () => {
    const types = [
      aType({ name: "s", cpu: 4, memory: "16Gi", pods: 20, offerings: offered(9, 0.6) }),
      aType({ name: "m", cpu: 8, memory: "32Gi", pods: 20, offerings: offered(9, 0.4) }),
      aType({ name: "l", cpu: 16, memory: "64Gi", pods: 20, offerings: offered(9, 1) }),
    ];
    const { problem, plan } = improved({ pods: cpu("3", 4), pools: [aPool()], types }, { spotTypesMin: 3 });
    expect(usdPerHour(solveGreedily(problem))).toBe(1);
    expect(usdPerHour(plan)).toBe(2 * 0.4);
  });

  test("no such wish for nodes that are not spot", () => {
    const onDemand = bimodal.map((pod) => ({
      ...pod,
      shape: { ...pod.shape, nodeSelector: { "karpenter.sh/capacity-type": "on-demand" } },
    }));
    const { problem, plan } = improved({ ...wish, pods: onDemand }, { spotTypesMin: 15 });
    expect(Math.min(...plan.newNodes.map(({ instanceTypes }) => instanceTypes.length))).toBeLessThan(15);
    expect(flexibilityUsdPerHour(problem, plan)).toBe(0);
  });
});

test("pods that come to the same constraint by different ways are of one group (S-85)", () => {
  const podAffinityTerm = { topologyKey: "topology.kubernetes.io/zone", labelSelector: { matchLabels: { app: "nobody" } } };
  const affinity = { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }] } };
  const requests = { cpu: "1500m", memory: "1Gi" };
  const { plan } = improved({
    pods: [aPod({ name: "a-wishes", requests, affinity }), aPod({ name: "b-plain", requests })],
    pools: [aPool()],
    types: [
      aType({ name: "s", cpu: 2, memory: "8Gi", pods: 20, offerings: offered(0.1) }),
      aType({ name: "l", cpu: 4, memory: "16Gi", pods: 20, offerings: offered(0.5) }),
    ],
    options: { preferencePolicy: "Respect" },
  });
  expect(plan.unschedulable).toEqual([]);
  expect(usdPerHour(plan)).toBeCloseTo(2 * 0.1, 9);
});

test("off is the greedy plan, as it is", () => {
  const problem = aProblem({ pods: cpu("900m", 50), pools: [aPool()], types: FAMILIES });
  expect(improvementOf("off")).toBeUndefined();
  expect(JSON.stringify(solve(problem))).toBe(JSON.stringify(solveGreedily(problem)));
});

test.each([
  { pods: 1000, steps: 1000 * 4000 },
  { pods: 5000, steps: 5000 * 4000 },
  { pods: 10_000, steps: (5000 * 4000) / 4 },
  { pods: 15_000, steps: Math.round((5000 * 4000) / 9) },
])("$pods pods get their steps, and many pods fewer", ({ pods, steps }) => {
  expect(stepsFor({ ...improvementOf("default")!, steps: 0 }, pods)).toBe(steps);
});

test("the effort is counted in steps, and they are kept", () => {
  const problem = aProblem({
    pods: [...cpu("900m", 100), ...cpu("1700m", 100), ...cpu("2600m", 50)],
    pools: [aPool()],
    types: FAMILIES,
  });
  const { model } = modelOf(problem);
  const visitsFor = (steps: number) => {
    const filler = new Filler(model);
    ruinAndRecreate(model, filler, construct(model, filler, steps)!, steps, new SeededRandom(1));
    return filler.visits;
  };
  const least = visitsFor(0);
  const round = 20_000;
  for (const steps of [100_000, 400_000]) {
    expect(visitsFor(steps)).toBeGreaterThanOrEqual(steps);
    expect(visitsFor(steps)).toBeLessThan(Math.max(least, steps) + round);
  }
});

function modelOf(problem: Problem) {
  const greedy = new Solver(problem);
  greedy.run();
  const pristine = new Solver(problem);
  return { model: packingModel(problem, greedy, pristine, podGroups(greedy, pristine), improvementOf("default")!), steps: 300_000 };
}
