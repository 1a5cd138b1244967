import type { NodeSelectorRequirement } from "@joinery/api";
import { describe, expect, test } from "vitest";
import type { Plan } from "../plan.ts";
import { sentences } from "../sentence.ts";
import {
  aDaemonSet,
  aNode,
  anOffering,
  aPod,
  aPool,
  aProblem,
  aType,
  FIXTURE_TYPES,
  type PodWish,
  type ProblemWish,
  pods,
} from "../testing/builders.ts";
import { solve } from "./solve.ts";

const ZONE = "topology.kubernetes.io/zone";
const CAPACITY_TYPE = "karpenter.sh/capacity-type";

const planOf = (wish: ProblemWish) => solve(aProblem(wish));
const typeNames = (plan: Plan, node = 0) => plan.newNodes[node]?.instanceTypes.map(({ name }) => name);
const kindsOf = (plan: Plan) => plan.unschedulable.flatMap(({ reasons }) => reasons.map(({ kind }) => kind));
const valuesOf = (plan: Plan, key: string, node = 0) => plan.newNodes[node]?.requirements.find((item) => item.key === key)?.values;
const placed = (plan: Plan) =>
  plan.newNodes.reduce((sum, node) => sum + node.pods.length, 0) + plan.existingNodes.reduce((sum, node) => sum + node.pods.length, 0);

