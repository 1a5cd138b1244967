/** Pools whose limits bind: other pods and types on their nodes, but as many nodes, as full, and within the limits (S-161, S-162). */
import { parseResources } from "@joinery/api";
import { describe, expect, test } from "vitest";
import type { Plan, PlannedNode } from "../plan.ts";
import { Solver, solve as solveGreedily } from "../solve/solve.ts";
import { anOffering, aPool, aProblem, aType, type PodWish, type ProblemWish, pods, zoneSpread } from "../testing/builders.ts";
import { solve } from "./improved-solve.ts";
import { type Improvement, improvementOf } from "./improvement.ts";
import { refillables } from "./refillable.ts";

const TYPES = [
  { family: "c", gibPerCore: 2, price: 0.02 },
  { family: "r", gibPerCore: 8, price: 0.035 },
].flatMap(({ family, gibPerCore, price }) =>
  [2, 4, 8, 16, 32].map((cores) =>
    aType({
      name: `${family}-${cores}`,
      cpu: cores,
      memory: `${gibPerCore * cores}Gi`,
      pods: 100,
      offerings: [anOffering("on-demand", "z1", price * cores), anOffering("on-demand", "z2", price * cores)],
    }),
  ),
);

const LIMITED = aPool({ name: "limited", weight: 10, limits: { cpu: "33" } });
const REST = aPool({ name: "rest" });

function mixed(more: Partial<PodWish> = {}) {
  return [
    ...pods(40, { name: "cpu", requests: { cpu: "1700m", memory: "300Mi" }, ...more }),
    ...pods(40, { name: "memory", requests: { cpu: "300m", memory: "5Gi" }, ...more }),
  ];
}

function improved(wish: ProblemWish): { readonly greedy: Plan; readonly plan: Plan } {
  const plain = aProblem(wish);
  const improvement: Improvement = { ...improvementOf("default")!, spotTypesMin: 1 };
  return { greedy: solveGreedily(plain), plan: solve({ ...plain, options: { ...plain.options, improvement } }) };
}

const SAMPLES: readonly { readonly name: string; readonly wish: ProblemWish }[] = [
  { name: "a heavier pool with a limit", wish: { pods: mixed(), pools: [LIMITED, REST], types: TYPES } },
  {
    name: "two of them",
    wish: { pods: mixed(), pools: [LIMITED, aPool({ name: "too", weight: 5, limits: { memory: "100Gi" } }), REST], types: TYPES },
  },
];

describe.each(SAMPLES)("$name", ({ wish }) => {
  const { greedy, plan } = improved(wish);

  test("its nodes are cheaper, and all pods have their places", () => {
    expect(plan.unschedulable).toEqual([]);
    expect(plan.improvement?.isImproved).toBe(true);
    expect(usdPerHour(plan)).toBeLessThan(usdPerHour(greedy));
  });

  test.each(wish.pools!.filter(({ spec }) => spec.limits !== undefined))(
    "$metadata.name has as many nodes, as full, with other pods",
    (pool) => {
      const name = pool.metadata!.name!;
      expect(nodesOf(plan, name)).toHaveLength(nodesOf(greedy, name).length);
      expect(nodesOf(plan, name).map(podsOf)).not.toEqual(nodesOf(greedy, name).map(podsOf));
      for (const [resource, limit] of Object.entries(pool.spec.limits!)) {
        const before = sum(nodesOf(greedy, name), ({ requests }) => requests[resource]!);
        const after = sum(nodesOf(plan, name), ({ requests }) => requests[resource]!);
        expect(after).toBeGreaterThanOrEqual(before * 0.99);
        const capacity = sum(nodesOf(plan, name), largest(resource));
        expect(capacity).toBeLessThanOrEqual(parseResources({ [resource]: limit })[resource]!);
      }
    },
  );
});

test.each<{ readonly name: string; readonly wish: ProblemWish }>([
  { name: "no pool has a limit", wish: { pods: mixed(), pools: [REST], types: TYPES } },
  { name: "the limit keeps no type away", wish: { pods: mixed(), pools: [aPool({ limits: { cpu: "100000" } })], types: TYPES } },
  {
    name: "some pod of the pool has to do with others",
    wish: {
      pods: mixed({
        labels: { app: "a" },
        spec: { topologySpreadConstraints: [zoneSpread({ app: "a" })] },
      }),
      pools: [LIMITED, REST],
      types: TYPES,
    },
  },
])("nodes keep their pods where $name", ({ wish }) => {
  const solver = new Solver(aProblem(wish));
  solver.run();
  expect(refillables(solver)).toEqual([]);
});

function nodesOf({ newNodes }: Plan, pool: string): readonly PlannedNode[] {
  return newNodes.filter(({ nodePool }) => nodePool.metadata!.name === pool);
}

function podsOf({ pods }: PlannedNode): readonly string[] {
  return pods;
}

function largest(resource: string): (node: PlannedNode) => number {
  return ({ instanceTypes }) => Math.max(...instanceTypes.map(({ capacity }) => capacity[resource]!));
}

function usdPerHour({ newNodes }: Plan): number {
  return sum(newNodes, ({ cheapest }) => cheapest.priceUsdPerHour);
}

function sum(nodes: readonly PlannedNode[], amount: (node: PlannedNode) => number): number {
  return nodes.reduce((total, node) => total + amount(node), 0);
}
