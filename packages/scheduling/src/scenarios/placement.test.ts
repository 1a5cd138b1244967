/** Scenarios T24…T30, T56, T57, T59, T60: where pods go, and what the NodeClaim says, as section 25 of the specification has them. */
import { parseResources, type TopologySpreadConstraint } from "@joinery/api";
import { expect, test } from "vitest";
import { toNodeClaim } from "../plan/node-claim.ts";
import { solve } from "../solve/solve.ts";
import {
  aDaemonSet,
  anOffering,
  aPod,
  aPool,
  aProblem,
  aType,
  FIXTURE_TYPES,
  type PodWish,
  type PoolWish,
  type ProblemWish,
  pods,
} from "../testing/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";
const AMD64 = { "kubernetes.io/arch": "amd64" };
const planOf = (wish: ProblemWish) => solve(aProblem({ ...wish, options: { preferencePolicy: "Respect", ...wish.options } }));
const zoneOf = (wish: ProblemWish) => planOf(wish).newNodes.map(({ requirements }) => requirements.find(({ key }) => key === ZONE)?.values);
const inZones = (...values: string[]) => ({ key: ZONE, operator: "In" as const, values });

test("T24 S-84: db ← web ← cache ← ui, in any order of creation", () => {
  const names = ["db", "web", "cache", "ui"];
  const chain = (order: readonly string[]) =>
    names.map((name, at) => {
      const target = names[at - 1];
      const required = target && [{ topologyKey: HOSTNAME, labelSelector: { matchLabels: { app: target } } }];
      const affinity = required && { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
      return aPod({ name, labels: { app: name }, createdAtMs: 1000 * order.indexOf(name), ...(affinity && { affinity }) });
    });
  for (const order of permutations(names)) {
    const plan = planOf({ pods: chain(order) });
    expect([order, plan.newNodes.map((node) => node.pods.length), plan.unschedulable]).toEqual([order, [4], []]);
  }
});

function permutations<T>(list: readonly T[]): readonly (readonly T[])[] {
  if (list.length === 0) return [[]];
  return list.flatMap((one, at) => permutations(list.toSpliced(at, 1)).map((rest) => [one, ...rest]));
}

test.each([
  {
    scenario: "T25a",
    batch: [
      ...pods(40, { name: "large", requests: { memory: "1.8G" }, nodeSelector: AMD64 }),
      ...pods(20, { name: "little", requests: { memory: "400M" }, nodeSelector: AMD64 }),
    ],
    type: "default",
    nodes: 20,
    podsPerNode: 3,
  },
  { scenario: "T25b", batch: pods(25, { requests: { cpu: "1m" }, nodeSelector: AMD64 }), type: "small", nodes: 5, podsPerNode: 5 },
])("$scenario: $nodes nodes of type $type", ({ batch, type, nodes, podsPerNode }) => {
  const { newNodes } = planOf({ pods: batch });
  expect(newNodes.map(({ cheapest }) => cheapest.instanceType)).toEqual(Array(nodes).fill(type));
  expect(newNodes.reduce((sum, node) => sum + node.pods.length, 0)).toBe(nodes * podsPerNode);
  if (type === "small") expect(newNodes.map((node) => node.pods.length)).toEqual(Array(nodes).fill(podsPerNode));
});

test("T26a S-49: nothing of an unknown resource fits anywhere", () => {
  expect(planOf({ pods: [aPod({ requests: { "foo.com/x": 0 } })] }).newNodes).toHaveLength(1);
});

test("T26b S-102: 512 CPUs are too much for every type", () => {
  const [refused] = planOf({ pods: [aPod({ requests: { cpu: "512" } })] }).unschedulable;
  expect(refused!.reasons).toMatchObject([{ kind: "insufficient-resources", filter: { category: 7 } }]);
});

test("T27a S-110: of [invalid], [invalid], [z1], [z2] the first that works", () => {
  const terms = ["invalid", "invalid", "z1", "z2"].map((zone) => [inZones(zone)]);
  expect(zoneOf({ pods: [aPod({ terms })] })).toEqual([["z1"]]);
});

test("T27b S-108: preferences fall by weight", () => {
  const preferred = [
    {
      weight: 100,
      preference: { matchExpressions: [{ key: "node.kubernetes.io/instance-type", operator: "In" as const, values: ["nope"] }] },
    },
    { weight: 50, preference: { matchExpressions: [inZones("z2")] } },
    { weight: 1, preference: { matchExpressions: [inZones("z1")] } },
  ];
  const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } };
  const pools = [aPool({ requirements: [inZones("z1", "z2")] as PoolWish["requirements"] & object })];
  expect(zoneOf({ pools, pods: [aPod({ affinity })] })).toEqual([["z2"]]);
});

