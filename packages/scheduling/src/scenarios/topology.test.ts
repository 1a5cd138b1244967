/** Scenarios T35…T40, T42…T46: constraints between pods, as section 25 of the specification has them. T47, T48: pods/default-spread.test.ts. */
import type { LabelSelector, PodAffinityTerm, TopologySpreadConstraint } from "@joinery/api";
import { expect, test } from "vitest";
import { plansOf } from "../plan/next-solve.ts";
import type { Plan } from "../plan.ts";
import { solve } from "../solve/solve.ts";
import { aNode, aPod, aPool, aProblem, aType, bound, type PodWish, type ProblemWish, pods } from "../testing/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";
const labels = { app: "x" };
const problemOf = (wish: ProblemWish) => aProblem({ ...wish, options: { preferencePolicy: "Respect", ...wish.options } });
const planOf = (wish: ProblemWish) => solve(problemOf(wish));
const matching = (matchLabels: Record<string, string>): LabelSelector => ({ matchLabels });
const spread = (topologyKey: string, more: Partial<TopologySpreadConstraint> = {}): PodWish => ({
  labels,
  spec: {
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey, whenUnsatisfiable: "DoNotSchedule", labelSelector: matching(labels), ...more }],
  },
});
const required = (...terms: PodAffinityTerm[]) => ({ requiredDuringSchedulingIgnoredDuringExecution: terms });
const near = (topologyKey: string, matchLabels: Record<string, string> = labels): PodWish["affinity"] & object => ({
  podAffinity: required({ topologyKey, labelSelector: matching(matchLabels) }),
});
const apart = (topologyKey: string, matchLabels: Record<string, string> = labels): PodWish["affinity"] & object => ({
  podAntiAffinity: required({ topologyKey, labelSelector: matching(matchLabels) }),
});
const zonePool = (...values: string[]) => aPool({ requirements: [{ key: ZONE, operator: "In", values }] });
const placed = ({ newNodes, existingNodes }: Plan) => [...newNodes, ...existingNodes].flatMap((node) => node.pods);
/** Pods per zone of nodes that are bound to one. */
function countsOf({ newNodes }: Plan): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { requirements, pods: keys } of newNodes) {
    const zone = requirements.find(({ key }) => key === ZONE)?.values?.join("|") ?? "any";
    counts[zone] = (counts[zone] ?? 0) + keys.length;
  }
  return counts;
}
const sortedCounts = (plan: Plan) => Object.values(countsOf(plan)).sort();

test("T35a S-145: four pods over three zones, 1/1/2", () => {
  expect(sortedCounts(planOf({ pods: pods(4, spread(ZONE)) }))).toEqual([1, 1, 2]);
});

test("T35b S-144: with one pod in z3, out of reach, z1 and z2 take two each", () => {
  const plan = planOf({
    pools: [zonePool("z1", "z2")],
    types: [aType({ name: "t", cpu: 2, memory: "2Gi" })],
    boundPods: [bound({ labels }, { name: "n", labels: { [ZONE]: "z3" } })],
    pods: pods(6, { ...spread(ZONE), requests: { cpu: "1.1" } }),
  });
  expect(countsOf(plan)).toEqual({ z1: 2, z2: 2 });
  expect(plan.unschedulable).toHaveLength(2);
});

test.each([
  { minDomains: 3, pools: [zonePool("z1", "z2")], count: 3, counts: [1, 1], left: 1 },
  { minDomains: 2, pools: [aPool()], count: 11, counts: [3, 4, 4], left: 0 },
])("T36 S-144: minDomains $minDomains, $count pods", ({ minDomains, pools, count, counts, left }) => {
  const plan = planOf({ pools, pods: pods(count, spread(ZONE, { minDomains })) });
  expect(sortedCounts(plan)).toEqual(counts);
  expect(plan.unschedulable).toHaveLength(left);
});

test("T37 S-146: by hostname two apps of two pods share two nodes; four pods with skew 4 share one", () => {
  const app = (name: string): PodWish => ({ ...spread(HOSTNAME, { labelSelector: matching({ app: name }) }), labels: { app: name }, name });
  expect(planOf({ pods: [...pods(2, app("a")), ...pods(2, app("b"))] }).newNodes).toHaveLength(2);
  expect(planOf({ pods: pods(4, spread(HOSTNAME, { maxSkew: 4 })) }).newNodes).toHaveLength(1);
});

test.each([
  { policy: "Ignore" as const, scheduled: 1 },
  { policy: "Honor" as const, scheduled: 2 },
])("T38 S-132: a pool that is not tolerated, nodeTaintsPolicy $policy: $scheduled scheduled", ({ policy, scheduled }) => {
  const open = aPool({ name: "a", labels: { spread: "foo" } });
  const closed = aPool({ name: "b", labels: { spread: "bar" }, taints: [{ key: "t", effect: "NoSchedule" }] });
  const plan = planOf({ pools: [open, closed], pods: pods(2, spread("spread", { nodeTaintsPolicy: policy })) });
  expect(placed(plan)).toHaveLength(scheduled);
  expect(plan.newNodes.every((node) => node.labels.spread === "foo")).toBe(true);
});

