/** Filters and their words, node by node, without a cluster. */
import type { Pod } from "@joinery/api";
import { expect, test } from "vitest";
import { aNode, aPod, type NodeWish } from "../world/builders.ts";
import type { ClusterViews } from "../world/context.ts";
import { beginCycle, refusalOf } from "./filters.ts";
import { podInfo } from "./pod-info.ts";
import { failureMessage } from "./refusal.ts";
import { createSnapshot } from "./snapshot.ts";

const NOTHING = { find: () => undefined, values: () => [], by: () => [] };
const VIEWS = new Proxy({}, { get: () => NOTHING }) as ClusterViews;

function messageFor(pod: Pod, nodes: readonly NodeWish[], running: readonly (readonly [string, Pod])[] = []): string {
  const snapshot = createSnapshot();
  for (const node of nodes) {
    snapshot.setNode(aNode(node));
  }
  for (const [nodeName, other] of running) {
    snapshot.setPod({ ...other, spec: { ...other.spec, nodeName } });
  }
  const cycle = beginCycle(podInfo(pod), snapshot, VIEWS);
  const refusals = snapshot.list().map((node) => refusalOf(cycle, node));
  const free = refusals.indexOf(undefined);
  if (free >= 0) {
    return `fits ${snapshot.list()[free]?.name}`;
  }
  return failureMessage({ refusals: refusals.flatMap((refusal) => refusal ?? []), nodeCount: nodes.length, mayPreempt: true });
}

const SPREAD = (key: string) => ({
  maxSkew: 1,
  topologyKey: key,
  whenUnsatisfiable: "DoNotSchedule" as const,
  labelSelector: { matchLabels: { app: "a" } },
});
const ANTI = {
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "a" } } },
    ],
  },
};
const WITH = {
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: "topology.kubernetes.io/zone", labelSelector: { matchLabels: { app: "a" } } },
    ],
  },
};
const WITH_BOTH = {
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      ...WITH.podAffinity.requiredDuringSchedulingIgnoredDuringExecution,
      { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { tier: "x" } } },
    ],
  },
};
const labels = { app: "a" };

