/** Scenarios T31…T34, T41: volumes, as section 25 of the specification has them. What callers make of claims: T5, T6 in core. */
import { expect, test } from "vitest";
import type { Plan } from "../plan.ts";
import type { VolumeClaim } from "../problem.ts";
import { solve } from "../solve/solve.ts";
import { aNode, aPod, aProblem, bound, type PodWish, type ProblemWish, zoneSpread } from "../testing/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";
const DRIVER = "ebs.csi.aws.com";

const planOf = (wish: ProblemWish) => solve(aProblem({ ...wish, options: { preferencePolicy: "Respect", ...wish.options } }));
const inZones = (...values: string[]) => [{ key: ZONE, operator: "In" as const, values }];
const zonesOf = (plan: Plan) => plan.newNodes.map(({ requirements }) => requirements.find(({ key }) => key === ZONE)?.values);
const mounting = (...names: string[]): PodWish["spec"] & object => ({
  volumes: names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
});
const claims = (entries: Record<string, VolumeClaim>) =>
  new Map(Object.entries(entries).map(([name, claim]) => [`default/${name}`, claim]));
const range = (length: number) => Array.from({ length }, (_, index) => index);

test("T31 S-127: a node whose driver attaches ten volumes takes five pods with two each", () => {
  const nodes = [aNode({ name: "n", volumeLimits: { [DRIVER]: 10 }, allocatable: { cpu: 4, memory: "4Gi", pods: 1000 } })];
  const unbound = claims(Object.fromEntries(range(12).map((at) => [`c${at}`, { alternatives: [], driver: DRIVER }])));
  const plan = planOf({ nodes, claims: unbound, pods: range(6).map((at) => aPod({ spec: mounting(`c${2 * at}`, `c${2 * at + 1}`) })) });
  expect([plan.existingNodes.map(({ pods }) => pods.length), plan.newNodes.map(({ pods }) => pods.length)]).toEqual([[5], [1]]);
  const shared = planOf({ nodes, claims: unbound, pods: range(100).map(() => aPod({ spec: mounting("c0") })) });
  expect([shared.existingNodes.map(({ pods }) => pods.length), shared.newNodes]).toEqual([[100], []]);
});

test("T32 S-122: the class allows z2 and z3", () => {
  const disk = claims({ c: { alternatives: [inZones("z2", "z3")] } });
  const affinityTo = (...zones: string[]): PodWish["spec"] & object => ({
    ...mounting("c"),
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: inZones(...zones) }] } },
    },
  });
  expect(zonesOf(planOf({ claims: disk, pods: [aPod({ spec: affinityTo("z1", "z3") })] }))).toEqual([["z3"]]);
  expect(planOf({ claims: disk, pods: [aPod({ spec: affinityTo("z1") })] }).unschedulable).toHaveLength(1);
});

test("T33 S-122: two volumes in z1 or z2 of pods that keep apart by zone", () => {
  const labels = { app: "x" };
  const terms = [{ topologyKey: ZONE, labelSelector: { matchLabels: labels } }];
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
  const either = { alternatives: [inZones("z1"), inZones("z2")] };
  const pods = ["a", "b"].map((name) => aPod({ labels, affinity, spec: mounting(name) }));
  expect(zonesOf(planOf({ pods, claims: claims({ a: either, b: either }) })).sort()).toEqual([["z1"], ["z2"]]);
});

test("T34 S-123: a local volume goes along, a CSI volume that is pinned to an unknown host does not", () => {
  const pinned = [{ key: HOSTNAME, operator: "In" as const, values: ["unknown"] }];
  const plan = planOf({
    // What core makes of a local or hostPath volume: its hostname is dropped.
    claims: claims({ local: { alternatives: [[]] }, csi: { alternatives: [pinned], driver: DRIVER } }),
    pods: ["local", "csi"].map((name) => aPod({ name, spec: mounting(name) })),
  });
  expect(plan.newNodes.map(({ pods }) => pods)).toEqual([["default/local"]]);
  expect(plan.unschedulable.map(({ pod }) => pod)).toEqual(["default/csi"]);
});

test("T41 S-125: a volume in z1 does not make the pod one of z1 alone, so minDomains 3 holds", () => {
  const labels = { app: "x" };
  const constraint = zoneSpread(labels, { minDomains: 3 });
  const boundPods = ["z1", "z2", "z3"].map((name) => bound({ labels }, { name, labels: { [ZONE]: name } }));
  const pods = [aPod({ labels, spec: { ...mounting("c"), topologySpreadConstraints: [constraint] } })];
  expect(zonesOf(planOf({ boundPods, pods, claims: claims({ c: { alternatives: [inZones("z1")] } }) }))).toEqual([["z1"]]);
});