describe("labels", () => {
  const k = (operator: NodeSelectorRequirement["operator"], ...values: string[]): PodWish => ({
    terms: [[{ key: "k", operator, ...(values.length && { values }) }]],
  });
  const wishes = [k("In", "v"), k("In", "other"), k("Exists"), k("NotIn", "v"), k("NotIn", "other"), k("DoesNotExist")];

  test.each([
    { rule: "S-40", pool: aPool(), scheduled: [false, false, false, true, true, true] },
    {
      rule: "S-40",
      pool: aPool({ requirements: [{ key: "k", operator: "In", values: ["v"] }] }),
      scheduled: [true, false, true, false, true, false],
    },
  ])("$rule: which pods a pool without and with a custom label takes", ({ pool, scheduled }) => {
    for (const [index, wish] of wishes.entries()) {
      const plan = planOf({ pods: [aPod(wish)], pools: [pool] });
      expect(plan.newNodes.length === 1, JSON.stringify(wish)).toBe(scheduled[index]);
      if (pool.spec.template.spec.requirements[0]!.key === "k" && plan.newNodes.length === 1) expect(plan.newNodes[0]!.labels.k).toBe("v");
    }
  });

  test.each([
    { operator: "Gt", bound: "8", integer: 16 },
    { operator: "Lt", bound: "8", integer: 2 },
    { operator: "Gte", bound: "16", integer: 16 },
    { operator: "Lte", bound: "2", integer: 2 },
  ] as const)("integer $operator $bound gives $integer", ({ operator, bound, integer }) => {
    const plan = planOf({ pools: [aPool({ requirements: [{ key: "integer", operator, values: [bound] }] })] });
    expect(plan.newNodes[0]!.instanceTypes[0]!.capacity.cpu).toBe(integer * 1000);
  });

  test("S-44: pods with different values of an open label end on different nodes, others join", () => {
    const pools = [aPool({ requirements: [{ key: "team", operator: "Exists" }] })];
    const wishes = [aPod({ nodeSelector: { team: "a" } }), aPod({ nodeSelector: { team: "b" } }), aPod()];
    const plan = planOf({ pools, pods: wishes });
    expect(plan.newNodes.map(({ labels }) => labels.team).sort()).toEqual(["a", "b"]);
    expect(placed(plan)).toBe(3);
  });

  test("S-40: a pod that excludes a value defines the label for pods that ask for another value", () => {
    const asking = aPod({ name: "asking", requests: { cpu: "1" }, nodeSelector: { k: "w" } });
    const excluding = aPod({ name: "excluding", terms: [[{ key: "k", operator: "NotIn", values: ["v"] }]] });
    const plan = planOf({ pods: [asking, excluding] });
    expect(plan.newNodes.map((node) => node.pods)).toEqual([["default/asking", "default/excluding"]]);
    expect(plan.newNodes[0]!.labels.k).toBe("w");
  });

  test("S-40, S-84: the same on a claim that has refused the asking pod before", () => {
    const first = aPod({ name: "first", requests: { cpu: "2" } });
    const asking = aPod({ name: "asking", requests: { cpu: "1" }, nodeSelector: { k: "w" } });
    const excluding = aPod({ name: "excluding", requests: { cpu: "500m" }, terms: [[{ key: "k", operator: "NotIn", values: ["v"] }]] });
    expect(planOf({ pods: [asking, excluding, first] }).newNodes.map((node) => node.pods)).toEqual([
      ["default/asking", "default/excluding", "default/first"],
    ]);
  });

  test("S-38: a contradiction in the pool filters out every type, and the pool is dropped (S-64, S-65)", () => {
    const arch = (value: string) => ({ key: "kubernetes.io/arch", operator: "In", values: [value] }) as const;
    const plan = planOf({
      pools: [aPool({ requirements: [arch("amd64"), arch("arm64")].map((item) => ({ ...item, values: [...item.values] })) })],
    });
    expect(plan.droppedPools.map(({ nodePool }) => nodePool)).toEqual(["default"]);
    expect(sentences(plan.unschedulable[0]!.reasons)).toBe("nodepool requirements filtered out all available instance types");
  });

  test("S-182: custom keys become labels with an allowed value, DoesNotExist becomes none, well-known keys none", () => {
    const plan = planOf({
      pools: [
        aPool({
          requirements: [
            { key: "k2", operator: "In", values: ["a"] },
            { key: "k3", operator: "NotIn", values: ["0"] },
            { key: "k4", operator: "Lt", values: ["4"] },
            { key: "k5", operator: "Gt", values: ["5"] },
            { key: "k6", operator: "Exists" },
            { key: "k7", operator: "DoesNotExist" },
            { key: "node.kubernetes.io/windows-build", operator: "NotIn", values: ["x"] },
          ],
        }),
      ],
    });
    const { labels } = plan.newNodes[0]!;
    expect(labels).toMatchObject({
      k2: "a",
      k3: "1",
      k4: "0",
      k5: "6",
      k6: "0",
      "karpenter.sh/nodepool": "default",
      "karpenter.test.sh/testnodeclass": "default",
    });
    expect(Object.keys(labels)).not.toContain("k7");
    expect(Object.keys(labels)).not.toContain("node.kubernetes.io/windows-build");
  });

  test("S-62: a pod may select the node class; simulation-only keys never leave the solver", () => {
    const plan = planOf({
      pods: [aPod({ nodeSelector: { "karpenter.test.sh/testnodeclass": "default", "karpenter.sh/initialized": "true" } })],
    });
    const keys = plan.newNodes[0]!.requirements.map(({ key }) => key);
    expect(keys).toContain("karpenter.test.sh/testnodeclass");
    expect(keys).not.toContain("karpenter.sh/initialized");
    expect(Object.keys(plan.newNodes[0]!.labels)).not.toContain("karpenter.sh/initialized");
  });
});

describe("pools", () => {
  test("S-116: startup taints keep nobody away", () => {
    const plan = planOf({ pools: [aPool({ startupTaints: [{ key: "starting", effect: "NoSchedule" }] })] });
    expect(plan.newNodes[0]!.startupTaints).toHaveLength(1);
  });

  test("S-8: without pools nothing is simulated, not even existing nodes", () => {
    const plan = planOf({ pools: [], nodes: [aNode({ name: "n" })] });
    expect(plan.existingNodes).toEqual([]);
    expect(sentences(plan.unschedulable[0]!.reasons)).toBe("no dynamic nodepools found");
  });

  test("S-100: the reasons of all pools in their order", () => {
    const pools = [aPool({ name: "b", taints: [{ key: "t", effect: "NoSchedule" }] }), aPool({ name: "a" })];
    const plan = planOf({ pools, pods: [aPod({ requests: { cpu: "512" } })] });
    expect(plan.unschedulable[0]!.reasons.map((reason) => ("nodePool" in reason ? reason.nodePool : ""))).toEqual(["b", "a"]);
    expect(kindsOf(plan)).toEqual(["untolerated-taint", "insufficient-resources"]);
  });
});

