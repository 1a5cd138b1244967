/** Scenarios T8…T13: labels, requirements and the order of pools, as section 25 of the specification has them. */
import { CORE_WELL_KNOWN_LABELS, type NodeSelectorRequirement } from "@joinery/api";
import { expect, test } from "vitest";
import type { RequirementItem } from "../instance-type.ts";
import { Requirement } from "../requirements/requirement.ts";
import { Requirements } from "../requirements/requirements.ts";
import { requirementItems } from "../requirements/text.ts";
import { sentence } from "../sentence.ts";
import { solve } from "../solve/solve.ts";
import { aPod, aPool, aProblem, type PoolWish, type ProblemWish, pods } from "../testing/builders.ts";

const planOf = (wish: ProblemWish) => solve(aProblem({ ...wish, options: { preferencePolicy: "Respect", ...wish.options } }));
const item = (operator: NodeSelectorRequirement["operator"], values: string[], minValues?: number): RequirementItem => ({
  key: "k",
  operator,
  values,
  ...(minValues !== undefined && { minValues }),
});

test.each([
  { one: item("Gt", ["4"]), other: item("Gte", ["5"]), both: [item("Gte", ["5"])] },
  { one: item("Gt", ["5"]), other: item("Gte", ["5"]), both: [item("Gte", ["6"])] },
  { one: item("Lt", ["5"]), other: item("Lte", ["5"]), both: [item("Lte", ["4"])] },
  { one: item("In", ["A", "B"], 2), other: item("In", ["A"], 1), both: [item("In", ["A"], 2)] },
])("T8 S-34: $one.operator ∩ $other.operator", ({ one, other, both }) => {
  expect(requirementItems(Requirement.of(one).intersect(Requirement.of(other)))).toEqual(both);
});

test("T9 S-42: the label that was meant is named", () => {
  const wanted = Requirements.fromItems([{ key: "zone", operator: "Exists" }]);
  const [failure] = Requirements.empty.incompatibilities(wanted, CORE_WELL_KNOWN_LABELS);
  expect(failure).toEqual({ kind: "undefined-label", key: "zone", typoOf: "topology.kubernetes.io/zone" });
  expect(sentence({ kind: "undefined-label", nodePool: "p", key: "zone", typoOf: "topology.kubernetes.io/zone" })).toContain(
    'label "zone" does not have known values (typo of "topology.kubernetes.io/zone"?)',
  );
});

const K: readonly (readonly [string, NodeSelectorRequirement])[] = [
  ["k In[v]", { key: "k", operator: "In", values: ["v"] }],
  ["k In[other]", { key: "k", operator: "In", values: ["other"] }],
  ["k Exists", { key: "k", operator: "Exists" }],
  ["k NotIn[v]", { key: "k", operator: "NotIn", values: ["v"] }],
  ["k NotIn[other]", { key: "k", operator: "NotIn", values: ["other"] }],
  ["k DoesNotExist", { key: "k", operator: "DoesNotExist" }],
];

test.each([
  { scenario: "T10a", pool: aPool(), takes: [false, false, false, true, true, true], label: undefined },
  {
    scenario: "T10b",
    pool: aPool({ requirements: [{ key: "k", operator: "In", values: ["v"] }] }),
    takes: [true, false, true, false, true, false],
    label: "v",
  },
])("$scenario S-40: which pods a pool takes without and with a custom label", ({ pool, takes, label }) => {
  for (const [at, [what, term]] of K.entries()) {
    const { newNodes } = planOf({ pools: [pool], pods: [aPod({ terms: [[term]] })] });
    expect([what, newNodes.length === 1]).toEqual([what, takes[at]]);
    if (label !== undefined) for (const node of newNodes) expect(node.labels.k).toBe(label);
  }
});

test.each([
  { wanted: { operator: "Gt", values: ["8"] }, integer: "16" },
  { wanted: { operator: "Lt", values: ["8"] }, integer: "2" },
  { wanted: { operator: "Gte", values: ["16"] }, integer: "16" },
  { wanted: { operator: "Lte", values: ["2"] }, integer: "2" },
] as const)("T11: integer $wanted.operator $wanted.values", ({ wanted, integer }) => {
  const requirements = [{ key: "integer", operator: wanted.operator, values: [...wanted.values] }] as PoolWish["requirements"] & object;
  const [node] = planOf({ pools: [aPool({ requirements })] }).newNodes;
  const cpus = node!.instanceTypes[0]!.requirements.find(({ key }) => key === "integer")?.values;
  expect(cpus).toEqual([integer]);
});

const poolsOf = (wish: ProblemWish) => planOf(wish).newNodes.map(({ nodePool }) => nodePool.metadata?.name);

test("T12a S-60: the heaviest pool takes all, a selector reaches the one without weight", () => {
  const pools = [aPool({ name: "none" }), aPool({ name: "twenty", weight: 20 }), aPool({ name: "hundred", weight: 100 })];
  expect(new Set(poolsOf({ pools, pods: pods(3) }))).toEqual(new Set(["hundred"]));
  expect(poolsOf({ pools, pods: [aPod({ nodeSelector: { "karpenter.sh/nodepool": "none" } })] })).toEqual(["none"]);
});

test("T12b S-60: of equal weights the later name", () => {
  const pools = [aPool({ name: "np-1", weight: 10 }), aPool({ name: "np-2", weight: 10 })];
  expect(new Set(poolsOf({ pools, pods: pods(3) }))).toEqual(new Set(["np-2"]));
});

test("T13 S-117: a pool that prefers not is taken when there is no other", () => {
  const tainted = aPool({ name: "a", taints: [{ key: "foo", value: "bar", effect: "PreferNoSchedule" }] });
  expect(poolsOf({ pools: [tainted, aPool({ name: "b" })] })).toEqual(["b"]);
  expect(poolsOf({ pools: [aPool({ name: "0-b" }), tainted] })).toEqual(["0-b"]);
  expect(poolsOf({ pools: [tainted] })).toEqual(["a"]);
});
