/** What the checker looks past, and what it does not: for each excuse a case, and the same case without what excuses it. */
import type { TopologySpreadConstraint } from "@joinery/api";
import type { PodShape } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { aPod, aProblem, type PodWish } from "../../packages/scheduling/src/testing/builders.ts";
import { isKnownRefusal } from "./known-refusals.ts";
import { type BoundPod, type KubeNode, KubeScheduler } from "./kube-scheduler.ts";

const ZONE = "topology.kubernetes.io/zone";
const TEAM = "example.com/team";
const labels = { app: "a" };
const over = (topologyKey: string, more: Partial<TopologySpreadConstraint> = {}): TopologySpreadConstraint => ({
  topologyKey,
  maxSkew: 1,
  whenUnsatisfiable: "DoNotSchedule",
  labelSelector: { matchLabels: labels },
  ...more,
});
const shapeOf = (wish: PodWish): PodShape => aPod(wish).shape;
const spreadOver = (...spreads: TopologySpreadConstraint[]) => shapeOf({ labels, spec: { topologySpreadConstraints: spreads } });
const plain = shapeOf({ labels });
/** It wants its like along another label. */
const sociable = shapeOf({
  labels,
  affinity: {
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: TEAM, labelSelector: { matchLabels: labels } }] },
  },
});
const zoned = shapeOf({ nodeSelector: { [ZONE]: "z1" } });

const nodeIn = (zone: string, more: Partial<KubeNode> = {}): KubeNode => ({
  name: `${zone}-${Object.keys(more).join()}`,
  labels: { [ZONE]: zone, [TEAM]: "x" },
  taints: [],
  room: { cpu: 9000, memory: 2 ** 40, pods: 99 },
  volumeLimits: {},
  ...more,
});
const on = (node: KubeNode, shape: PodShape, isNew = true): BoundPod => ({ key: "", shape, node, isNew, isEnding: false });

const home = nodeIn("z1");
const empty = nodeIn("z2");
const undecided = nodeIn("z1", { undecided: new Set([ZONE]) });
const undecidedElsewhere = nodeIn("z2", { undecided: new Set([ZONE]) });
const open = nodeIn("z1", { undecided: new Set(["size"]) });
const decidedLate = nodeIn("z1", { deciders: [sociable, zoned] });
const neverDecided = nodeIn("z1", { deciders: [sociable, plain] });
const madeUp = nodeIn("z1", { labels: { [ZONE]: "z1", [TEAM]: "made-up" }, madeUp: new Set([TEAM]) });
const named = nodeIn("z1", { labels: { [ZONE]: "z1", [TEAM]: "named" } });

interface Row {
  readonly what: string;
  readonly isExcused: boolean;
  readonly others: readonly KubeNode[];
  readonly bound: readonly BoundPod[];
  readonly pod?: PodShape;
}

test.each<Row>([
  { what: "nothing but pods in their places", isExcused: false, others: [empty], bound: [on(home, plain)] },
  {
    what: "S-141: a pod on a node that might have come elsewhere",
    isExcused: true,
    others: [empty, undecided],
    bound: [on(undecided, plain)],
  },
  {
    what: "S-141: one of those, where the others are too many alone",
    isExcused: false,
    others: [empty, undecided],
    bound: [on(undecided, plain), on(home, plain)],
  },
  {
    what: "S-141: such a pod in another domain alone",
    isExcused: false,
    others: [empty, undecidedElsewhere],
    bound: [on(home, plain), on(home, plain), on(undecidedElsewhere, plain)],
  },
  {
    what: "S-141: a node that is open along another label, which the spread does not look at",
    isExcused: false,
    others: [empty, open],
    bound: [on(open, plain)],
  },
  {
    what: "S-139: one that the spread does look at",
    isExcused: true,
    others: [empty, open],
    bound: [on(open, plain)],
    pod: shapeOf({ labels, terms: [[{ key: "size", operator: "DoesNotExist" }]], spec: { topologySpreadConstraints: [over(ZONE)] } }),
  },
  {
    what: "S-150: the first of pods that want each other, on a node that another pod has decided",
    isExcused: true,
    others: [empty, decidedLate],
    bound: [on(decidedLate, sociable)],
  },
  {
    what: "S-150: who came to it before it was decided",
    isExcused: true,
    others: [empty, decidedLate],
    bound: [on(decidedLate, sociable), on(decidedLate, plain)],
  },
  {
    what: "S-150: such a first beside one too many elsewhere",
    isExcused: false,
    others: [empty, decidedLate],
    bound: [on(decidedLate, sociable), on(home, plain)],
  },
  {
    what: "S-150: such a first that runs already",
    isExcused: false,
    others: [empty, decidedLate],
    bound: [on(decidedLate, sociable, false)],
  },
  {
    what: "S-150: such a first where nobody decides",
    isExcused: false,
    others: [empty, neverDecided],
    bound: [on(neverDecided, sociable)],
  },
  {
    what: "S-150: one that wants nobody, on a node that another pod has decided",
    isExcused: false,
    others: [empty, decidedLate],
    bound: [on(decidedLate, plain)],
  },
  {
    what: "S-131: a value that nobody has named",
    isExcused: true,
    others: [madeUp],
    bound: [on(home, plain)],
    pod: spreadOver(over(TEAM)),
  },
  { what: "S-131: a value that somebody has", isExcused: false, others: [named], bound: [on(home, plain)], pod: spreadOver(over(TEAM)) },
  {
    what: "S-131: such a value of another label than that of the broken spread",
    isExcused: false,
    others: [madeUp, empty],
    bound: [on(home, plain)],
    pod: spreadOver(over(ZONE), over(TEAM, { labelSelector: {}, maxSkew: 9 })),
  },
  {
    what: "S-131: such a value beside a skew that is too large without it",
    isExcused: false,
    others: [madeUp, named],
    bound: [on(home, plain)],
    pod: spreadOver(over(TEAM)),
  },
])("a spread that is broken by $what: $isExcused", ({ others, bound, pod = spreadOver(over(ZONE)), isExcused }) => {
  const scheduler = new KubeScheduler(aProblem({}), [home, ...others], bound);
  expect(scheduler.refusal(pod, home)).toBe("spread");
  expect(isKnownRefusal("spread", pod, home, scheduler)).toBe(isExcused);
});

const wantsItsLike = (...terms: { key: string; operator: "NotIn"; values: string[] }[][]) =>
  shapeOf({
    labels,
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })) },
      },
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector: { matchLabels: labels } }] },
    },
  });
const notIn = (zone: string) => [{ key: ZONE, operator: "NotIn" as const, values: [zone] }];

test.each([
  { what: "it may not be where the others are", isExcused: true, pod: wantsItsLike(notIn("z1")) },
  { what: "nor by an empty term, which means no node", isExcused: true, pod: wantsItsLike([], notIn("z1")) },
  { what: "by another term it may", isExcused: false, pod: wantsItsLike(notIn("z3"), notIn("z1")) },
])("S-150: pods that want each other begin anew in another domain: $what", ({ pod, isExcused }) => {
  const scheduler = new KubeScheduler(aProblem({}), [home, empty], [on(home, plain)]);
  expect(isKnownRefusal("affinity", pod, empty, scheduler)).toBe(isExcused);
});
