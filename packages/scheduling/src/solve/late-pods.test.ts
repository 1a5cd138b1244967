/** Pods that Karpenter places, and kube-scheduler binds, which were left out once; each in its smallest form. */
import { describe, expect, test } from "vitest";
import type { Plan } from "../plan.ts";
import {
  aNode,
  anOffering,
  aPod,
  aPool,
  aProblem,
  aType,
  bound,
  type PodWish,
  type ProblemWish,
  pods,
  zoneSpread,
} from "../testing/builders.ts";
import { Solver, solve } from "./solve.ts";

const ZONE = "topology.kubernetes.io/zone";
const CAPACITY_TYPE = "karpenter.sh/capacity-type";
const APP = { app: "x" };

const planOf = (wish: ProblemWish) => solve(aProblem({ ...wish, options: { preferencePolicy: "Respect", ...wish.options } }));
const leftOut = (plan: Plan) => plan.unschedulable.map(({ pod }) => pod);
const zonesOf = (plan: Plan) =>
  plan.newNodes.map(({ requirements, pods: { length } }) => [requirements.find(({ key }) => key === ZONE)?.values?.join("|"), length]);
const spread = zoneSpread(APP);

test.each<{ what: string; node: readonly string[]; listed?: readonly string[]; counts: readonly number[] }>([
  { what: "nor is a node there", node: [], counts: [2, 2] },
  { what: "but a node is there", node: ["z3"], counts: [1, 1] },
  { what: "but the pool lists it", node: [], listed: ["z1", "z2", "z3"], counts: [1, 1] },
])("S-131, S-144: a zone in which nothing is offered, $what", ({ node, listed, counts }) => {
  const offerings = ["z1", "z2", "z3"].map((zone) => anOffering("spot", zone, 1, { isAvailable: zone !== "z3" }));
  const plan = planOf({
    types: [aType({ name: "t", cpu: 4, memory: "16Gi", offerings })],
    pools: [aPool({ ...(listed && { requirements: [{ key: ZONE, operator: "In", values: listed }] }) })],
    nodes: node.map((zone) => aNode({ name: "full", labels: { [ZONE]: zone }, allocatable: {} })),
    pods: pods(4, { labels: APP, requests: { cpu: "3" }, spec: { topologySpreadConstraints: [spread] } }),
  });
  expect(
    zonesOf(plan)
      .map(([zone]) => zone)
      .sort(),
  ).toEqual(counts.flatMap((count, index) => Array(count).fill(`z${index + 1}`)));
});

test("S-144: terms that exclude and terms that list leave the zones of both to a spread, and no others", () => {
  const terms = [
    [{ key: ZONE, operator: "NotIn" as const, values: ["z2", "z3"] }],
    [{ key: ZONE, operator: "In" as const, values: ["z3", "nowhere"] }],
  ];
  const at = (zone: string) => bound({ labels: APP }, { name: zone, labels: { [ZONE]: zone } });
  const plan = planOf({
    boundPods: [at("z1"), at("z3")],
    pods: [aPod({ labels: APP, terms, spec: { topologySpreadConstraints: [spread] } })],
  });
  expect(zonesOf(plan)).toEqual([["z1", 1]]);
});

test.each<{ what: string; first: PodWish; places: readonly (readonly string[])[]; left: readonly string[] }>([
  { what: "can go elsewhere", first: {}, places: [["default/late"], ["default/first"]], left: [] },
  { what: "cannot", first: { nodeSelector: { disk: "old" } }, places: [["default/first"]], left: ["default/late"] },
])("S-82, S-91: the only node that would do is taken by one who $what", ({ first, places, left }) => {
  const plan = planOf({
    nodes: [aNode({ name: "n", labels: { disk: "old" }, allocatable: { cpu: 2, memory: "4Gi", pods: 5 } })],
    pods: [
      aPod({ name: "first", requests: { cpu: "1500m" }, ...first }),
      aPod({ name: "late", requests: { cpu: "1" }, nodeSelector: { disk: "old" } }),
    ],
  });
  expect([...plan.existingNodes, ...plan.newNodes].map(({ pods: keys }) => keys)).toEqual(places);
  expect(leftOut(plan)).toEqual(left);
});

