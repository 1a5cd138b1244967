/** The decisions of the workload controllers, without a cluster. */
import { describe, expect, test } from "vitest";
import { aDeployment, aNode, aPod } from "../world/builders.ts";
import { daemonPodSpec } from "./daemon-set.ts";
import { deletionOrder } from "./deletion-order.ts";
import { canonicalJson, contentHash } from "./fnv.ts";
import { indexText } from "./job-index.ts";
import { conditionTaints, evictionLeftMs } from "./node-lifecycle.ts";
import { absoluteOf, rollingBounds, scaleSteps } from "./rollout.ts";

const NOW_MS = Date.parse("2026-01-01T01:00:00Z");

function running(
  name: string,
  { ready = true, cost, node = name }: { readonly ready?: boolean; readonly cost?: string; readonly node?: string } = {},
) {
  const annotations = cost === undefined ? undefined : { "controller.kubernetes.io/pod-deletion-cost": cost };
  const pod = aPod({ name, annotations, spec: { nodeName: node } });
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  return {
    ...pod,
    status: {
      phase: "Running" as const,
      conditions: [{ type: "Ready", status: ready ? ("True" as const) : ("False" as const), lastTransitionTime }],
    },
  };
}

test.each([
  { what: "unbound before bound", pods: [running("a"), aPod({ name: "b" })], first: "b" },
  { what: "pending before running", pods: [running("a"), aPod({ name: "b", spec: { nodeName: "n" } })], first: "b" },
  { what: "unready before ready", pods: [running("a"), running("b", { ready: false })], first: "b" },
  { what: "cheap before dear", pods: [running("a"), running("b", { cost: "-10" })], first: "b" },
  { what: "readiness before cost", pods: [running("a", { cost: "-10" }), running("b", { ready: false, cost: "10" })], first: "b" },
  { what: "doubled up before alone", pods: [running("a"), running("b", { node: "n" }), running("c", { node: "n" })], first: "b" },
])("pods of a ReplicaSet go $what", ({ pods, first }) => {
  expect(deletionOrder(pods, NOW_MS)[0]?.metadata?.name).toBe(first);
});

test.each([
  ["25%", 10, "up", 3],
  ["25%", 10, "down", 2],
  [2, 10, "up", 2],
  ["0%", 10, "up", 0],
] as const)("%s of %s rounded %s is %s", (value, total, round, wanted) => {
  expect(absoluteOf(value, total, round)).toBe(wanted);
});

test("a rolling update may never be stuck with both bounds at zero", () => {
  const strategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: "0%" } };
  expect(rollingBounds(aDeployment({ replicas: 4, strategy }))).toEqual({ surge: 0, unavailable: 1 });
});

describe("steps of a rollout", () => {
  const set = (name: string, replicas: number, available = replicas) => ({
    metadata: { name },
    spec: { replicas, template: { spec: { containers: [] } } },
    status: { replicas, availableReplicas: available },
  });
  test.each([
    { what: "first surge", replicas: 4, newest: set("new", 0), older: [set("old", 4)], steps: { new: 1 } },
    { what: "then shrink", replicas: 4, newest: set("new", 1), older: [set("old", 4)], steps: { old: 2 } },
    { what: "wait for the new pod", replicas: 4, newest: set("new", 2, 0), older: [set("old", 3)], steps: {} },
    { what: "broken old pods first", replicas: 4, newest: set("new", 1), older: [set("old", 4, 2)], steps: { old: 2 } },
    { what: "plain scale", replicas: 6, newest: set("new", 4), older: [set("old", 0)], steps: { new: 6 } },
    {
      what: "Recreate empties first",
      replicas: 4,
      strategy: { type: "Recreate" },
      newest: set("new", 0),
      older: [set("old", 4)],
      steps: { old: 0 },
    },
    {
      what: "Recreate waits",
      replicas: 4,
      strategy: { type: "Recreate" },
      busy: true,
      newest: set("new", 0),
      older: [set("old", 0)],
      steps: {},
    },
  ])("$what", ({ replicas, strategy, newest, older, steps, busy = false }) => {
    const deployment = aDeployment({ replicas, strategy });
    const got = scaleSteps({ deployment, newest, older, hasRunningOldPods: busy });
    expect(Object.fromEntries(got.map((step) => [step.set.metadata?.name, step.replicas]))).toEqual(steps);
  });
});

test("hashes depend on content, not on the order of keys", () => {
  expect(canonicalJson({ b: 1, a: [{ d: 1, c: undefined }] })).toBe('{"a":[{"d":1}],"b":1}');
  expect(contentHash({ a: 1, b: 2 })).toBe(contentHash({ b: 2, a: 1 }));
  expect(contentHash({ a: 1 })).not.toBe(contentHash({ a: 2 }));
  expect(contentHash({ a: 1 })).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]+$/);
});

test("completion indexes are written as runs", () => {
  expect(indexText([5, 0, 2, 1, 7, 8])).toBe("0-2,5,7,8");
});

test("a DaemonSet pod names its node instead of the terms of its template, and tolerates what nodes go through", () => {
  const term = { matchExpressions: [{ key: "a", operator: "Exists" as const }] };
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } };
  const spec = daemonPodSpec({ containers: [], hostNetwork: true, affinity: { nodeAffinity } }, "n1");
  expect(spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms).toEqual([
    { matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] },
  ]);
  expect(spec.tolerations?.map(({ key }) => key)).toContain("node.kubernetes.io/network-unavailable");
});

test.each([
  { what: "ready", conditions: [{ type: "Ready", status: "True" as const }], taints: [] },
  { what: "not ready", conditions: [{ type: "Ready", status: "False" as const }], taints: ["not-ready:NoSchedule", "not-ready:NoExecute"] },
  {
    what: "silent",
    conditions: [{ type: "Ready", status: "Unknown" as const }],
    taints: ["unreachable:NoSchedule", "unreachable:NoExecute"],
  },
])("a $what node has $taints", ({ conditions, taints }) => {
  const node = aNode();
  const got = conditionTaints({ ...node, status: { ...node.status, conditions } });
  expect(got.map(({ key, effect }) => `${key.replace("node.kubernetes.io/", "")}:${effect}`)).toEqual(taints);
});

test.each([
  { what: "no toleration", tolerations: [], leftMs: 0 },
  { what: "a toleration for good", tolerations: [{ operator: "Exists" as const }], leftMs: undefined },
  { what: "300 s, 60 of them gone", tolerations: [{ key: "k", operator: "Exists" as const, tolerationSeconds: 300 }], leftMs: 240_000 },
])("NoExecute with $what leaves $leftMs", ({ tolerations, leftMs }) => {
  const taint = { key: "k", effect: "NoExecute" as const, timeAdded: "2026-01-01T00:59:00Z" };
  expect(evictionLeftMs(aPod({ spec: { tolerations } }), [taint], NOW_MS)).toBe(leftMs);
});
