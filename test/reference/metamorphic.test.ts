/**
 * What must not change a plan, or only in one direction, with and without the search for cheaper plans: the order in which things are
 * listed, the process that solves, things that nobody can use, and more to choose from.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type InstanceType, type Plan, type Problem, solve } from "@joinery/scheduling";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aPool, aType } from "../../packages/scheduling/src/testing/builders.ts";
import { anyProblem, plainProblem, sociableProblem } from "../../packages/scheduling/src/testing/random-problems.ts";
import { EFFORTS, withEffort } from "./efforts.ts";

const RUNS = 60;

describe.each(EFFORTS)("with optimize %s", (effort) => {
  const planOf = (problem: Problem): Plan => solve(withEffort(problem, effort));

  test.each([
    { of: "pods by themselves", problems: anyProblem },
    { of: "pods that have to do with each other", problems: sociableProblem },
  ])("the order of pods, pools, nodes, DaemonSets and bound pods is of no consequence: $of (section 24)", ({ problems }) => {
    const shuffled = problems.chain((problem) =>
      fc
        .tuple(
          permuted(problem.pods),
          permuted(problem.pools),
          permuted(problem.nodes),
          permuted(problem.daemonSets),
          permutedBound(problem),
        )
        .map(([pods, pools, nodes, daemonSets, more]) => ({ problem, other: { ...problem, pods, pools, nodes, daemonSets, ...more } })),
    );
    fc.assert(
      fc.property(shuffled, ({ problem, other }) => {
        expect(JSON.stringify(planOf(other))).toBe(JSON.stringify(planOf(problem)));
      }),
      { numRuns: RUNS },
    );
  });

  test("a second solve of the same problem gives the same bytes, and the problem is as it was", () => {
    fc.assert(
      fc.property(sociableProblem, (problem) => {
        const before = JSON.stringify(problem);
        const first = JSON.stringify(planOf(problem));
        expect(JSON.stringify(planOf(problem))).toBe(first);
        expect(JSON.stringify(planOf(structuredClone(problem)))).toBe(first);
        expect(JSON.stringify(problem)).toBe(before);
      }),
      { numRuns: RUNS },
    );
  });

  test("a pool that nobody tolerates changes nothing", () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        fc.pre(problem.pods.every(({ shape }) => shape.tolerations.every(({ key }) => key !== undefined)));
        const taints = [{ key: "nobody", effect: "NoSchedule" as const }];
        const closed = { nodePool: aPool({ name: "closed", weight: 50, taints }), instanceTypes: problem.pools[0]!.instanceTypes };
        expect(whereabouts(planOf({ ...problem, pools: [...problem.pools, closed] }))).toEqual(whereabouts(planOf(problem)));
      }),
      { numRuns: RUNS },
    );
  });

  test("a node that is full changes nothing for pods that do not look at others", () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        const full = { name: "full", labels: { "kubernetes.io/hostname": "full" }, taints: [], capacity: {}, available: { pods: 0 } };
        const node = { ...full, daemonSetRequests: {}, isInitialized: true };
        expect(whereabouts(planOf({ ...problem, nodes: [...problem.nodes, node] }))).toEqual(whereabouts(planOf(problem)));
      }),
      { numRuns: RUNS },
    );
  });

  test("another type never leaves more pods out", () => {
    const grown = plainProblem.chain((problem) => fc.tuple(fc.constant(problem), anotherType));
    fc.assert(
      fc.property(grown, ([problem, type]) => {
        const more = withTypes(problem, (types) => [...types, type]);
        expect(planOf(more).unschedulable.length).toBeLessThanOrEqual(planOf(problem).unschedulable.length);
      }),
      { numRuns: RUNS },
    );
  });

  test("another offering never leaves more pods out", () => {
    const grown = plainProblem.chain((problem) => fc.tuple(fc.constant(problem), fc.nat(), fc.nat()));
    fc.assert(
      fc.property(grown, ([problem, at, from]) => {
        const types = problem.pools[0]!.instanceTypes;
        const [to, source] = [types[at % types.length]!, types[from % types.length]!];
        const offered = {
          ...to,
          offerings: [...to.offerings, ...source.offerings.map((offering) => ({ ...offering, isAvailable: true }))],
        };
        const isNew = (offering: InstanceType["offerings"][number], index: number) =>
          offered.offerings.findIndex((other) => JSON.stringify(other.requirements) === JSON.stringify(offering.requirements)) === index;
        const more = withTypes(problem, (all) =>
          all.map((type) => (type === to ? { ...offered, offerings: offered.offerings.filter(isNew) } : type)),
        );
        expect(planOf(more).unschedulable.length).toBeLessThanOrEqual(planOf(problem).unschedulable.length);
      }),
      { numRuns: RUNS },
    );
  });
});

test("another process gives the same bytes", () => {
  const seed = Number(process.env.JOINERY_TEST_SEED ?? 1);
  const outputs = [1, 2].map(() => {
    const { stdout, status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "print-plans.ts"), String(seed)], {
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    });
    expect(stderr).toBe("");
    expect(status).toBe(0);
    return stdout;
  });
  expect(outputs[0]!.length).toBeGreaterThan(10_000);
  expect(outputs[1]).toBe(outputs[0]);
});

const anotherType = fc
  .record({ cpu: fc.constantFrom(2, 4, 8, 32), memory: fc.constantFrom("2Gi", "16Gi", "64Gi"), pods: fc.constantFrom(1, 10) })
  .map((wish) => aType({ name: "another", ...wish }));

function withTypes(problem: Problem, change: (types: readonly InstanceType[]) => readonly InstanceType[]): Problem {
  const instanceTypes = change(problem.pools[0]!.instanceTypes);
  return { ...problem, pools: problem.pools.map(({ nodePool }) => ({ nodePool, instanceTypes })) };
}

/** Who is where, and what it costs. */
function whereabouts({ newNodes, existingNodes, unschedulable }: Plan): unknown {
  return {
    newNodes: newNodes.map(({ name, pods, cheapest }) => ({ name, pods, cheapest })),
    existingNodes,
    unschedulable: unschedulable.map(({ pod }) => pod),
  };
}

function permuted<T>(list: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length });
}

/** What the problem may have or not. */
function permutedBound({ boundPods }: Problem): fc.Arbitrary<Partial<Problem>> {
  return boundPods === undefined ? fc.constant({}) : permuted(boundPods).map((list) => ({ boundPods: list }));
}
