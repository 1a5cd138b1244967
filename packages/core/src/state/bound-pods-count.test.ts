import type { Pod } from "@joinery/api";
import { createShapeInterner, shapeOf } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { boundPods } from "./bound-pods.ts";
import { nodeRecord } from "./node-record.ts";
import { createUsageLedger } from "./node-usage.ts";
import { createPodReader, type PodRecord } from "./pod-record.ts";
import type { StateNode } from "./state-node.ts";

const shapes = createShapeInterner();
const readPod = createPodReader({ shapeOf: (pod) => shapes.intern(shapeOf(pod)), intern: (text) => text });

function aPod(name: string, nodeName: string, change: Partial<Pod> = {}): PodRecord {
  const pod: Pod = {
    ...change,
    metadata: { name, namespace: "default", uid: name, resourceVersion: "1", ...change.metadata },
    spec: { nodeName, containers: [{ name: "c", resources: { requests: { cpu: "1" } } }], ...change.spec },
  };
  return readPod(pod);
}

const ending = { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } };
const web = { metadata: { labels: { app: "web" } } };

test("S-136, S-153: pods that run are told by shape and node, without those that are to be placed, ended, or nowhere", () => {
  const usage = createUsageLedger();
  const moving = aPod("moving", "a");
  const movingAndEnding = aPod("moving-and-ending", "b", ending);
  const pods = [
    aPod("one", "a"),
    aPod("two", "a"),
    aPod("three", "a", ending),
    aPod("web", "a", web),
    moving,
    aPod("done", "a", { status: { phase: "Succeeded" } }),
    aPod("waiting", ""),
    movingAndEnding,
    aPod("lost", "unknown"),
  ];
  for (const object of pods) usage.apply({ type: "added", object });
  const states: StateNode[] = ["a", "b"].map((name) => ({
    key: `node/${name}`,
    node: nodeRecord({ metadata: { name, labels: { zone: "z1" } } }),
  }));
  const cluster = { nodes: () => states, usageOf: ({ node }: StateNode) => usage.of(node?.metadata.name ?? "") };
  const told = () =>
    boundPods(cluster, [moving, movingAndEnding]).map(({ shape, site, count, endingCount }) => [
      site.name,
      site.labels.zone,
      shape.labels.app ?? "",
      count,
      endingCount,
    ]);
  expect(told()).toEqual([
    ["a", "z1", "", 2, 1],
    ["a", "z1", "web", 1, 0],
  ]);
  usage.apply({ type: "updated", object: aPod("one", "a", ending), previous: pods[0]! });
  usage.apply({ type: "deleted", object: pods[3]! });
  expect(told()).toEqual([["a", "z1", "", 1, 2]]);
});
