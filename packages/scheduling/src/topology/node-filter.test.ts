import type { TopologySpreadConstraint } from "@joinery/api";
import { expect, test } from "vitest";
import { solve } from "../solve/solve.ts";
import { aNode, aPod, aPool, aProblem, bound, type PodWish } from "../testing/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const APP = { app: "x" };

const along = (topologyKey: string, whenUnsatisfiable: TopologySpreadConstraint["whenUnsatisfiable"]): TopologySpreadConstraint => ({
  topologyKey,
  whenUnsatisfiable,
  maxSkew: topologyKey === ZONE ? 1 : 5,
  labelSelector: { matchLabels: APP },
});

test.each([
  { what: "a node without a label along which the pod is spread too counts nowhere", team: "DoNotSchedule", zone: "z1", existing: [] },
  { what: "a spread that may be given up asks for no label", team: "ScheduleAnyway", zone: undefined, existing: ["here"] },
] as const)("S-139: $what", ({ team, zone, existing }) => {
  const spread: PodWish = { labels: APP, spec: { topologySpreadConstraints: [along("team", team), along(ZONE, "DoNotSchedule")] } };
  const here = { name: "here", labels: { [ZONE]: "z2", team: "a" } };
  const old = { name: "old", labels: { [ZONE]: "z1" }, allocatable: { cpu: 0, pods: 0 } };
  const requirements = [
    { key: ZONE, operator: "In" as const, values: ["z1", "z2"] },
    { key: "team", operator: "In" as const, values: ["b"] },
  ];
  const plan = solve(
    aProblem({
      nodes: [aNode(here), aNode(old)],
      boundPods: [bound({ labels: APP }, here), bound({ labels: APP }, old, 2)],
      pools: [aPool({ requirements })],
      pods: [aPod(spread)],
    }),
  );
  expect(plan.existingNodes.filter(({ pods }) => pods.length > 0).map(({ name }) => name)).toEqual(existing);
  expect(plan.newNodes[0]?.requirements.find(({ key }) => key === ZONE)?.values?.join()).toBe(zone);
});

test("S-133, S-139: such a node's value is a domain all the same, so that a new node can have it", () => {
  const spread: PodWish = {
    labels: APP,
    spec: { topologySpreadConstraints: [along("team", "DoNotSchedule"), along(ZONE, "DoNotSchedule")] },
  };
  const old = { name: "old", labels: { team: "a" }, allocatable: { cpu: 0, pods: 0 } };
  const requirements = [
    { key: ZONE, operator: "In" as const, values: ["z1"] },
    { key: "team", operator: "Exists" as const },
  ];
  const plan = solve(aProblem({ nodes: [aNode(old)], pools: [aPool({ requirements })], pods: [aPod(spread)] }));
  expect(plan.newNodes.map(({ requirements: all }) => all.find(({ key }) => key === "team")?.values)).toEqual([["a"]]);
});
