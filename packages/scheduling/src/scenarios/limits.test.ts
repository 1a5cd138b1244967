/** Scenarios T49…T55: limits, reservations and minValues, as section 25 of the specification has them. VT-35, VT-36: solve/reservations.test.ts. */
import { expect, test } from "vitest";
import type { InstanceType, Offering } from "../instance-type.ts";
import { afterwards, plansOf } from "../plan/next-solve.ts";
import type { Plan } from "../plan.ts";
import { sentence } from "../sentence.ts";
import { solve } from "../solve/solve.ts";
import {
  anOffering,
  aPod,
  aPool,
  aProblem,
  aReservation,
  aType,
  type PodWish,
  type PoolWish,
  type ProblemWish,
  pods,
} from "../testing/builders.ts";

const HOSTNAME = "kubernetes.io/hostname";
const INSTANCE_TYPE = "node.kubernetes.io/instance-type";
const CAPACITY_TYPE = "karpenter.sh/capacity-type";
const RELAXED = "karpenter.sh/nodeclaim-min-values-relaxed";
const problemOf = (wish: ProblemWish) => aProblem({ ...wish, options: { preferencePolicy: "Respect", ...wish.options } });
const planOf = (wish: ProblemWish) => solve(problemOf(wish));
const lonely: PodWish = {
  labels: { app: "x" },
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: HOSTNAME, labelSelector: { matchLabels: { app: "x" } } }],
    },
  },
};
const launchedOf = ({ newNodes }: Plan) => newNodes.map(({ cheapest }) => `${cheapest.instanceType} ${cheapest.capacityType}`);

test("T49a S-162: limit cpu 3, the first claim of at most two CPUs leaves one", () => {
  const plan = planOf({ pools: [aPool({ limits: { cpu: "3" } })], pods: pods(2, { ...lonely, requests: { cpu: "1.5" } }) });
  expect([plan.newNodes.length, plan.unschedulable.length]).toEqual([1, 1]);
});

test("T49b S-161: limit cpu 2, a pod of 2.1", () => {
  expect(planOf({ pools: [aPool({ limits: { cpu: "2" } })], pods: [aPod({ requests: { cpu: "2.1" } })] }).newNodes).toEqual([]);
});

test("T49c S-161: limit of two nodes, three pods that come one per solve", () => {
  const [first, second, third] = pods(3, lonely);
  const pools = [aPool({ limits: { nodes: "2" } })];
  const placed: number[] = [];
  let problem = problemOf({ pools, pods: [] });
  for (const pod of [first!, second!, third!]) {
    problem = { ...problem, pods: [pod] };
    const plan = solve(problem);
    placed.push(plan.newNodes.length);
    problem = afterwards(problem, plan);
  }
  expect(placed).toEqual([1, 1, 0]);
});

const reserved = (id: string, slots: number, zone = "z1") => aReservation({ id, slots, zone });
const typeOf = (name: string, cpu: number, ...more: readonly Offering[]): InstanceType =>
  aType({ name, cpu, memory: `${cpu}Gi`, offerings: [anOffering("on-demand", "z1", cpu), anOffering("spot", "z1", cpu / 2), ...more] });

test("T50 S-168, S-171: small reserved, medium reserved, small on-demand or spot", () => {
  const types = [typeOf("large", 6), typeOf("medium", 3, reserved("m", 1)), typeOf("small", 2, reserved("s", 1))];
  // Equal prices of reservations go by name; the provider takes the smallest.
  const priced = types.map((type) => ({
    ...type,
    offerings: type.offerings.map((offering) =>
      offering.reservationCapacity === undefined ? offering : { ...offering, priceUsdPerHour: type.name === "small" ? 0.001 : 0.002 },
    ),
  }));
  const plans = plansOf(problemOf({ types: priced, pods: pods(3, { requests: { cpu: "1800m" } }) }), 3);
  expect(plans.map(launchedOf)).toEqual([["small reserved"], ["medium reserved"], [expect.stringMatching(/^small (on-demand|spot)$/)]]);
});

test("T51a S-166: two pools share a reservation with one slot", () => {
  const pinned = ["a", "b"].map((name) => aPod({ nodeSelector: { "karpenter.sh/nodepool": name } }));
  const problem = problemOf({
    types: [typeOf("t", 4, reserved("r", 1))],
    pools: [aPool({ name: "a" }), aPool({ name: "b" })],
    pods: pinned,
  });
  expect(plansOf(problem, 2).map(launchedOf)).toEqual([["t reserved"], [expect.stringMatching(/^t (on-demand|spot)$/)]]);
});

