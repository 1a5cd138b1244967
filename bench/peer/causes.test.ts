import { solve } from "@joinery/scheduling";
import { describe, expect, test } from "vitest";
import { aNode, aPod, aPool, aProblem, bound } from "../../packages/scheduling/src/testing/builders.ts";
import { causeOf, chanceOf } from "./causes.ts";

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

test("S-31, S-41: a label that only another pod brings to its node, which in ours is with others", () => {
  const colored = (name: string, operator: "Exists" | "NotIn", values: readonly string[], team: Readonly<Record<string, string>>) => {
    const terms = [{ matchExpressions: [{ key: "color", operator, ...(values.length > 0 && { values }) }] }];
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
    return aPod({ name, requests: { cpu: "500m" }, nodeSelector: team, affinity: { nodeAffinity } });
  };
  const first = aPod({ name: "first", requests: { cpu: "2" }, nodeSelector: { team: "a" } });
  const bringer = colored("bringer", "NotIn", ["red"], {});
  const late = colored("late", "Exists", [], { team: "b" });
  const pools = [aPool({ requirements: [{ key: "team", operator: "In", values: ["a", "b"] }] })];
  const problem = aProblem({ pools, pods: [first, bringer, late] });
  const ours = solve(problem);
  expect(ours.newNodes.map(({ pods }) => pods.toSorted())).toEqual([[bringer.key, first.key]]);
  const other = solve({ ...problem, pods: [first] });
  const theirs = {
    ...other,
    newNodes: [{ ...other.newNodes[0]!, name: "first" }, ...solve({ ...problem, pods: [bringer, late] }).newNodes],
  };
  const cause = causeOf(late.key, { problem, rejected: [], ours, theirs });
  expect(cause).toEqual({ kind: "borrowed-label", key: "color", from: bringer.key });
});

describe("a place without a cause", () => {
  // Which no plan of ours has a place for, and nobody forbids.
  const pod = aPod({ name: "p", spec: { resourceClaims: [{ name: "device", resourceClaimName: "d" }] } });
  const node = aNode({ name: "n", allocatable: { cpu: 8, memory: "8Gi", pods: 9 } });
  const problem = aProblem({ nodes: [node], pods: [pod] });
  const ours = solve(problem);
  const answer = (places: readonly string[]) => {
    const existingNodes = places.length === 0 ? [] : [{ name: "n", pods: places }];
    return { problem, rejected: [], ours, theirs: { newNodes: [], existingNodes, unschedulable: [], droppedPools: [] } };
  };
  const asked = (answers: readonly (readonly string[])[]) => {
    let times = 0;
    return chanceOf(pod.key, async () => answer(answers[Math.min(times++, answers.length - 1)]!));
  };

  test("is chance where the peer leaves the pod out when it is asked again", async () => {
    expect(await asked([[pod.key], [pod.key], []])).toEqual({ kind: "by-chance", run: 3, instead: "is left out" });
  });

  test("is unexplained where the peer has it each time", async () => {
    expect(causeOf(pod.key, answer([pod.key])).kind).toBe("unexplained");
    expect((await asked([[pod.key]])).kind).toBe("unexplained");
  });
});
