import { solve } from "@joinery/scheduling";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  aNode,
  anOffering,
  aPool,
  aProblem,
  aType,
  type PodWish,
  type ProblemWish,
  pods,
} from "../../../packages/scheduling/src/testing/builders.ts";
import { lowerBoundUsdPerHour } from "./lower-bound.ts";
import { wholePodsBoundUsdPerHour } from "./whole-pods.ts";

const ZONES = ["z1", "z2", "z3"];

/** 100m of its cores are reserved. */
const a = (name: string, cpu: number, price: number) =>
  aType({
    name,
    cpu: cpu + 0.1,
    memory: `${4 * cpu}Gi`,
    pods: 100,
    offerings: ZONES.flatMap((zone) => [anOffering("spot", zone, price), anOffering("on-demand", zone, 3 * price)]),
  });
const cores = (cpu: string, count: number, more: Partial<PodWish> = {}) =>
  pods(count, { name: `cpu${cpu}`, requests: { cpu, memory: "10Mi" }, ...more });

describe("the bound of whole pods", () => {
  test.each<{ what: string; problem: ProblemWish; spotTypesMin?: number; charge?: number; usdPerHour: number }>([
    {
      what: "buys parts of nodes, but no parts of pods",
      problem: { pods: cores("1500m", 5), types: [a("four", 4, 1)] },
      usdPerHour: 2.5,
    },
    {
      what: "fills corners with pods that fit there",
      problem: { pods: [...cores("1500m", 4), ...cores("1", 2)], types: [a("four", 4, 1)] },
      usdPerHour: 2,
    },
    {
      what: "takes the type that whole pods fill best",
      problem: { pods: cores("1500m", 4), types: [a("four", 4, 1), a("three", 3, 0.8)] },
      usdPerHour: 1.6,
    },
    {
      what: "asks for room in as many types as a spot node is to list",
      problem: { pods: cores("1500m", 4), types: [a("four", 4, 1), a("three", 3, 0.7), a("two", 2, 0.5)] },
      spotTypesMin: 3,
      usdPerHour: 2,
    },
    {
      what: "charges for nodes",
      problem: { pods: cores("1500m", 4), types: [a("four", 4, 1), a("two", 2, 0.4)] },
      charge: 0.3,
      usdPerHour: 2.6,
    },
  ])("$what", async ({ problem, spotTypesMin, charge, usdPerHour }) => {
    const options = { ...(spotTypesMin && { spotTypesMin }), ...(charge && { nodeChargeUsdPerHour: charge }) };
    expect(await wholePodsBoundUsdPerHour(aProblem(problem), options)).toBeCloseTo(usdPerHour, 4);
  });

  test.each<{ what: string; problem: ProblemWish; spotTypesMin?: number }>([
    { what: "many kinds of pods", problem: { pods: ["1", "2", "3", "4"].flatMap((cpu) => cores(cpu, 1)), types: [a("four", 4, 1)] } },
    { what: "nodes that exist", problem: { pods: cores("1", 1), nodes: [aNode({ name: "there" })], types: [a("four", 4, 1)] } },
    { what: "pods that only few types hold", problem: { pods: cores("3", 1), types: [a("four", 4, 1), a("two", 2, 1)] }, spotTypesMin: 2 },
  ])("is not known for $what", async ({ problem, spotTypesMin = 1 }) => {
    expect(await wholePodsBoundUsdPerHour(aProblem(problem), { spotTypesMin })).toBeUndefined();
  });
});

test("it lies between the plain bound and every plan", async () => {
  const amount = fc.record({ cpu: fc.integer({ min: 1, max: 39 }), count: fc.integer({ min: 1, max: 12 }), isSpread: fc.boolean() });
  const wish = fc.record({
    amounts: fc.array(amount, { minLength: 1, maxLength: 3 }),
    prices: fc.tuple(fc.integer({ min: 5, max: 15 }), fc.integer({ min: 20, max: 40 })),
    charge: fc.constantFrom(0, 0.5),
  });
  await fc.assert(
    fc.asyncProperty(wish, async ({ amounts, prices, charge }) => {
      const problem = aProblem({
        pods: amounts.flatMap(({ cpu, count, isSpread }, index) =>
          cores(`${cpu * 100}m`, count, { name: `kind${index}`, ...(isSpread && spreadOver(`app${index}`)) }),
        ),
        pools: [aPool()],
        types: [a("small", 4, prices[0] / 10), a("large", 12, prices[1] / 10)],
      });
      const { newNodes } = solve(problem);
      const price = newNodes.reduce((sum, { cheapest }) => sum + cheapest.priceUsdPerHour + charge, 0);
      const options = { nodeChargeUsdPerHour: charge };
      const bound = (await wholePodsBoundUsdPerHour(problem, options))!;
      expect(bound).toBeLessThanOrEqual(price + 1e-6);
      expect(bound).toBeGreaterThanOrEqual((await lowerBoundUsdPerHour(problem, options)) * (1 - 1e-5));
    }),
    { numRuns: 100 },
  );
});

function spreadOver(app: string): Partial<PodWish> {
  const labelSelector = { matchLabels: { app } };
  const spread = { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule" as const, labelSelector };
  return { labels: { app }, spec: { topologySpreadConstraints: [spread] } };
}
