/** Reservations, and scenarios VT-35, VT-36. T50…T52: scenarios/. */
import { describe, expect, test } from "vitest";
import type { InstanceType, Offering } from "../instance-type.ts";
import type { Plan } from "../plan.ts";
import { sentences } from "../sentence.ts";
import { anOffering, aPod, aPool, aProblem, aReservation, aType, type PodWish, type ProblemWish, pods } from "../testing/builders.ts";
import { solve } from "./solve.ts";

const CAPACITY_TYPE = "karpenter.sh/capacity-type";
const RESERVATION_ID = "karpenter.k8s.aws/capacity-reservation-id";
const HOSTNAME = "kubernetes.io/hostname";
const WAITS = [{ kind: "next-solve", waitsFor: "reservation" }];

const planOf = (wish: ProblemWish) => solve(aProblem({ ...wish, options: { preferencePolicy: "Respect", ...wish.options } }));
const reserved = (id: string, slots: number, isAvailable = true) => aReservation({ id, slots, zone: "z1", isAvailable });
const type = (name: string, cpu: number, ...more: readonly Offering[]): InstanceType =>
  aType({ name, cpu, memory: `${cpu}Gi`, offerings: [anOffering("on-demand", "z1", cpu), ...more] });
const valuesOf = (plan: Plan, key: string) =>
  plan.newNodes.map(({ requirements }) => requirements.find((item) => item.key === key)?.values);
const idsOf = (plan: Plan) => valuesOf(plan, RESERVATION_ID);
const lonely: PodWish = {
  labels: { app: "x" },
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: HOSTNAME, labelSelector: { matchLabels: { app: "x" } } }],
    },
  },
};
const reservedOnly = (name: string, weight: number) =>
  aPool({ name, weight, requirements: [{ key: CAPACITY_TYPE, operator: "In", values: ["reserved"] }] });

describe("reservations within one solve", () => {
  test("S-168, S-171: a claim holds all that it might use, and the others wait", () => {
    const types = (small: number, medium: number) => [
      type("large", 6),
      type("medium", 3, reserved("m", medium)),
      type("small", 2, reserved("s", small)),
    ];
    const wish = { ...lonely, requests: { cpu: "1800m" } };
    const first = planOf({ types: types(1, 1), pods: pods(3, wish) });
    expect([idsOf(first), valuesOf(first, CAPACITY_TYPE)]).toEqual([[["m", "s"]], [["reserved"]]]);
    expect(first.unschedulable.map(({ reasons }) => reasons)).toEqual([WAITS, WAITS]);
    expect(first.newNodes[0]!.instanceTypes.map(({ name }) => name).sort()).toEqual(["medium", "small"]);
    const second = planOf({ types: types(0, 1), pods: pods(2, wish) });
    expect([idsOf(second), second.unschedulable.length]).toEqual([[["m"]], 1]);
    const third = planOf({ types: types(0, 0), pods: pods(1, wish) });
    expect([idsOf(third), valuesOf(third, CAPACITY_TYPE)]).toEqual([[undefined], [["on-demand"]]]);
  });

  test("V-65: with reservations not looked at, a full one gives no node, and another pool may do", () => {
    const options = { reservedCapacity: "ignored" } as const;
    const types = [type("t", 4, reserved("r", 0))];
    const alone = planOf({ types, pools: [reservedOnly("r", 10)], options });
    expect(alone.unschedulable.map(({ reasons }) => reasons)).toEqual([[{ kind: "reserved-capacity", nodePool: "r" }]]);
    const [node] = planOf({ types, pools: [reservedOnly("r", 10), aPool({ name: "any" })], options }).newNodes;
    expect([node?.nodePool.metadata?.name, node?.cheapest.priceUsdPerHour]).toEqual(["any", 4]);
    const free = planOf({ types: [type("t", 4, reserved("r", 1))], pods: pods(2, lonely), pools: [reservedOnly("r", 10)], options });
    expect(idsOf(free)).toEqual([undefined, undefined]);
    // A full one beside it changes nothing about that.
    const both = [type("t", 4, reserved("r", 1)), type("u", 8, reserved("s", 0))];
    const beside = planOf({ types: both, pods: pods(2, lonely), pools: [reservedOnly("r", 10)], options });
    expect([idsOf(beside), beside.unschedulable]).toEqual([[undefined, undefined], []]);
  });

  test("as many claims as slots", () => {
    const plan = planOf({ types: [type("t", 4, reserved("one", 1), reserved("two", 2))], pods: pods(4, lonely) });
    expect(idsOf(plan)).toEqual([["one", "two"], ["two"]]);
    expect(plan.unschedulable).toHaveLength(2);
  });

  test("S-171: nothing is given up for want of a reservation", () => {
    const wish: PodWish = {
      ...lonely,
      affinity: {
        ...lonely.affinity,
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [{ key: "karpenter.sh/nodepool", operator: "In", values: ["np-1"] }] } },
          ],
        },
      },
    };
    const problem = aProblem({ pods: pods(2, wish), options: { preferencePolicy: "Respect" } });
    const pools = [
      { nodePool: aPool({ name: "np-1" }), instanceTypes: [type("t", 4, reserved("r1", 1))] },
      { nodePool: aPool({ name: "np-2" }), instanceTypes: [type("t", 4, reserved("r2", 1))] },
    ];
    const plan = solve({ ...problem, pools });
    expect([idsOf(plan), plan.unschedulable[0]!.reasons]).toEqual([[["r1"]], WAITS]);
  });

  test("S-169: fallback goes on without", () => {
    const plan = planOf({ types: [type("t", 4, reserved("r", 1))], pods: pods(2, lonely), options: { reservedCapacity: "fallback" } });
    expect([idsOf(plan), plan.unschedulable]).toEqual([[["r"], undefined], []]);
  });
});

