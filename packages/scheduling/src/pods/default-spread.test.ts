import type { TopologySpreadConstraint } from "@joinery/api";
import { expect, test } from "vitest";
import { solve } from "../solve/solve.ts";
import { aPod, aProblem, type PodWish, pods } from "../testing/builders.ts";
import { type Backers, createDefaultSpread, deducedSelector } from "./default-spread.ts";

const ZONE = "topology.kubernetes.io/zone";
const byZone: TopologySpreadConstraint = { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule" };
const ofReplicaSet = (app: string): Backers["owner"] => ({ kind: "selector", selector: { matchLabels: { app } } });

test.each<{ rule: string; backers: Backers; selector: ReturnType<typeof deducedSelector> }>([
  {
    rule: "T48 S-159: Service app=web, ReplicaSet app=other",
    backers: { services: [{ app: "web" }], owner: ofReplicaSet("other") },
    selector: { matchLabels: { app: "web" }, matchExpressions: [{ key: "app", operator: "In", values: ["other"] }] },
  },
  {
    rule: "T48 S-159: Service app=web, ReplicationController app=other",
    backers: { services: [{ app: "web" }], owner: { kind: "labels", labels: { app: "other" } } },
    selector: { matchLabels: { app: "other" } },
  },
  {
    rule: "Services that select the pod are merged",
    backers: { services: [{ app: "web" }, { tier: "front" }, { app: "db" }, {}] },
    selector: { matchLabels: { app: "web", tier: "front" } },
  },
  {
    rule: "matchExpressions of a StatefulSet follow its labels",
    backers: {
      services: [],
      owner: { kind: "selector", selector: { matchLabels: { b: "2", a: "1" }, matchExpressions: [{ key: "c", operator: "Exists" }] } },
    },
    selector: {
      matchExpressions: [
        { key: "a", operator: "In", values: ["1"] },
        { key: "b", operator: "In", values: ["2"] },
        { key: "c", operator: "Exists" },
      ],
    },
  },
  {
    rule: "an empty selector contributes nothing",
    backers: { services: [{}], owner: { kind: "labels", labels: {} } },
    selector: undefined,
  },
  { rule: "nobody stands behind the pod", backers: { services: [] }, selector: undefined },
])("$rule", ({ backers, selector }) => {
  expect(deducedSelector({ app: "web", tier: "front" }, backers)).toEqual(selector);
});

const defaulted = (count: number, backers: Backers, wish: PodWish = {}) => {
  const spread = createDefaultSpread([byZone]);
  return pods(count, { labels: { app: "web" }, requests: { cpu: "1" }, ...wish }).map((pod) => ({
    ...pod,
    shape: spread.shapeFor(pod.shape, backers),
  }));
};
const zonesOf = (wish: Parameters<typeof aProblem>[0]) => {
  const { newNodes } = solve(aProblem(wish));
  const zones = newNodes.map((node) => ({ zone: node.requirements.find(({ key }) => key === ZONE)?.values, pods: node.pods.length }));
  return Object.values(Object.groupBy(zones, ({ zone }) => String(zone))).map((list) => list!.reduce((sum, { pods: n }) => sum + n, 0));
};

test("T47 S-158, S-159: pods of a ReplicaSet are spread 1/1/2 over zones, bare ones share a node", () => {
  expect(zonesOf({ pods: defaulted(4, { services: [], owner: ofReplicaSet("web") }) }).sort()).toEqual([1, 1, 2]);
  const bare = solve(aProblem({ pods: defaulted(3, { services: [] }) }));
  expect(bare.newNodes.map((node) => node.pods.length)).toEqual([3]);
});

test("S-158: all or nothing, and one object for equal questions", () => {
  const spread = createDefaultSpread([{ ...byZone, minDomains: 2, nodeTaintsPolicy: "Honor" }]);
  const own = aPod({ spec: { topologySpreadConstraints: [{ ...byZone, topologyKey: "rack", labelSelector: {} }] } }).shape;
  expect(spread.shapeFor(own, { services: [], owner: ofReplicaSet("web") })).toBe(own);
  const plain = aPod({ labels: { app: "web" } }).shape;
  const first = spread.shapeFor(plain, { services: [], owner: ofReplicaSet("web") });
  expect(spread.shapeFor(plain, { services: [], owner: ofReplicaSet("web") })).toBe(first);
  expect(first.topologySpreadConstraints).toMatchObject([{ minDomains: 2, nodeTaintsPolicy: "Honor" }]);
  expect(plain).not.toHaveProperty("topologySpreadConstraints");
});
