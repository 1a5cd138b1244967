/** The lines that log-based alerts look for, with the keys that they read. Section 4 of the operations rules (O-84…O-91). */
import { NodeClaims, Pods } from "@joinery/api";
import { createRandom, createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { createMetricsRegistry } from "./metrics/prometheus.ts";
import { createRuntimeMetrics } from "./metrics/runtime-metrics.ts";
import { durationText, listText, objectFields } from "./runtime/log-context.ts";
import { createLoop } from "./runtime/loop.ts";
import { once } from "./runtime/source.ts";
import { claimCondition } from "./state/conditions.ts";
import { recordingLog } from "./testing/recording-log.ts";
import { bindPod, createWorld, NODE_CLAIMS, putPendingPod, putPool } from "./testing/world.ts";

test("section 4: a node's life in the log", async () => {
  const world = createWorld();
  const { log, lines } = recordingLog();
  const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };
  putPool(world, "default", { template: { spec: { nodeClassRef, requirements: [], terminationGracePeriod: "10m" } } });
  putPendingPod(world, "a", "1");
  putPendingPod(world, "too-big", "100");
  world.start({ log });
  await world.until("a NodeClaim", () => world.claims().length === 1);
  putPendingPod(world, "b", "1");
  await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  const [claim] = world.claims();
  const [name, node] = [claim!.metadata!.name!, claim!.status!.nodeName!];
  bindPod(world, "a", node);
  world.api.remove("/api/v1/namespaces/default/pods/a");
  world.api.remove("/api/v1/namespaces/default/pods/b");
  world.api.remove(`${NODE_CLAIMS}/${name}`);
  await world.until("gone", () => world.claims().length === 0);

  const NodeClaim = { name };
  const NodePool = { name: "default" };
  const Node = { name: node };
  const providerId = claim!.status!.providerID;
  const of = (controller: string, kind: string, group = "karpenter.sh") => ({ controller, controllerKind: kind, controllerGroup: group });
  const lifecycle = of("nodeclaim.lifecycle", "NodeClaim");
  const termination = of("node.termination", "Node", "");
  const reached = { ...lifecycle, NodeClaim, NodePool, "provider-id": providerId };
  const allocatable = claim!.status!.allocatable;
  for (const line of [
    { message: "found provisionable pod(s)", Pods: "default/a, default/too-big", duration: expect.stringMatching(/^[\d.]+(ms|s)$/) },
    { message: "computed new nodeclaim(s) to fit pod(s)", nodeclaims: 1, pods: 1 },
    { message: "computed unready node(s) will fit pod(s)", nodes: 1, pods: 2 },
    { message: "created nodeclaim", NodeClaim, NodePool, requests: expect.anything(), "instance-types": "small" },
    {
      message: "launched nodeclaim",
      ...reached,
      provider: "fake",
      "instance-type": "small",
      zone: "zone-a",
      "capacity-type": "on-demand",
      allocatable,
    },
    { message: "registered nodeclaim", ...reached, Node },
    { message: "initialized nodeclaim", ...reached, Node, allocatable },
    { message: "annotated nodeclaim", ...lifecycle, NodeClaim, "karpenter.sh/nodeclaim-termination-timestamp": expect.any(String) },
    {
      message: "tainted node",
      ...termination,
      Node,
      "taint.Key": "karpenter.sh/disrupted",
      "taint.Value": "",
      "taint.Effect": "NoSchedule",
    },
    { message: "deleted node", ...termination, Node },
    { message: "deleted nodeclaim", ...lifecycle, NodeClaim, Node, "provider-id": providerId },
  ]) {
    expect(lines.map((one) => one.message)).toContain(line.message);
    const { controller = "provisioner" } = line as { controller?: string };
    expect(lines.filter(({ message }) => message === line.message)).toContainEqual({ level: "info", controller, ...line });
  }
  expect(lines).toContainEqual({
    level: "error",
    message: "could not schedule pod",
    controller: "provisioner",
    Pod: { name: "too-big", namespace: "default" },
    error: expect.stringMatching(/cpu/),
  });
});

test("O-89: an event is no line of the log too, not even while one debugs", async () => {
  const world = createWorld();
  const { log, lines } = recordingLog();
  putPool(world);
  putPendingPod(world, "a", "1");
  world.start({ log });
  await world.until("Nominated", () => world.events().some(({ reason }) => reason === "Nominated"));
  await world.clock.advance(1000);
  expect(lines.filter(({ message }) => world.events().some((event) => event.message === message || event.reason === message))).toEqual([]);
});

