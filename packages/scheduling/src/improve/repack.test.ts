/** Patterns that only many nodes at once tell of, and that new nodes hold what the old ones did. */
import { expect, test } from "vitest";
import { Solver } from "../solve/solve.ts";
import { anOffering, aPool, aProblem, aType, pods } from "../testing/builders.ts";
import { construct } from "./construct.ts";
import { Filler } from "./filler.ts";
import { improvementOf } from "./improvement.ts";
import { type Bin, priceOf } from "./packing.ts";
import { packingModel } from "./packing-model.ts";
import { podGroups } from "./pod-groups.ts";
import { PodKinds } from "./pod-kinds.ts";
import { repack } from "./repack.ts";
import { SeededRandom } from "./seeded-random.ts";

/** Spot types of a family, each of which 3.9, 7.9, … cores are left of. */
function types(family: string, gibPerCore: number, price: number) {
  return [4, 8, 16, 32].map((cores) =>
    aType({
      name: `${family}-${cores}`,
      cpu: cores,
      memory: `${cores * gibPerCore}Gi`,
      pods: 100,
      offerings: [anOffering("spot", "z1", price * cores), anOffering("on-demand", "z1", 3 * price * cores)],
    }),
  );
}

const cpu = (amount: string, count: number, memory = "100Mi") => pods(count, { name: `cpu${amount}`, requests: { cpu: amount, memory } });

function packed(wish: Parameters<typeof aProblem>[0], spotTypesMin: number, steps = 2_000_000) {
  const problem = aProblem({ pools: [aPool()], ...wish });
  const greedy = new Solver(problem);
  greedy.run();
  const pristine = new Solver(problem);
  const improvement = { ...improvementOf("default")!, spotTypesMin };
  const model = packingModel(problem, greedy, pristine, podGroups(greedy, pristine), improvement);
  const filler = new Filler(model);
  const start = construct(model, filler, steps)!;
  return { model, filler, start, bins: repack(model, filler, start, steps, new SeededRandom(1)), steps };
}

test("pods of odd sizes share nodes so that those are full", () => {
  const [small] = types("c", 4, 0.1);
  const { start, bins } = packed({ pods: [...cpu("550m", 72), ...cpu("600m", 12)], types: [small!] }, 1);
  expect(start.length).toBeGreaterThan(12);
  // Six of 550m and one of 600m are 3.9 cores.
  expect(bins.map(({ items }) => items.filter((_, at) => at % 2 === 1).sort())).toEqual(Array(12).fill([1, 6]));
});

const MIXED = {
  pods: [...cpu("550m", 90), ...cpu("600m", 33), ...cpu("1300m", 27, "3Gi"), ...cpu("200m", 41, "5Gi"), ...cpu("14", 2)],
  types: [...types("c", 2, 0.1), ...types("m", 4, 0.12), ...types("r", 8, 0.16)],
};

test.each([1, 8, 12])("every pod keeps a place, nodes have room and %i types, and none is dearer", (spotTypesMin) => {
  const { model, start, bins } = packed(MIXED, spotTypesMin);
  expect(priceOf(model, bins)).toBeLessThanOrEqual(priceOf(model, start));
  const held = (all: readonly Bin[]) => {
    const counts = new Int32Array(model.groups.length);
    for (const { items } of all) for (let at = 0; at < items.length; at += 2) counts[items[at]!]! += items[at + 1]!;
    return counts;
  };
  expect(held(bins)).toEqual(model.sizes);
  for (const { space, column, items, load } of bins) {
    const { columns } = model.spaces[space]!;
    const groups = items.filter((_, at) => at % 2 === 0);
    expect(columns.spotTypes[column]).toBeGreaterThanOrEqual(Math.min(...groups.map((group) => model.spotTypesNeeded[group]!)));
    for (let r = 0; r < model.width; r++) {
      const used = groups.reduce((sum, group, index) => sum + model.requests[group * model.width + r]! * items[2 * index + 1]!, 0);
      expect(load[r]).toBeCloseTo(used, 3);
      expect(used).toBeLessThanOrEqual(columns.rooms[column * model.width + r]!);
    }
  }
});

/** Replicas that keep away from others of their name: 3 cores each. */
const REPLICAS = ["a", "b", "c", "d", "e"].flatMap((name) =>
  pods(6, {
    name,
    requests: { cpu: "3", memory: "2Gi" },
    labels: { app: name },
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { app: name } }, topologyKey: "kubernetes.io/hostname" },
        ],
      },
    },
  }),
);

test("replicas of any name fill a node, never two of one", () => {
  const [, , large] = types("c", 4, 0.1);
  const { model, bins } = packed({ pods: [...REPLICAS, ...cpu("900m", 6), ...cpu("300m", 10)], types: [large!] }, 1);
  // Five names of 3 cores each and one pod of 900m are 15.9 cores.
  expect(bins.length).toBeLessThanOrEqual(7);
  const replicas = bins.map(({ items }) => items.filter((_, at) => at % 2 === 1 && model.bonds[items[at - 1]!]!.length > 0));
  expect(replicas.flat()).toEqual(Array(30).fill(1));
  const kinds = new PodKinds(model);
  expect([model.groups.length, kinds.count]).toEqual([7, 3]);
  const remaining = new Int32Array(model.groups.length);
  const names = kinds.members.find((members) => members.length === 5)!;
  for (const [at, count] of [1, 4, 0, 2, 3].entries()) remaining[names[at]!] = count;
  const kind = kinds.kindOfGroup[names[0]!]!;
  expect(kinds.availableOf(kind, remaining)).toBe(4);
  const items: number[] = [];
  kinds.put(items, kind, 3, remaining);
  expect(items).toEqual([names[1], 1, names[4], 1, names[3], 1]);
});

test("equal models give equal nodes, and steps are kept", () => {
  const { bins, filler, steps } = packed(MIXED, 8);
  expect(packed(MIXED, 8).bins).toEqual(bins);
  expect(filler.visits).toBeLessThan(steps);
  const hurried = packed(MIXED, 8, 20_000);
  expect(hurried.filler.visits).toBeLessThan(60_000);
});