test("S-82: who is left out by two is tried before them, then those who gain one by one", () => {
  const plan = planOf({
    nodes: [aNode({ name: "n", labels: { disk: "old" }, allocatable: { cpu: 2, memory: "4Gi", pods: 5 } })],
    pods: [
      aPod({ name: "first", requests: { cpu: "1500m" } }),
      ...["a", "b"].map((name) => aPod({ name, requests: { cpu: "1200m" }, nodeSelector: { disk: "old" } })),
    ],
  });
  expect([plan.existingNodes.map(({ pods: keys }) => keys), leftOut(plan)]).toEqual([[["default/a"]], ["default/b"]]);
});

describe("S-82, S-161: who could not have been first either is not tried again", () => {
  const anOldNode = aNode({ name: "n", labels: { disk: "old" }, allocatable: { cpu: 1, memory: "4Gi", pods: 5 } });
  const lateIn = (wish: ProblemWish) => {
    const solver = new Solver(aProblem({ ...wish, options: { preferencePolicy: "Respect" } }));
    solver.run();
    return solver.latePods().map((pod) => wish.pods![pod]!.key);
  };
  const placed = aPod({ name: "placed" });

  test.each<{ what: string; wish: ProblemWish; late: readonly string[] }>([
    { what: "no type is large enough", wish: { pods: [placed, aPod({ name: "a", requests: { cpu: "4000" } })] }, late: [] },
    { what: "no node has the label", wish: { pods: [placed, aPod({ name: "a", nodeSelector: { disk: "old" } })] }, late: [] },
    {
      what: "the node with the label never had the room",
      wish: { nodes: [anOldNode], pods: [placed, aPod({ name: "a", nodeSelector: { disk: "old" }, requests: { cpu: "2" } })] },
      late: [],
    },
    {
      what: "the limit was reached before",
      wish: { pools: [aPool({ limits: { cpu: "0" } })], pods: [aPod({ name: "a" })] },
      late: [],
    },
    {
      what: "others have reached the limit: it is",
      wish: {
        pools: [aPool({ limits: { nodes: "1" } })],
        pods: ["spot", "on-demand"].map((type) => aPod({ name: type, nodeSelector: { [CAPACITY_TYPE]: type } })),
      },
      late: ["default/spot"],
    },
  ])("$what", ({ wish, late }) => expect(lateIn(wish)).toEqual(late));
});

test("S-82: who was tried first in vain, and then gains by being first alone, has one place", () => {
  const oldNode = (name: string, labels = {}) =>
    aNode({ name, labels: { disk: "old", ...labels }, allocatable: { cpu: 2, memory: "4Gi", pods: 5 } });
  const apart = { labelSelector: { matchLabels: APP }, topologyKey: "kubernetes.io/hostname" };
  const plan = planOf({
    nodes: [oldNode("n1", { size: "large" }), oldNode("n2")],
    pods: [
      ...pods(2, { name: "first", requests: { cpu: "1900m" } }),
      aPod({
        name: "a",
        requests: { cpu: "600m" },
        nodeSelector: { disk: "old" },
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } },
      }),
      aPod({ name: "b", labels: APP, requests: { cpu: "500m" }, nodeSelector: { disk: "old", size: "large" } }),
    ],
  });
  expect([plan.existingNodes.map(({ name, pods: keys }) => [name, ...keys]), leftOut(plan)]).toEqual([
    [
      ["n1", "default/b"],
      ["n2", "default/a"],
    ],
    [],
  ]);
});