test.each([
  { what: "no nodes", pod: aPod(), nodes: [], message: "no nodes available to schedule pods" },
  { what: "a free node", pod: aPod(), nodes: [{ name: "n1" }], message: "fits n1" },
  {
    what: "taint and resources",
    pod: aPod({ cpu: "3" }),
    nodes: [
      { name: "n1", taints: [{ key: "team", value: "a", effect: "NoSchedule" as const }] },
      { name: "n2", cpu: "2" },
      { name: "n3", cpu: "2" },
    ],
    message:
      "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
  },
  {
    what: "a node that takes no pods, which preemption might still help",
    pod: aPod(),
    nodes: [{ name: "n1", pods: "0" }],
    message:
      "0/1 nodes are available: 1 Too many pods. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
  },
  {
    what: "a full node",
    pod: aPod({ cpu: "3" }),
    nodes: [{ name: "n1" }],
    running: [["n1", aPod({ cpu: "2" })]] as const,
    message:
      "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
  },
  {
    what: "no place for another pod",
    pod: aPod(),
    nodes: [{ name: "n1", pods: "1" }],
    running: [["n1", aPod()]] as const,
    message:
      "0/1 nodes are available: 1 Too many pods. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
  },
  {
    what: "a cordoned node",
    pod: aPod(),
    nodes: [{ name: "n1", unschedulable: true }],
    message:
      "0/1 nodes are available: 1 node(s) were unschedulable. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
  },
  {
    what: "a selector",
    pod: aPod({ spec: { nodeSelector: { disk: "ssd" } } }),
    nodes: [{ name: "n1" }],
    message:
      "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
  },
  {
    what: "a taken host port",
    pod: aPod({ container: { ports: [{ containerPort: 80, hostPort: 80 }] } }),
    nodes: [{ name: "n1" }],
    running: [["n1", aPod({ container: { ports: [{ containerPort: 8080, hostPort: 80, hostIP: "10.0.0.1" }] } })]] as const,
    message:
      "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
  },
  {
    what: "spread over zones",
    pod: aPod({ labels, spec: { topologySpreadConstraints: [SPREAD("topology.kubernetes.io/zone")] } }),
    nodes: [
      { name: "n1", zone: "a" },
      { name: "n2", zone: "b" },
    ],
    running: [["n1", aPod({ labels })]] as const,
    message: "fits n2",
  },
  {
    what: "spread without the label",
    pod: aPod({ labels, spec: { topologySpreadConstraints: [SPREAD("rack")] } }),
    nodes: [{ name: "n1" }],
    message:
      "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label). preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
  },
  {
    what: "anti-affinity to one's like",
    pod: aPod({ labels, spec: { affinity: ANTI } }),
    nodes: [{ name: "n1" }],
    running: [["n1", aPod({ labels })]] as const,
    message:
      "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
  },
  {
    what: "anti-affinity of one that runs",
    pod: aPod({ labels }),
    nodes: [{ name: "n1" }],
    running: [["n1", aPod({ spec: { affinity: ANTI } })]] as const,
    message:
      "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
  },
  { what: "affinity, the first of its kind", pod: aPod({ labels, spec: { affinity: WITH } }), nodes: [{ name: "n1" }], message: "fits n1" },
  {
    what: "affinity to nobody",
    pod: aPod({ spec: { affinity: WITH } }),
    nodes: [{ name: "n1" }],
    message:
      "0/1 nodes are available: 1 node(s) didn't match pod affinity rules. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
  },
  {
    what: "affinity to two, of which no pod is both",
    pod: aPod({ spec: { affinity: WITH_BOTH } }),
    nodes: [{ name: "n1" }],
    running: [
      ["n1", aPod({ labels })],
      ["n1", aPod({ labels: { tier: "x" } })],
    ] as const,
    message:
      "0/1 nodes are available: 1 node(s) didn't match pod affinity rules. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
  },
  {
    what: "affinity to two that one pod is",
    pod: aPod({ spec: { affinity: WITH_BOTH } }),
    nodes: [{ name: "n1" }],
    running: [["n1", aPod({ labels: { ...labels, tier: "x" } })]] as const,
    message: "fits n1",
  },
  {
    what: "affinity to a zone",
    pod: aPod({ spec: { affinity: WITH } }),
    nodes: [
      { name: "n1", zone: "a" },
      { name: "n2", zone: "b" },
      { name: "n3", zone: "b" },
    ],
    running: [["n3", aPod({ labels })]] as const,
    message: "fits n2",
  },
])("$what: $message", ({ pod, nodes, running, message }) => {
  expect(messageFor(pod, nodes, running)).toBe(message);
});

test("what is taken comes back when a pod goes or ends", () => {
  const snapshot = createSnapshot();
  snapshot.setNode(aNode({ name: "n1" }));
  const pod = aPod({ cpu: "3" });
  const placed = { ...pod, spec: { ...pod.spec, nodeName: "n1" } };
  snapshot.setPod(placed);
  expect(snapshot.nodes.get("n1")?.requested.cpu).toBe(3000);
  const generation = snapshot.generation;
  snapshot.setPod({ ...placed, status: { phase: "Succeeded" } });
  expect(snapshot.nodes.get("n1")?.requested.cpu).toBe(0);
  expect(snapshot.generation).toBeGreaterThan(generation);
});

test("a pod that was bound before its node was seen counts once the node comes", () => {
  const snapshot = createSnapshot();
  const pod = aPod({ cpu: "1" });
  snapshot.setPod({ ...pod, spec: { ...pod.spec, nodeName: "n1" } });
  snapshot.setNode(aNode({ name: "n1" }));
  expect(snapshot.nodes.get("n1")?.requested.cpu).toBe(1000);
});

test("a pod whose claim is not there fails before any node is looked at, in the words of Kubernetes 1.37", () => {
  const prefilter = 'persistentvolumeclaim "data" not found';
  expect(failureMessage({ refusals: [], prefilter, nodeCount: 2, mayPreempt: true })).toBe(
    '0/2 nodes are available: persistentvolumeclaim "data" not found. not found',
  );
});