test("T28 S-111: all required terms fall before the first preference", () => {
  const affinity = {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: ["z1", "bad"].map((zone) => ({ matchExpressions: [inZones(zone)] })),
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: "kubernetes.io/arch", operator: "In" as const, values: ["nope"] }] } },
      ],
    },
  };
  expect(planOf({ pods: [aPod({ affinity })] }).unschedulable).toHaveLength(1);
});

const labelSelector = { matchLabels: { app: "x" } };
const softSpread: TopologySpreadConstraint = { maxSkew: 1, topologyKey: HOSTNAME, whenUnsatisfiable: "ScheduleAnyway", labelSelector };
const softApart = {
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: ZONE, labelSelector } }],
};

test.each<{ what: string; wish: PodWish }>([
  { what: "a hostname spread that may be broken", wish: { spec: { topologySpreadConstraints: [softSpread] } } },
  { what: "a zonal anti-affinity that is preferred", wish: { affinity: { podAntiAffinity: softApart } } },
])("T29 S-107: under Ignore five pods with $what share a node", ({ wish }) => {
  const plan = planOf({ pods: pods(5, { labels: { app: "x" }, ...wish }), options: { preferencePolicy: "Ignore" } });
  expect(plan.newNodes.map((node) => node.pods.length)).toEqual([5]);
});

test("T30a S-115: tolerated by Exists and by Equal; not by a wrong value, not by nothing", () => {
  const pools = [aPool({ taints: [{ key: "test-key", value: "test-value", effect: "NoSchedule" }] })];
  const tolerations: readonly PodWish["tolerations"][] = [
    [{ key: "test-key", operator: "Exists", effect: "NoSchedule" }],
    [{ key: "test-key", operator: "Equal", value: "test-value", effect: "NoSchedule" }],
    [{ key: "test-key", operator: "Equal", value: "wrong", effect: "NoSchedule" }],
    [],
  ];
  const isTaken = (list: PodWish["tolerations"]) => planOf({ pools, pods: [aPod({ tolerations: list ?? [] })] }).newNodes.length === 1;
  expect(tolerations.map(isTaken)).toEqual([true, true, false, false]);
});

test("T30b S-120: one host port, two nodes", () => {
  const spec = { containers: [{ name: "c", ports: [{ containerPort: 8080, hostPort: 8080 }] }] };
  expect(planOf({ pods: pods(2, { spec }) }).newNodes).toHaveLength(2);
});

test("T56 S-56: every type that fits is in the NodeClaim, the cheapest is launched", () => {
  const types = [
    aType({ name: "medium", cpu: 2, memory: "2Gi", offerings: [anOffering("on-demand", "z1", 3)] }),
    aType({ name: "small", cpu: 1, memory: "1Gi", offerings: [anOffering("on-demand", "z1", 2)] }),
    aType({ name: "large", cpu: 4, memory: "4Gi", offerings: [anOffering("on-demand", "z1", 1)] }),
  ];
  const [node] = planOf({ types, pods: [aPod({ requests: { cpu: "1m" } })] }).newNodes;
  const item = toNodeClaim(node!).spec.requirements.find(({ key }) => key === "node.kubernetes.io/instance-type");
  expect(item?.values).toEqual(["large", "medium", "small"]);
  expect(node!.cheapest.instanceType).toBe("large");
});