test("S-142, S-152: where every value of a label is taken, a pod that keeps away from others along it gets a node without the label", () => {
  const apart = { labelSelector: { matchLabels: APP }, topologyKey: "team" };
  const plan = planOf({
    pools: [aPool({ name: "teams", weight: 10, requirements: [{ key: "team", operator: "In", values: ["a"] }] }), aPool({ name: "plain" })],
    pods: pods(2, {
      labels: APP,
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } },
    }),
  });
  expect([plan.newNodes.map(({ nodePool, labels }) => [nodePool.metadata?.name, labels.team]), leftOut(plan)]).toEqual([
    [
      ["plain", undefined],
      ["teams", "a"],
    ],
    [],
  ]);
});

describe("S-82, S-149…S-151: who wants to be with others", () => {
  const near = (...topologyKeys: readonly string[]) => ({
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: topologyKeys.map((topologyKey) => ({
        topologyKey,
        labelSelector: { matchLabels: APP },
      })),
    },
  });
  const HOSTNAME = "kubernetes.io/hostname";
  const anywhere = { cpu: 2, memory: "4Gi", pods: 5 };

  test.each<{ what: string; wish: ProblemWish }>([
    {
      what: "along a label that their node lacks, though another node has it (S-142)",
      wish: {
        nodes: [aNode({ name: "a", allocatable: anywhere }), aNode({ name: "b", labels: { [ZONE]: "z1" }, allocatable: anywhere })],
        pods: [aPod({ name: "first", labels: APP, requests: { cpu: "1" } }), aPod({ name: "late", affinity: near(ZONE) })],
      },
    },
    {
      what: "on one node, in another zone than the one that their spread has chosen by name (S-145)",
      wish: {
        pods: [
          aPod({ name: "first", labels: APP, requests: { cpu: "1" }, spec: { topologySpreadConstraints: [spread] } }),
          aPod({ name: "late", nodeSelector: { [ZONE]: "z2" }, affinity: near(HOSTNAME) }),
        ],
      },
    },
    {
      what: "on one node, of another architecture than that of the node which they were added to",
      wish: {
        pods: [
          aPod({ name: "other", requests: { cpu: "2" }, nodeSelector: { "kubernetes.io/arch": "arm64" } }),
          aPod({ name: "first", labels: APP, requests: { cpu: "1" } }),
          aPod({ name: "late", nodeSelector: { "kubernetes.io/arch": "amd64" }, affinity: near(HOSTNAME) }),
        ],
        types: ["amd64", "arm64"].map((arch) => aType({ name: arch, cpu: 4, memory: "16Gi", arch })),
      },
    },
    {
      what: "on one node and in its zone, which nothing but they would choose (S-141)",
      wish: {
        pods: [
          aPod({ name: "other", requests: { cpu: "2" }, nodeSelector: { "kubernetes.io/arch": "arm64" } }),
          aPod({ name: "first", labels: APP, requests: { cpu: "1" } }),
          aPod({ name: "late", nodeSelector: { "kubernetes.io/arch": "amd64" }, affinity: near(HOSTNAME, ZONE) }),
        ],
        types: ["amd64", "arm64"].map((arch) => {
          const offerings = ["z1", "z2"].map((zone) => anOffering("spot", zone, 1));
          return aType({ name: arch, cpu: 4, memory: "16Gi", arch, offerings });
        }),
      },
    },
    {
      what: "along a label, of which they were free to have another value",
      wish: {
        pools: [
          aPool({ name: "a", weight: 10, requirements: [{ key: "team", operator: "In", values: ["a"] }] }),
          aPool({ name: "b", requirements: [{ key: "team", operator: "In", values: ["b"] }] }),
        ],
        pods: [
          aPod({ name: "first", labels: APP, requests: { cpu: "1" } }),
          aPod({ name: "late", nodeSelector: { team: "b" }, affinity: near("team") }),
        ],
      },
    },
  ])("$what", ({ wish }) => expect(leftOut(planOf(wish))).toEqual([]));

  test("not at the cost of a place that somebody else has", () => {
    const plan = planOf({
      nodes: [aNode({ name: "b", labels: { [ZONE]: "z1" }, allocatable: anywhere })],
      pools: [aPool({ limits: { nodes: "0" } })],
      pods: [
        aPod({ name: "first", labels: APP, requests: { cpu: "1900m" } }),
        aPod({ name: "late", requests: { cpu: "500m" }, affinity: near(ZONE) }),
      ],
    });
    expect([plan.existingNodes.map(({ pods: keys }) => keys), leftOut(plan)]).toEqual([[["default/first"]], ["default/late"]]);
  });

  test("S-31, S-38: those stay away from a node without the label that they ask for, wherever it would suit the late pod", () => {
    const plan = planOf({
      nodes: [aNode({ name: "n", labels: { disk: "old" }, allocatable: { cpu: 4, memory: "8Gi", pods: 5 } })],
      pools: [aPool({ limits: { nodes: "1" } })],
      pods: [
        aPod({ name: "first", labels: APP, requests: { cpu: "3" }, nodeSelector: { [CAPACITY_TYPE]: "on-demand" } }),
        aPod({ name: "gaining", requests: { cpu: "3" }, nodeSelector: { [CAPACITY_TYPE]: "spot" } }),
        aPod({ name: "late", nodeSelector: { disk: "old" }, affinity: near(HOSTNAME, CAPACITY_TYPE) }),
      ],
      types: [aType({ name: "t", cpu: 4, memory: "16Gi", offerings: ["spot", "on-demand"].map((one) => anOffering(one, "z1", 1)) })],
    });
    expect([plan.existingNodes, leftOut(plan)]).toEqual([[], ["default/gaining", "default/late"]]);
  });

  test("S-141: while it is open where those are, it waits for the next solve", () => {
    const first = aPod({ name: "first", labels: APP, requests: { cpu: "1" } });
    expect(leftOut(planOf({ pods: [first, aPod({ name: "late", affinity: near(ZONE) })] }))).toEqual(["default/late"]);
  });
});