describe("limits", () => {
  test.each<{ rule: string; limits: Record<string, string>; requests: Record<string, string>; nodes: number }>([
    { rule: "S-161 equality is allowed", limits: { cpu: "2" }, requests: { cpu: "1.5" }, nodes: 1 },
    { rule: "S-161", limits: { cpu: "2" }, requests: { cpu: "2.1" }, nodes: 0 },
    { rule: "S-161 a limit of zero nodes", limits: { nodes: "0" }, requests: {}, nodes: 0 },
    { rule: "law 6: a limit beyond exact numbers limits nothing", limits: { memory: "10000000Gi" }, requests: {}, nodes: 1 },
  ])("$rule", ({ limits, requests, nodes }) => {
    const plan = planOf({ pools: [aPool({ limits })], pods: [aPod({ requests })] });
    expect(plan.newNodes).toHaveLength(nodes);
    expect(kindsOf(plan)).toEqual(nodes === 0 ? ["over-limit"] : []);
  });

  test("S-160, S-161: nodes of the pool count; below zero every type is out, also those without the resource", () => {
    const nodes = [aNode({ name: "n", labels: { "karpenter.sh/nodepool": "default" }, allocatable: { "vendor-a": 2, pods: 0 } })];
    expect(planOf({ nodes, pools: [aPool({ limits: { "vendor-a": "1" } })] }).newNodes).toHaveLength(0);
    expect(planOf({ nodes, pools: [aPool({ limits: { "vendor-a": "2" } })] }).newNodes).toHaveLength(1);
  });

  test("S-163, better: the nodes of one solve count towards the limit of nodes", () => {
    const types = [aType({ name: "one", cpu: 2, memory: "2Gi", pods: 1 })];
    const plan = planOf({ types, pools: [aPool({ limits: { nodes: "2" } })], pods: pods(3) });
    expect(plan.newNodes).toHaveLength(2);
    expect(sentences(plan.unschedulable[0]!.reasons)).toBe("node limits have been exhausted for nodepool (NodePool=default)");
  });

  test("S-164: pods that join a claim are not limited", () => {
    expect(planOf({ pools: [aPool({ limits: { nodes: "1" } })], pods: pods(3) }).newNodes).toHaveLength(1);
  });
});

describe("daemon sets", () => {
  test("S-69, S-71: groups by type; nothing is added while a type without DaemonSets is left", () => {
    const daemonSets = [aDaemonSet({ requests: { cpu: "1" }, nodeSelector: { size: "large" } })];
    const small = planOf({ daemonSets, pods: [aPod({ requests: { cpu: "1" } })] });
    expect(small.newNodes[0]!.daemonSetRequests).toEqual({});
    const large = planOf({ daemonSets, pods: [aPod({ requests: { cpu: "8" } })] });
    expect(large.newNodes[0]!.daemonSetRequests).toEqual({ cpu: 1000, pods: 1 });
    expect(planOf({ daemonSets, pods: [aPod({ requests: { cpu: "15" } })] }).newNodes).toHaveLength(0);
  });

  test("S-70: DaemonSets with resource claims are left out", () => {
    const daemonSets = [aDaemonSet({ requests: { cpu: "3" }, spec: { resourceClaims: [{ name: "gpu" }] } })];
    expect(typeNames(planOf({ daemonSets, pods: [aPod({ requests: { cpu: "1" } })] }))![0]).toBe("small");
  });
});