test("S-8: without a pool that is said, and no pod is named", async () => {
  const world = createWorld();
  const { log, lines } = recordingLog();
  putPendingPod(world, "a");
  world.start({ log });
  await world.clock.advance(5000);
  expect(lines).toContainEqual({ level: "info", message: "no dynamic nodepools found", controller: "provisioner", pods: 1 });
  expect(lines.map(({ message }) => message)).not.toContain("could not schedule pod");
});

test.each([
  { error: new Error("etcd is away"), panics: 0 },
  { error: new TypeError("x is undefined"), panics: 1 },
])("O-88, O-90, O-91: a reconcile that fails with $error", async ({ error, panics }) => {
  const clock = createVirtualClock({ startMs: 0 });
  const registry = createMetricsRegistry();
  const { log, lines } = recordingLog();
  const loop = createLoop(
    { name: "nodeclaim.lifecycle", find: () => ({}), reconciler: { reconcile: () => Promise.reject(error) }, sources: [], workers: 1 },
    { clock, log, random: createRandom(1), kind: NodeClaims, observe: createRuntimeMetrics(registry, clock) },
  );
  loop.wake("default-abc");
  const stop = new AbortController();
  void loop.run(stop.signal);
  await clock.settle();
  stop.abort();
  const [name, NodeClaim] = ["default-abc", { name: "default-abc" }];
  const reconcileID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  expect(lines).toEqual([{ level: "error", message: "Reconciler error", NodeClaim, name, reconcileID, error: error.message }]);
  const text = await registry.metrics();
  expect(text).toMatch(/^controller_runtime_reconcile_errors_total{controller="nodeclaim.lifecycle"} 1$/m);
  expect(/^controller_runtime_reconcile_panics_total{controller="nodeclaim.lifecycle"} 1$/m.test(text)).toBe(panics === 1);
});

test("O-88: what is said in the middle of a reconcile carries its object and the ID under which it fails", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const { log, lines } = recordingLog();
  const during: object[] = [];
  const within = <R>(fields: object, action: () => R): R => {
    during.push(fields);
    return action();
  };
  const reconciler = { reconcile: () => Promise.reject(new Error("etcd is away")) };
  const options = { name: "nodeclaim.lifecycle", find: () => ({}), reconciler, sources: [], workers: 1 };
  const loop = createLoop(options, { clock, log: { ...log, within }, random: createRandom(1), kind: NodeClaims });
  loop.wake("a");
  const stop = new AbortController();
  void loop.run(stop.signal);
  await clock.advance(5);
  stop.abort();
  const ids = lines.map(({ reconcileID }) => reconcileID);
  expect(new Set(ids).size).toBe(2);
  expect(during.map((fields) => ({ ...fields }))).toEqual(ids.map((reconcileID) => ({ NodeClaim: { name: "a" }, name: "a", reconcileID })));
});

test("O-237: what only a person can mend is a terminal error", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const registry = createMetricsRegistry();
  const { log, lines } = recordingLog();
  const reason = { kind: "broken", message: "the overlay is broken" };
  const reconciler = { reconcile: async () => ({ kind: "stuck", reason }) as const };
  const rooms = { clock, log, random: createRandom(1), observe: createRuntimeMetrics(registry, clock) };
  const loop = createLoop({ name: "c", find: () => ({}), reconciler, sources: [once], workers: 1 }, rooms);
  const stop = new AbortController();
  void loop.run(stop.signal);
  await clock.settle();
  stop.abort();
  expect(lines).toEqual([{ level: "warn", message: reason.message, reason }]);
  expect(await registry.metrics()).toMatch(/^controller_runtime_terminal_reconcile_errors_total{controller="c"} 1$/m);
});

test.each([
  { kind: NodeClaims, key: "a", fields: { NodeClaim: { name: "a" }, name: "a" } },
  { kind: undefined, key: "ns/a", fields: { namespace: "ns", name: "a" } },
  { kind: Pods, key: "ns/a", fields: { Pod: { name: "a", namespace: "ns" }, namespace: "ns", name: "a" } },
  { kind: Pods, key: "ns/a/uid-1", fields: { Pod: { name: "a", namespace: "ns" }, namespace: "ns", name: "a" } },
  { kind: NodeClaims, key: "", fields: {} },
])("O-88: $key", ({ kind, key, fields }) => {
  expect(objectFields(kind, key)).toEqual(fields);
});

test("O-85: durations are texts; long lists are cut", () => {
  expect([durationText(90_000), durationText(1.5), durationText(0)]).toEqual(["1m30s", "1.5ms", "0s"]);
  expect(listText(["a", "b"])).toBe("a, b");
  expect(listText(["a", "b", "c", "d", "e", "f", "g"])).toBe("a, b, c, d, e and 2 other(s)");
});
