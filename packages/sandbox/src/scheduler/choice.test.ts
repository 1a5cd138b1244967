/** Which of several fitting nodes is taken, and in which order pods are tried. */
import { tolerates } from "@joinery/api";
import { createVirtualClock } from "@joinery/kube";
import fc from "fast-check";
import { expect, test } from "vitest";
import { aNode, aPod } from "../world/builders.ts";
import type { ClusterViews } from "../world/context.ts";
import { beginCycle } from "./filters.ts";
import { Heap } from "./heap.ts";
import { matchesRequirement } from "./node-match.ts";
import { podInfo } from "./pod-info.ts";
import { createPodQueue } from "./queue.ts";
import { scoresOf } from "./scores.ts";
import { createSnapshot } from "./snapshot.ts";

const VIEWS = new Proxy({}, { get: () => ({ find: () => undefined, values: () => [], by: () => [] }) }) as ClusterViews;
const labels = { app: "a" };
const onNode = (nodeName: string, wish: Parameters<typeof aPod>[0] = {}) => {
  const pod = aPod(wish);
  return { ...pod, spec: { ...pod.spec, nodeName } };
};

test.each([
  { what: "the emptier node", pod: aPod(), nodes: [{ name: "n1" }, { name: "n2" }], running: [onNode("n1", { cpu: "2" })], best: "n2" },
  {
    what: "a node without a disliked taint",
    pod: aPod(),
    nodes: [{ name: "n1", taints: [{ key: "t", effect: "PreferNoSchedule" as const }] }, { name: "n2" }],
    running: [],
    best: "n2",
  },
  {
    what: "the preferred node",
    pod: aPod({
      spec: {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, preference: { matchExpressions: [{ key: "disk", operator: "In", values: ["ssd"] }] } },
            ],
          },
        },
      },
    }),
    nodes: [{ name: "n1" }, { name: "n2", labels: { disk: "ssd" } }],
    running: [],
    best: "n2",
  },
  {
    what: "the zone with fewer of its kind",
    pod: aPod({
      labels,
      spec: {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "topology.kubernetes.io/zone",
            whenUnsatisfiable: "ScheduleAnyway",
            labelSelector: { matchLabels: labels },
          },
        ],
      },
    }),
    nodes: [
      { name: "n1", zone: "a" },
      { name: "n2", zone: "b" },
    ],
    running: [onNode("n1", { labels, cpu: "10m" })],
    best: "n2",
  },
  {
    what: "a node away from its like, when it would rather",
    pod: aPod({
      spec: {
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 100, podAffinityTerm: { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: labels } } },
            ],
          },
        },
      },
    }),
    nodes: [{ name: "n1" }, { name: "n2" }],
    running: [onNode("n1", { labels, cpu: "10m" })],
    best: "n2",
  },
])("the best is $what", ({ pod, nodes, running, best }) => {
  const snapshot = createSnapshot();
  for (const node of nodes) {
    snapshot.setNode(aNode(node));
  }
  for (const one of running) {
    snapshot.setPod(one);
  }
  const cycle = beginCycle(podInfo(pod), snapshot, VIEWS);
  const scores = scoresOf(cycle, snapshot, snapshot.list());
  expect(snapshot.list()[scores.indexOf(Math.max(...scores))]?.name).toBe(best);
});

test("a heap gives what was put in, in order", () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (numbers) => {
      const heap = new Heap<number>((one, other) => one < other);
      for (const number of numbers) {
        heap.push(number);
      }
      const sorted = numbers.map(() => heap.pop());
      expect(sorted).toEqual([...numbers].sort((a, b) => a - b));
      expect(heap.pop()).toBeUndefined();
    }),
  );
});

test("urgent pods first, then old ones; a failed pod comes back after a back-off that doubles, and only when it is helped", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const ready: string[] = [];
  const queue = createPodQueue(clock, () => {
    for (let info = queue.next(); info !== undefined && ready.length < 99; info = queue.next()) {
      ready.push(info.key);
    }
  });
  const info = podInfo(aPod({ name: "p" }));
  queue.add(info);
  queue.setAside(info);
  await clock.advance(60_000);
  expect(ready).toEqual(["default/p"]);
  queue.wake(() => false);
  expect(ready).toHaveLength(1);
  queue.wake(() => true);
  expect(ready).toHaveLength(2);
  queue.setAside(info);
  queue.wake(() => true);
  await clock.advance(1_999);
  expect(ready).toHaveLength(2);
  await clock.advance(1);
  expect(ready).toHaveLength(3);
  queue.setAside(info);
  queue.remove(info.uid);
  queue.wake(() => true);
  await clock.advance(60_000);
  expect(ready).toHaveLength(3);

  const order = createPodQueue(clock, () => {});
  const old = podInfo({ ...aPod({ name: "old" }), metadata: { name: "old", uid: "old", creationTimestamp: "2026-01-01T00:00:00Z" } });
  const young = podInfo({
    ...aPod({ name: "young" }),
    metadata: { name: "young", uid: "young", creationTimestamp: "2026-01-01T00:00:09Z" },
  });
  const urgent = podInfo(aPod({ name: "urgent", spec: { priority: 10 } }));
  for (const one of [young, urgent, old]) {
    order.add(one);
  }
  expect([order.next(), order.next(), order.next()]).toEqual([urgent, old, young]);
});

test.each([
  ["In", "a", ["a", "b"], true],
  ["In", undefined, ["a"], false],
  ["NotIn", undefined, ["a"], true],
  ["Exists", "", [], true],
  ["DoesNotExist", undefined, [], true],
  ["Gt", "5", ["4"], true],
  ["Gt", "x", ["4"], false],
  ["Lt", "3", ["4"], true],
  ["Gte", "4", ["4"], true],
  ["Lte", "5", ["4"], false],
] as const)("%s holds for %j and %j: %s", (operator, value, values, holds) => {
  expect(matchesRequirement({ key: "k", operator, values }, value)).toBe(holds);
});

const TAINT = { key: "team", value: "a", effect: "NoSchedule" as const };
test.each([
  [{ key: "team", operator: "Equal", value: "a", effect: "NoSchedule" }, true],
  [{ key: "team", value: "b" }, false],
  [{ key: "team", operator: "Exists" }, true],
  [{ operator: "Exists" }, true],
  [{ key: "team", operator: "Exists", effect: "NoExecute" }, false],
  [{ key: "other", operator: "Exists" }, false],
] as const)("%j tolerates team=a:NoSchedule: %s", (toleration, isTolerated) => {
  expect(tolerates(toleration, TAINT)).toBe(isTolerated);
});