describe("existing nodes", () => {
  test("S-28: old label keys on a node count as their successors", () => {
    const nodes = [aNode({ name: "n", labels: { "failure-domain.beta.kubernetes.io/zone": "z1" } })];
    expect(planOf({ nodes, pods: [aPod({ nodeSelector: { [ZONE]: "z1" } })] }).existingNodes).toHaveLength(1);
  });

  test("S-77: an expected DaemonSet is waited for", () => {
    const nodes = [aNode({ name: "n" })];
    const plan = planOf({ nodes, daemonSets: [aDaemonSet({ requests: { cpu: "1" } })], pods: [aPod({ requests: { cpu: "3.5" } })] });
    expect(plan.existingNodes).toHaveLength(0);
  });

  test("S-81: a node that is settling takes pods that wait, none that is only moved", () => {
    const nodes = [{ ...aNode({ name: "settling" }), isSettling: true }];
    const [waiting, moving] = pods(2, { requests: { cpu: "1" } });
    const plan = planOf({ nodes, pods: [waiting!, { ...moving!, shape: { ...moving!.shape, isMoving: true } }] });
    expect(plan.existingNodes).toEqual([{ name: "settling", pods: [waiting!.key] }]);
    expect(plan.newNodes.map((node) => node.pods)).toEqual([[moving!.key]]);
  });

  test("S-49: a node with a negative rest takes nobody", () => {
    const node = aNode({ name: "n" });
    expect(planOf({ nodes: [{ ...node, available: { ...node.available, memory: -1 } }] }).existingNodes).toHaveLength(0);
  });

  test("S-91: existing before new, and only nodes that gain pods are listed", () => {
    const plan = planOf({ nodes: [aNode({ name: "a" }), aNode({ name: "b" })], pods: [aPod({ name: "one" })] });
    expect(plan.existingNodes).toEqual([{ name: "a", pods: ["default/one"] }]);
  });

  test("S-114: every taint of a node counts, preferences too", () => {
    const nodes = [aNode({ name: "n", taints: [{ key: "t", effect: "PreferNoSchedule" }] })];
    expect(planOf({ nodes }).existingNodes).toHaveLength(0);
  });

  test("S-40: a pod that excludes a value does not give a node the label", () => {
    const excluding = aPod({ requests: { cpu: "1" }, terms: [[{ key: "k", operator: "NotIn", values: ["v"] }]] });
    const plan = planOf({ nodes: [aNode({ name: "n" })], pods: [excluding, aPod({ nodeSelector: { k: "w" } })] });
    expect(plan.existingNodes[0]!.pods).toHaveLength(1);
    expect(plan.unschedulable).toHaveLength(1);
  });
});

