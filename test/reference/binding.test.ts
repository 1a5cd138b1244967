import { expect, test } from "vitest";
import { aNode, aPod, aProblem, type PodWish } from "../../packages/scheduling/src/testing/builders.ts";
import { bindingFaults } from "./binding.ts";

const ZONE = "topology.kubernetes.io/zone";
const CROWD = 12;

const wanted: PodWish = { name: "wanted", labels: { app: "wanted" } };
const across: PodWish = { name: "across" };
/** Wants to be where `wanted` is, while all pods are spread. */
const late: PodWish = {
  name: "late",
  spec: {
    topologySpreadConstraints: [{ topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule", labelSelector: {} }],
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector: { matchLabels: { app: "wanted" } } }],
      },
    },
  },
};
const crowd = Array.from({ length: CROWD }, (_, index): PodWish => ({ name: `crowd-${index}` }));

test.each([
  { what: "one that is bound third of fifteen has its place", wishes: [...crowd, late, wanted, across], across: ["across"], faults: [] },
  { what: "with nobody in the other zone it never has", wishes: [...crowd, late, wanted], across: [], faults: ["default/late"] },
])("S-144: pods come in any order, and $what", ({ wishes, across, faults }) => {
  const room = { cpu: 100, memory: "100Gi", pods: 100 };
  const nodes = ["z1", "z2"].map((zone) => aNode({ name: zone, labels: { [ZONE]: zone }, allocatable: room }));
  const problem = aProblem({ nodes, pods: wishes.map(aPod) });
  const keyOf = (name: string) => `default/${name}`;
  const there = across.map(keyOf);
  const here = problem.pods.map(({ key }) => key).filter((key) => !there.includes(key));
  const existingNodes = [
    { name: "z1", pods: here },
    { name: "z2", pods: there },
  ];
  const plan = { newNodes: [], existingNodes, unschedulable: [], droppedPools: [] };
  expect(bindingFaults(plan, problem).map(({ subject }) => subject)).toEqual(faults);
});