test.each([
  { policy: "Ignore" as const, scheduled: 1 },
  { policy: "Honor" as const, scheduled: 5 },
])("T39 S-139: nodes that the pods cannot be on, nodeAffinityPolicy $policy: $scheduled scheduled", ({ policy, scheduled }) => {
  const mismatched = ["foo", "bar"].map((value) => aNode({ name: value, labels: { spread: value, selector: "mismatch" } }));
  const pools = [aPool({ labels: { spread: "baz", selector: "value" } })];
  const selecting = { ...spread("spread", { nodeAffinityPolicy: policy }), nodeSelector: { selector: "value" } };
  expect(placed(planOf({ nodes: mismatched, pools, pods: pods(5, selecting) }))).toHaveLength(scheduled);
});

test("T40 S-138: two revisions of two pods by hostname, two nodes with one of each", () => {
  const of = (rev: string): PodWish => ({ ...spread(HOSTNAME, { matchLabelKeys: ["rev"] }), labels: { ...labels, rev }, name: rev });
  const plan = planOf({ pods: [...pods(2, of("a")), ...pods(2, of("b"))] });
  expect(plan.newNodes.map((node) => node.pods.map((key) => key.split("/")[1]![0]))).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
});

test("T42 S-151: ten that want one node, five to a node: five, and never more", () => {
  const plans = plansOf(problemOf({ pods: pods(10, { labels, affinity: near(HOSTNAME) }) }), 3);
  expect(plans.map((plan) => [plan.newNodes.length, placed(plan).length])).toEqual([
    [1, 5],
    [0, 0],
    [0, 0],
  ]);
});

test("T43 S-141: the target first, its ten followers in its zone a solve later", () => {
  const target = aPod({ name: "target", labels: { app: "target" }, requests: { cpu: "2" } });
  const followers = pods(10, { name: "f", affinity: near(ZONE, { app: "target" }) });
  const problem = problemOf({ pods: [target, ...followers] });
  const [first, second] = plansOf(problem, 2);
  expect(placed(first!)).toEqual(["default/target"]);
  expect(placed(second!)).toHaveLength(10);
  const zone = first!.newNodes[0]!.cheapest.zone;
  expect(second!.newNodes.every((node) => node.cheapest.zone === zone)).toBe(true);
});

test("T44 S-141: three that keep apart by zone, one more each solve; a fourth never", () => {
  const plans = plansOf(problemOf({ pods: pods(4, { labels, affinity: apart(ZONE) }) }), 5);
  expect(plans.map((plan) => placed(plan).length)).toEqual([1, 1, 1, 0, 0]);
});

test("T45 S-153: one that keeps app=x away in every zone", () => {
  const inZone = (zone: string): PodWish => ({ name: zone, requests: { cpu: "2" }, nodeSelector: { [ZONE]: zone } });
  const zones = ["z1", "z2", "z3"];
  const plain = aPod({ name: "plain", labels });
  const guards = zones.map((zone) => aPod({ ...inZone(zone), affinity: apart(ZONE) }));
  const plan = planOf({ pods: [...guards, plain] });
  expect([placed(plan).length, plan.unschedulable.map(({ pod }) => pod)]).toEqual([3, ["default/plain"]]);
  const boundPods = zones.map((zone) => bound({ affinity: apart(ZONE) }, { name: zone, labels: { [ZONE]: zone } }));
  expect(planOf({ boundPods, pods: [plain] }).unschedulable).toHaveLength(1);
  const term = { topologyKey: ZONE, labelSelector: matching(labels) };
  const soft = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] } };
  const mild = zones.map((zone) => aPod({ ...inZone(zone), affinity: soft }));
  expect(planOf({ pods: [...mild, plain] }).unschedulable).toEqual([]);
});

test.each<{ what: string; term: Partial<PodAffinityTerm>; isTogether: boolean }>([
  { what: "no namespaces", term: {}, isTogether: false },
  { what: "namespaces [other]", term: { namespaces: ["other"] }, isTogether: true },
  { what: "an empty namespaceSelector", term: { namespaceSelector: {} }, isTogether: true },
])("T46 S-156: a target in another namespace, $what", ({ term, isTogether }) => {
  const target = aPod({ name: "target", namespace: "other", labels: { app: "target" }, requests: { cpu: "1" } });
  const podAffinity = required({ topologyKey: HOSTNAME, labelSelector: matching({ app: "target" }), ...term });
  const plan = planOf({
    namespaces: new Map([
      ["default", {}],
      ["other", {}],
    ]),
    pods: [target, aPod({ name: "follower", affinity: { podAffinity } })],
  });
  expect(plan.newNodes.map((node) => node.pods.length)).toEqual([isTogether ? 2 : 1]);
  expect(plan.unschedulable).toHaveLength(isTogether ? 0 : 1);
});