describe("placing", () => {
  const amd64 = { "kubernetes.io/arch": "amd64" };

  test("large and small pods share 20 default nodes", () => {
    const large = pods(40, { name: "large", requests: { memory: "1.8G" }, nodeSelector: amd64 });
    const little = pods(20, { name: "little", requests: { memory: "400M" }, nodeSelector: amd64 });
    const plan = planOf({ pods: [...little, ...large] });
    expect(plan.newNodes).toHaveLength(20);
    expect(new Set(plan.newNodes.map(({ cheapest }) => cheapest.instanceType))).toEqual(new Set(["default"]));
  });

  test("25 tiny pods fill 5 small nodes", () => {
    const plan = planOf({ pods: pods(25, { requests: { cpu: "1m" }, nodeSelector: amd64 }) });
    expect(plan.newNodes.map((node) => node.pods.length)).toEqual([5, 5, 5, 5, 5]);
    expect(plan.newNodes[0]!.cheapest.instanceType).toBe("small");
  });

  test("S-91: the claim with the fewest pods takes the next one, the oldest of equals first", () => {
    const pool = aPool({ requirements: [{ key: "team", operator: "Exists" }] });
    const plan = planOf({
      pools: [pool],
      pods: [
        aPod({ name: "a1", requests: { cpu: "4" }, nodeSelector: { team: "a" } }),
        aPod({ name: "b1", requests: { cpu: "3" }, nodeSelector: { team: "b" } }),
        aPod({ name: "x1", requests: { cpu: "500m" } }),
        aPod({ name: "x2", requests: { cpu: "400m" } }),
        aPod({ name: "x3", requests: { cpu: "300m" } }),
      ],
    });
    expect(plan.newNodes.map((node) => node.pods)).toEqual([
      ["default/a1", "default/x1", "default/x3"],
      ["default/b1", "default/x2"],
    ]);
  });

  test("S-102: category 7", () => {
    const { reasons } = planOf({ pods: [aPod({ requests: { cpu: "512" } })] }).unschedulable[0]!;
    expect(reasons[0]).toMatchObject({ kind: "insufficient-resources", filter: { category: 7 } });
    expect(sentences(reasons)).toMatch(/^no instance type has enough resources, requirements=.*, resources=\{"cpu":"512","pods":"1"\}$/);
  });

  test("S-102: a CPU request in millions of cores is likely a typo", () => {
    const { reasons } = planOf({ pods: [aPod({ requests: { cpu: "1M" } })] }).unschedulable[0]!;
    expect(sentences(reasons)).toContain("m vs M typo?");
  });

  test("S-109: a single term that no type meets", () => {
    const plan = planOf({ pods: [aPod({ terms: [[{ key: ZONE, operator: "In", values: ["invalid"] }]] })] });
    expect(plan.unschedulable[0]!.reasons[0]).toMatchObject({
      kind: "incompatible-requirements",
      key: ZONE,
      wanted: `${ZONE} In [invalid]`,
      offered: `${ZONE} In [z1 z2 z3]`,
    });
  });

  test("S-56: all types that fit, cheapest first", () => {
    const priced = (name: string, price: number) =>
      aType({ name, cpu: 4, memory: "4Gi", offerings: [anOffering("on-demand", "z1", price)] });
    const plan = planOf({ types: [priced("medium", 3), priced("small", 2), priced("large", 1)] });
    expect(typeNames(plan)).toEqual(["large", "small", "medium"]);
    expect(plan.newNodes[0]!.cheapest).toEqual({ instanceType: "large", zone: "z1", capacityType: "on-demand", priceUsdPerHour: 1 });
  });

  test("S-56: the price counts only under the requirements; equal prices by name", () => {
    const both = (name: string, onDemand: number, spot: number) =>
      aType({ name, cpu: 4, memory: "4Gi", offerings: [anOffering("on-demand", "z1", onDemand), anOffering("spot", "z1", spot)] });
    const types = [both("type2", 1.3, 0.1), both("type1", 1, 0.2), both("type0", 1.3, 0.1)];
    expect(
      typeNames(planOf({ types, pools: [aPool({ requirements: [{ key: CAPACITY_TYPE, operator: "In", values: ["on-demand"] }] })] })),
    ).toEqual(["type1", "type0", "type2"]);
    expect(typeNames(planOf({ types }))).toEqual(["type0", "type2", "type1"]);
  });

  test("S-181: only capacity types that can be launched are asked for", () => {
    const types = [
      aType({
        name: "t",
        cpu: 4,
        memory: "4Gi",
        offerings: [anOffering("on-demand", "z1", 1), anOffering("spot", "z1", 0.1, { isAvailable: false })],
      }),
    ];
    expect(valuesOf(planOf({ types }), CAPACITY_TYPE)).toEqual(["on-demand"]);
  });

  test("S-104: only spot is there and the pod wants on-demand: category 5", () => {
    const types = [
      aType({
        name: "t",
        cpu: 4,
        memory: "4Gi",
        offerings: [anOffering("spot", "z1", 1), anOffering("on-demand", "z1", 1, { isAvailable: false })],
      }),
    ];
    const plan = planOf({ types, pods: [aPod({ nodeSelector: { [CAPACITY_TYPE]: "on-demand" } })] });
    expect(plan.unschedulable[0]!.reasons[0]).toMatchObject({ kind: "no-offering", filter: { category: 5 } });
  });

  test("S-102: category 10, nothing meets both", () => {
    const plan = planOf({ pods: [aPod({ requests: { "vendor-a": 1 }, nodeSelector: { "kubernetes.io/arch": "arm64" } })] });
    expect(plan.unschedulable[0]!.reasons[0]).toMatchObject({ kind: "insufficient-resources", filter: { category: 10 } });
  });

  test("S-102: category 6, one requirement at fault or only all together", () => {
    const combined = planOf({ pods: [aPod({ nodeSelector: { size: "large", "kubernetes.io/arch": "amd64" } })] }).unschedulable[0]!
      .reasons[0]!;
    expect(combined).toMatchObject({
      kind: "incompatible-requirements",
      key: "kubernetes.io/arch, size",
      offered: "no instance type that has all of it",
    });
    expect(combined).toMatchObject({ filter: { category: 6 } });
  });

  test("S-53, S-54: an override counts together with its own offerings alone", () => {
    const overridden = (isAvailable: boolean) => [
      aType({ name: "plain", cpu: 4, memory: "4Gi" }),
      aType({
        name: "extended",
        cpu: 4,
        memory: "4Gi",
        offerings: [anOffering("on-demand", "z1", 1), anOffering("on-demand", "z2", 1, { isAvailable, capacityOverride: { ext: 4 } })],
      }),
    ];
    const pod = aPod({ requests: { ext: 1 } });
    expect(typeNames(planOf({ types: overridden(true), pods: [pod] }))).toEqual(["extended"]);
    expect(planOf({ types: overridden(false), pods: [pod] }).newNodes).toHaveLength(0);
  });

  test("V-60: a full reservation is no offering, a free one is", () => {
    const reserved = (reservationCapacity: number) => [
      aType({ name: "t", cpu: 4, memory: "4Gi", offerings: [anOffering("reserved", "z1", 0, { reservationCapacity })] }),
    ];
    expect(planOf({ types: reserved(0) }).newNodes).toHaveLength(0);
    expect(planOf({ types: reserved(1) }).newNodes).toHaveLength(1);
  });

  test("S-42: the label that was probably meant", () => {
    const { reasons } = planOf({ pods: [aPod({ nodeSelector: { zone: "z1" } })] }).unschedulable[0]!;
    expect(sentences(reasons)).toBe(`incompatible requirements, label "zone" does not have known values (typo of "${ZONE}"?)`);
  });

  test("S-43: what the pool offers instead", () => {
    const pools = [aPool({ requirements: [{ key: ZONE, operator: "In", values: ["z1"] }] })];
    const { reasons } = planOf({ pools, pods: [aPod({ nodeSelector: { [ZONE]: "z2" } })] }).unschedulable[0]!;
    expect(sentences(reasons)).toBe(`incompatible requirements, key ${ZONE}, ${ZONE} In [z2] not in ${ZONE} In [z1]`);
  });

  test("S-103: resources are the pod's own with the least and the most overhead", () => {
    const daemonSets = [aDaemonSet({ requests: { cpu: "100m" } }), aDaemonSet({ requests: { cpu: "1" }, nodeSelector: { size: "large" } })];
    const { reasons } = planOf({ daemonSets, pods: [aPod({ requests: { cpu: "512" } })] }).unschedulable[0]!;
    expect(sentences(reasons)).toMatch(/resources=min=\{"cpu":"512100m","pods":"2"\}, max=\{"cpu":"513100m","pods":"3"\}$/);
  });

  test("S-87: when time is over, what is placed stays and the rest waits", () => {
    let asked = 0;
    const plan = planOf({ pods: pods(3), options: { isOverdue: () => ++asked > 2 } });
    expect(plan.newNodes[0]!.pods).toHaveLength(2);
    expect(kindsOf(plan)).toEqual(["next-solve"]);
  });

  test("names: numbers compare as numbers", () => {
    const types = [aType({ name: "one", cpu: 2, memory: "2Gi", pods: 1 })];
    const plan = planOf({ types, pods: pods(11) });
    expect(plan.newNodes.map(({ name }) => name).slice(-3)).toEqual(["default-9", "default-10", "default-11"]);
  });
});

test("S-194, S-195: a pod with device claims is said to be unsupported", () => {
  const plan = planOf({ pods: [aPod({ spec: { resourceClaims: [{ name: "gpu" }] } })], nodes: [aNode({ name: "n" })] });
  expect(plan.unschedulable[0]!.reasons).toEqual([{ kind: "unsupported", feature: "dynamic resource claims" }]);
});

test("the fixture has the types of the chapter", () => {
  expect(FIXTURE_TYPES.map(({ name }) => name)).toEqual(["default", "small", "gpu-a", "gpu-b", "arm", "single"]);
});
