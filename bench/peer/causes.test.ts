import { solve } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { aNode, aPod, aPool, aProblem, bound } from "../../packages/scheduling/src/testing/builders.ts";
import { causeOf } from "./causes.ts";

const APP = { app: "x" };
const ofApp = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: APP } };

test.each([
  { maxSkew: 1, leftOut: ["default/late"], kind: "forbidden" },
  { maxSkew: 2, leftOut: [], kind: "next-solve" },
])(
  "S-146: a spread over hostnames counts from 0, though on the only node kube-scheduler sees no skew: $maxSkew",
  ({ maxSkew, leftOut, kind }) => {
    const node = aNode({ name: "n", allocatable: { cpu: 8, memory: "8Gi", pods: 9 } });
    const late = aPod({
      name: "late",
      labels: APP,
      spec: {
        topologySpreadConstraints: [{ ...ofApp, maxSkew, whenUnsatisfiable: "DoNotSchedule" }],
        affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [ofApp] } },
      },
    });
    const pools = [aPool({ limits: { nodes: "0" } })];
    const problem = aProblem({ nodes: [node], boundPods: [bound({ labels: APP }, node)], pools, pods: [late] });
    const theirs = { newNodes: [], existingNodes: [{ name: "n", pods: [late.key] }], unschedulable: [], droppedPools: [] };
    const solved = solve(problem);
    expect(solved.unschedulable.map(({ pod }) => pod)).toEqual(leftOut);
    const ours = { ...solved, existingNodes: [], unschedulable: [{ pod: late.key, reasons: [] }] };
    expect(causeOf(late.key, { problem, rejected: [], ours, theirs }).kind).toBe(kind);
  },
);

test("S-111: required terms were given up for the sake of a preference for other pods, of whom there are none", () => {
  const node = aNode({ name: "n", labels: { team: "a" }, allocatable: { cpu: 8, memory: "8Gi", pods: 9 } });
  const terms = [
    { key: "team", values: ["a"] },
    { key: "color", values: ["red"] },
  ].map((term) => ({ matchExpressions: [{ ...term, operator: "In" as const }] }));
  const late = aPod({
    name: "late",
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
      podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: ofApp }] },
    },
  });
  const problem = aProblem({ nodes: [node], pods: [late], options: { preferencePolicy: "Respect" } });
  const theirs = { newNodes: [], existingNodes: [{ name: "n", pods: [late.key] }], unschedulable: [], droppedPools: [] };
  const ours = solve(problem);
  expect(ours.unschedulable.map(({ pod }) => pod)).toEqual([late.key]);
  expect(causeOf(late.key, { problem, rejected: [], ours, theirs }).kind).toBe("gave-up-terms");
});
