/** What random problems have shown to matter to kube-scheduler, each in its smallest form. */
import { expect, test } from "vitest";
import {
  aDaemonSet,
  aNode,
  anOffering,
  aPod,
  aPool,
  aProblem,
  aReservation,
  aType,
  bound,
  type PodWish,
  zoneSpread,
} from "../testing/builders.ts";
import { solve } from "./solve.ts";

const ZONE = "topology.kubernetes.io/zone";
const CAPACITY_TYPE = "karpenter.sh/capacity-type";
const inZone = (...values: string[]) => [{ key: ZONE, operator: "In" as const, values }];
const color = (operator: "Exists" | "DoesNotExist" | "NotIn"): PodWish => ({
  terms: [[{ key: "color", operator, ...(operator === "NotIn" && { values: ["red"] }) }]],
});

test("S-46: a term without expressions selects no node, and the others count", () => {
  const plan = solve(aProblem({ pods: [aPod({ name: "none", terms: [[]] }), aPod({ name: "one", terms: [[], inZone("z2")] })] }));
  expect(plan.unschedulable.map(({ pod, reasons }) => [pod, reasons[0]!.kind])).toEqual([["default/none", "invalid-requirement"]]);
  expect(plan.newNodes.map(({ requirements }) => requirements.find(({ key }) => key === ZONE)?.values)).toEqual([["z2"]]);
});

test("S-31, S-41: who needs a label and who must not see it never share a node", () => {
  const pods = [
    aPod({ name: "a", requests: { cpu: "300m" }, ...color("NotIn") }),
    aPod({ name: "b", requests: { cpu: "200m" }, ...color("Exists") }),
    aPod({ name: "c", requests: { cpu: "100m" }, ...color("DoesNotExist") }),
  ];
  const { newNodes } = solve(aProblem({ pods }));
  expect(newNodes.map(({ pods: keys, labels }) => [keys, labels.color])).toEqual([
    [["default/a", "default/b"], "0"],
    [["default/c"], undefined],
  ]);
});

test("S-142: required affinity terms are met by a pod that all of them mean", () => {
  const term = (app: string) => ({ topologyKey: ZONE, labelSelector: { matchLabels: { app } } });
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term("x"), term("y")] } };
  const there = { name: "n", labels: { [ZONE]: "z1" } };
  const apart = [bound({ labels: { app: "x" } }, there), bound({ labels: { app: "y" } }, there)];
  expect(solve(aProblem({ pods: [aPod({ affinity })], boundPods: apart })).newNodes).toEqual([]);
});

test.each([
  { policy: "Honor" as const, nodes: 1 },
  { policy: "Ignore" as const, nodes: 0 },
])("S-144: the smallest count under nodeAffinityPolicy $policy", ({ policy, nodes }) => {
  const labels = { app: "x" };
  const constraint = zoneSpread(labels, { nodeAffinityPolicy: policy });
  const pod = aPod({ labels, nodeSelector: { [ZONE]: "z1" }, spec: { topologySpreadConstraints: [constraint] } });
  const boundPods = [bound({ labels }, { name: "n", labels: { [ZONE]: "z1" } }, 2)];
  expect(solve(aProblem({ pods: [pod], boundPods })).newNodes).toHaveLength(nodes);
});

test("S-140: pods of a node count where a later one decides it to be", () => {
  const labels = { app: "x" };
  const spread = zoneSpread(labels);
  const first = aPod({ name: "first", labels, requests: { cpu: "2" } });
  const second = aPod({ name: "second", labels, requests: { cpu: "1" }, spec: { topologySpreadConstraints: [spread] } });
  const plan = solve(aProblem({ pods: [first, second] }));
  expect(plan.newNodes.map(({ pods }) => pods)).toEqual([["default/first"], ["default/second"]]);
});

test("S-77: a taint that only prefers them away keeps no DaemonSet off a node", () => {
  const nodes = [aNode({ name: "n", taints: [{ key: "t", effect: "PreferNoSchedule" }] })];
  const daemonSets = [aDaemonSet({ requests: { cpu: "2" } })];
  const pod = aPod({ requests: { cpu: "3" }, tolerations: [{ operator: "Exists" }] });
  expect(solve(aProblem({ pods: [pod], nodes, daemonSets })).existingNodes).toEqual([]);
});

test("S-172, S-181: a claim without a reservation does not list reserved; V-74: a pinned one lists what minValues counts", () => {
  const offerings = [anOffering("on-demand", "z1", 1)];
  const types = ["a", "b", "c"].map((name) => aType({ name, cpu: 4, memory: "4Gi", pods: 1, offerings }));
  const reserved = aType({
    name: "r",
    cpu: 4,
    memory: "4Gi",
    pods: 1,
    offerings: [...offerings, aReservation({ id: "r", slots: 1, zone: "z1" })],
  });
  const requirements = [{ key: "node.kubernetes.io/instance-type", operator: "Exists" as const, minValues: 3 }];
  const pods = [aPod({ name: "p-1" }), aPod({ name: "p-2" })];
  const plan = solve(
    aProblem({ pods, types: [...types, reserved], pools: [aPool({ requirements })], options: { reservedCapacity: "fallback" } }),
  );
  const kinds = plan.newNodes.map((node) => node.requirements.find(({ key }) => key === CAPACITY_TYPE)?.values);
  expect(kinds).toEqual([["reserved"], ["on-demand"]]);
  expect(plan.newNodes.map(({ instanceTypes }) => instanceTypes.length)).toEqual([4, 4]);
});