test("T57 S-194, S-195: a pod whose init container lists a device claim fails; a DaemonSet with one takes no room", () => {
  const resources = { claims: [{ name: "gpu" }] };
  const spec = { containers: [{ name: "c" }], initContainers: [{ name: "i", resources }] };
  const plan = planOf({ pods: [aPod({ spec }), aPod({ name: "plain", requests: { cpu: "1" } })] });
  expect(plan.unschedulable.map(({ reasons }) => reasons)).toMatchObject([[{ kind: "unsupported" }]]);
  const daemonSet = aDaemonSet({ spec: { containers: [{ name: "c", resources: { requests: { cpu: "3" }, ...resources } }] } });
  const [node] = planOf({ daemonSets: [daemonSet], pods: [aPod({ requests: { cpu: "1" } })] }).newNodes;
  expect([node!.cheapest.instanceType, node!.daemonSetRequests]).toEqual(["small", {}]);
});

test("T59 S-54: only the type whose offering adds the resource, and only while that offering is there", () => {
  const typesWith = (isAvailable: boolean) => [
    aType({ name: "plain", cpu: 2, memory: "2Gi" }),
    aType({
      name: "extended",
      cpu: 4,
      memory: "4Gi",
      offerings: [
        anOffering("on-demand", "z1", 1),
        anOffering("on-demand", "z2", 2, { capacityOverride: parseResources({ ext: 4 }), isAvailable }),
      ],
    }),
  ];
  const wish = { pods: [aPod({ requests: { ext: 1 } })] };
  expect(planOf({ ...wish, types: typesWith(true) }).newNodes.map(({ instanceTypes }) => instanceTypes.map(({ name }) => name))).toEqual([
    ["extended"],
  ]);
  expect(planOf({ ...wish, types: typesWith(false) }).newNodes).toEqual([]);
});

test("T60 S-179, S-182: custom keys become labels, well-known ones do not; the grace period is the pool's, else the provider's", () => {
  const requirements = [
    { key: "k2", operator: "In", values: ["a"] },
    { key: "k3", operator: "NotIn", values: ["b"] },
    { key: "k4", operator: "Lt", values: ["4"] },
    { key: "k5", operator: "Gt", values: ["5"] },
    { key: "k6", operator: "Exists" },
    { key: "k7", operator: "DoesNotExist" },
    { key: "node.kubernetes.io/windows-build", operator: "NotIn", values: ["x"] },
  ] as PoolWish["requirements"] & object;
  const pool = aPool({ requirements });
  const [node] = planOf({ pools: [pool], types: FIXTURE_TYPES }).newNodes;
  const { k2, k3, k4, k5, k6, ...others } = node!.labels;
  expect(k2).toBe("a");
  expect(k3).not.toBe("b");
  expect(Number(k4)).toBeLessThan(4);
  expect(Number(k5)).toBeGreaterThan(5);
  for (const label of [k3, k4, k5, k6]) expect(label).toMatch(/^\d+$/);
  expect(others).not.toHaveProperty("k7");
  expect(others).not.toHaveProperty(["node.kubernetes.io/windows-build"]);
  const defaults = { terminationGracePeriod: "98h" };
  expect(toNodeClaim(node!, defaults).spec.terminationGracePeriod).toBe("98h");
  const template = { ...pool.spec.template, spec: { ...pool.spec.template.spec, terminationGracePeriod: "223h" } };
  const [own] = planOf({ pools: [{ ...pool, spec: { ...pool.spec, template } }] }).newNodes;
  expect(toNodeClaim(own!, defaults).spec.terminationGracePeriod).toBe("223h");
  expect(toNodeClaim(node!).spec).not.toHaveProperty("terminationGracePeriod");
});