describe("S-82, S-152, S-154: who is kept away from every domain, though others could share one", () => {
  const offerings = ["z1", "z2"].map((zone) => anOffering("spot", zone, 1));
  const types = [aType({ name: "t", cpu: 4, memory: "16Gi", offerings })];
  const loose = zoneSpread(APP, { maxSkew: 2 });
  const apart = {
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector: { matchLabels: APP } }] },
  };
  const other = { app: "y" };
  const ofOther = zoneSpread(other, { maxSkew: 2 });

  test.each<{ what: string; pods: ProblemWish["pods"]; expected: readonly string[] }>([
    {
      what: "by its own rule",
      pods: [
        ...pods(2, { name: "first", labels: APP, requests: { cpu: "3" }, spec: { topologySpreadConstraints: [loose] } }),
        aPod({ name: "late", affinity: apart }),
      ],
      expected: [],
    },
    {
      what: "by its own rule, which would mean its equals too if it had any",
      pods: [
        ...pods(2, { name: "first", labels: APP, requests: { cpu: "3" }, spec: { topologySpreadConstraints: [loose] } }),
        aPod({ name: "late", labels: APP, affinity: apart }),
      ],
      expected: [],
    },
    {
      what: "by the rule of the others",
      pods: [
        ...pods(2, {
          name: "first",
          labels: other,
          requests: { cpu: "3" },
          affinity: apart,
          spec: { topologySpreadConstraints: [ofOther] },
        }),
        aPod({ name: "late", labels: APP }),
      ],
      expected: [],
    },
    {
      what: "not where these would lose a place by it",
      pods: [
        ...["z1", "z2"].map((zone) => aPod({ name: zone, labels: APP, requests: { cpu: "3" }, nodeSelector: { [ZONE]: zone } })),
        aPod({ name: "late", affinity: apart }),
      ],
      expected: ["default/late"],
    },
    {
      what: "nor by its equals: the next solve knows where the first is (S-140)",
      pods: pods(3, { name: "equal", labels: APP, affinity: apart }),
      expected: ["default/equal-00001", "default/equal-00002"],
    },
  ])("$what", ({ pods: wanted, expected }) => expect(leftOut(planOf({ types, pods: wanted }))).toEqual(expected));
});