test("T51b S-168: reservations of one and two slots for four pods: two, one, one", () => {
  const problem = problemOf({ types: [typeOf("t", 4, reserved("one", 1), reserved("two", 2))], pods: pods(4, lonely) });
  const launched = plansOf(problem, 3).map(launchedOf);
  expect(launched.map((nodes) => nodes.length)).toEqual([2, 1, 1]);
  expect(launched.slice(0, 2).flat()).toEqual(Array(3).fill("t reserved"));
  expect(launched[2]![0]).not.toContain("reserved");
});

test("T52 S-171: nothing is given up for want of a reservation that this solve has taken", () => {
  const withReservation = (id: string) => [typeOf("t", 4, reserved(id, 1))];
  const preferred = [
    { weight: 1, preference: { matchExpressions: [{ key: "karpenter.sh/nodepool", operator: "In" as const, values: ["np-1"] }] } },
  ];
  const affinity = { ...lonely.affinity, nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } };
  const problem = problemOf({ pods: pods(2, { ...lonely, affinity }) });
  const pools = ["np-1", "np-2"].map((name) => ({ nodePool: aPool({ name }), instanceTypes: withReservation(`r-${name}`) }));
  const plan = solve({ ...problem, pools });
  expect(plan.newNodes.map(({ nodePool }) => nodePool.metadata?.name)).toEqual(["np-1"]);
  expect(plan.unschedulable.map(({ reasons }) => reasons)).toEqual([[{ kind: "next-solve", waitsFor: "reservation" }]]);
});

const minValues = (least: number): PoolWish => ({
  requirements: [{ key: INSTANCE_TYPE, operator: "In", values: ["t1", "t2"], minValues: least }],
});
const twoTypes = [aType({ name: "t1", cpu: 1, memory: "1Gi" }), aType({ name: "t2", cpu: 4, memory: "4Gi" })];
const namesOf = ({ newNodes }: Plan) => newNodes.map(({ instanceTypes }) => instanceTypes.map(({ name }) => name));

test("T53 S-99: two pods of 0.9 CPU do not take the small type from each other", () => {
  const plan = planOf({ pools: [aPool(minValues(2))], types: twoTypes, pods: pods(2, { requests: { cpu: "0.9" } }) });
  expect(namesOf(plan)).toEqual([
    ["t1", "t2"],
    ["t1", "t2"],
  ]);
});

test("T54 S-64, S-173: minValues 3 of two types", () => {
  const wish = { pools: [aPool(minValues(3))], types: twoTypes };
  const strict = planOf(wish);
  expect(strict.newNodes).toEqual([]);
  expect(sentence(strict.droppedPools[0]!.reason)).toContain("minValues");
  const [node] = planOf({ ...wish, options: { minValuesPolicy: "BestEffort" } }).newNodes;
  expect([node!.instanceTypes.map(({ name }) => name).sort(), node!.instanceTypeMinValues]).toEqual([["t1", "t2"], 2]);
  expect(node!.annotations[RELAXED]).toBe("true");
});

test("T55 S-178: cut to one type, minValues 2 does not hold, and the pods are told", () => {
  const options = { instanceTypesMax: 1 };
  const wish = { pools: [aPool(minValues(2))], types: twoTypes, pods: pods(2, { requests: { cpu: "0.1" } }) };
  const plan = planOf({ ...wish, options });
  expect(plan.newNodes).toEqual([]);
  const shortfall = { kind: "min-values", nodePool: "default", labels: [{ key: INSTANCE_TYPE, wanted: 2, found: 1 }] };
  expect(plan.unschedulable.map(({ reasons }) => reasons)).toEqual([[shortfall], [shortfall]]);
  expect(namesOf(planOf({ ...wish, options: { ...options, minValuesPolicy: "BestEffort" } }))).toEqual([["t1"]]);
  expect(namesOf(planOf({ ...wish, pools: [aPool()], options }))).toEqual([["t1"]]);
  expect(plan.newNodes.flatMap(({ requirements }) => requirements.filter(({ key }) => key === CAPACITY_TYPE))).toEqual([]);
});