describe("full reservations", () => {
  const full = [type("t", 4, reserved("r", 0))];

  test("VT-35 V-62: nothing but a full one", () => {
    const wish = { types: full, pools: [reservedOnly("default", 1)], pods: [aPod()] };
    expect(planOf(wish).unschedulable[0]!.reasons).toEqual(WAITS);
    const [left] = planOf({ ...wish, options: { reservedCapacity: "fallback" } }).unschedulable;
    expect(left!.reasons).toEqual([{ kind: "reserved-capacity", nodePool: "default" }]);
    expect(sentences(left!.reasons)).toBe("the only compatible reserved offering is full; falling through to other NodePools");
  });

  test("VT-35 V-65: mixed pools go on with on-demand", () => {
    const plan = planOf({ types: full, pods: [aPod()] });
    expect([idsOf(plan), valuesOf(plan, CAPACITY_TYPE)]).toEqual([[undefined], [["on-demand"]]]);
  });

  test("VT-35: an unavailable one is none", () => {
    const plan = planOf({ types: [type("t", 4, reserved("r", 5, false))], pools: [reservedOnly("default", 1)], pods: [aPod()] });
    expect([plan.newNodes, plan.droppedPools.length]).toEqual([[], 1]);
  });

  test("VT-35 V-64: a heavier pool that is full", () => {
    const pools = [reservedOnly("heavy", 100), aPool({ name: "light" })];
    expect(planOf({ types: full, pools, pods: [aPod()] }).unschedulable[0]!.reasons).toEqual(WAITS);
    const plan = planOf({ types: full, pools, pods: [aPod()], options: { reservedCapacity: "fallback" } });
    expect([plan.newNodes[0]!.nodePool.metadata!.name, valuesOf(plan, CAPACITY_TYPE)]).toEqual(["light", [["on-demand"]]]);
  });

  test("VT-35 V-52: a credit is a slot", () => {
    const options = { reservationCredits: { r: 1, unknown: 3 } };
    const pools = [reservedOnly("default", 1)];
    expect(idsOf(planOf({ types: full, pools, pods: [aPod()], options }))).toEqual([["r"]]);
    expect(planOf({ types: full, pools, pods: pods(2, lonely), options }).newNodes).toHaveLength(1);
  });

  test("VT-36 V-61: its price is not one that can be had", () => {
    const types = [
      type("full", 1, reserved("r", 0)),
      aType({ name: "half", cpu: 1, memory: "1Gi", offerings: [anOffering("spot", "z1", 0.5)] }),
    ];
    const [node] = planOf({ types, pods: [aPod()] }).newNodes;
    expect([node!.instanceTypes.map(({ name }) => name), node!.cheapest.priceUsdPerHour]).toEqual([["half", "full"], 0.5]);
  });
});
