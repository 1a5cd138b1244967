import { Ec2NodeClasses } from "@joinery/api";
import { createKubeClient, createRandom, createVirtualClock } from "@joinery/kube";
import { describe, expect, test } from "vitest";
import type { CoreEvent } from "../events/event.ts";
import { silentLogger } from "../logger.ts";
import { createCaches } from "../state/caches.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { scrape } from "../testing/scrape.ts";
import { createConditionWatches } from "./condition-watches.ts";
import { createMetricsRegistry } from "./prometheus.ts";

const CLASS_LABEL = "karpenter.k8s.aws/ec2nodeclass";
const POOL_LABEL = "karpenter.sh/nodepool";
const labels = { [CLASS_LABEL]: "linux", [POOL_LABEL]: "web", "karpenter.sh/initialized": "true" };
const CLASS = "karpenter_k8s_aws_ec2nodeclass";
const POOL = "karpenter_sh_nodepool";
const CORE_BUCKETS = [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];
const LIBRARY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What the rules say of each kind. `from`: what its condition is before; Nodes have conditions of their own. */
const KINDS = [
  {
    kind: "nodeclaim",
    path: "/apis/karpenter.sh/v1/nodeclaims/a",
    group: "karpenter.sh",
    kindName: "NodeClaim",
    own: [CLASS, POOL],
    buckets: CORE_BUCKETS,
  },
  {
    kind: "nodepool",
    path: "/apis/karpenter.sh/v1/nodepools/a",
    group: "karpenter.sh",
    kindName: "NodePool",
    own: [],
    buckets: CORE_BUCKETS,
  },
  {
    kind: "node",
    path: "/api/v1/nodes/a",
    group: undefined,
    kindName: "Node",
    own: [CLASS, POOL, "karpenter_sh_initialized"],
    buckets: CORE_BUCKETS,
  },
  {
    kind: "ec2nodeclass",
    path: "/apis/karpenter.k8s.aws/v1/ec2nodeclasses/a",
    group: "karpenter.k8s.aws",
    kindName: "EC2NodeClass",
    own: [],
    buckets: LIBRARY_BUCKETS,
  },
  {
    kind: "capacitybuffer",
    path: "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/team/capacitybuffers/a",
    group: "autoscaling.x-k8s.io",
    kindName: "CapacityBuffer",
    own: [],
    buckets: CORE_BUCKETS,
  },
] as const;

type Row = (typeof KINDS)[number];

async function aWorld(hasBuffers = true) {
  const clock = createVirtualClock({ startMs: Date.parse("2026-01-01T00:00:00Z") });
  const api = createFakeApi(clock);
  const kube = createKubeClient(api.transport);
  const registry = createMetricsRegistry();
  const random = createRandom(1);
  const caches = createCaches({ kube, clock, random, nodeClassKinds: [Ec2NodeClasses], log: silentLogger, wants: { buffers: true } });
  const watch = createConditionWatches(registry, caches, clock, { hasCoreKinds: true, hasBuffers });
  const stop = new AbortController();
  void caches.run(stop.signal);
  const synced = caches.whenSynced();
  await clock.settle();
  await synced;
  const events: CoreEvent[] = [];
  const start = () => watch({ publish: (event) => void events.push(event) });
  const now = () => new Date(clock.wallMs()).toISOString();
  const setReady = async ({ path }: Row, status: string, reason: string, message = "") => {
    api.put(path, { status: { conditions: [{ type: "Ready", status, reason, message, lastTransitionTime: now() }] } });
    await clock.settle();
  };
  const create = async (row: Row, finalizers: readonly string[] = []) => {
    // Enough for the records that caches make of what arrives.
    api.put(row.path, { metadata: { labels, finalizers }, spec: { nodeClassRef: {}, template: { spec: {} } } });
    await setReady(row, "False", "Young");
  };
  return { clock, api, registry, events, start, setReady, create };
}

const named = (row: Row) => ({ namespace: row.kind === "capacitybuffer" ? "team" : "", name: "a" });
const ownLabels = ({ own }: Row) => {
  const values: Record<string, string> = { [CLASS]: "linux", [POOL]: "web", karpenter_sh_initialized: "true" };
  return Object.fromEntries(own.map((name) => [name, values[name] ?? ""]));
};

describe.each(KINDS)("conditions of a $kind", (row) => {
  const { kind, path, group, kindName, own, buckets } = row;
  const prefix = `operator_${kind}`;

  test("O-231, O-233, V-106: name, type, labels and value of each series", async () => {
    const world = await aWorld();
    world.start();
    await world.create(row);
    await world.clock.advance(20_000);
    await world.setReady(row, "True", "Ready");
    await world.clock.advance(7000);
    const { typeOf, series, value, labelNames } = await scrape(world.registry);
    const condition = { ...named(row), type: "Ready", status: "True", reason: "Ready", ...ownLabels(row) };
    expect([typeOf(`${prefix}_status_condition_count`), series(`${prefix}_status_condition_count`)]).toEqual([
      "gauge",
      [{ labels: condition, value: 1 }],
    ]);
    expect([
      typeOf(`${prefix}_status_condition_current_status_seconds`),
      series(`${prefix}_status_condition_current_status_seconds`),
    ]).toEqual(["gauge", [{ labels: condition, value: 7 }]]);
    expect(typeOf(`${prefix}_status_condition_transitions_total`)).toBe("counter");
    expect(labelNames(`${prefix}_status_condition_transitions_total`)).toEqual([...own, "type", "status", "reason"].sort());
    expect(
      value(`${prefix}_status_condition_transitions_total`, { type: "Ready", status: "True", reason: "Ready", ...ownLabels(row) }),
    ).toBe(1);
    expect(typeOf(`${prefix}_status_condition_transition_seconds`)).toBe("histogram");
    expect(labelNames(`${prefix}_status_condition_transition_seconds_count`)).toEqual([...own, "type", "status", "to_status"].sort());
    expect(value(`${prefix}_status_condition_transition_seconds_sum`, { status: "False", to_status: "True", ...ownLabels(row) })).toBe(20);
  });

  test("O-231, O-236: what goes is told, and timed when it is gone; then its gauges are gone too", async () => {
    const world = await aWorld();
    world.start();
    await world.create(row, ["example.com/hold"]);
    world.api.remove(path);
    await world.clock.advance(12_000);
    const before = await scrape(world.registry);
    expect([
      before.typeOf(`${prefix}_termination_current_time_seconds`),
      before.series(`${prefix}_termination_current_time_seconds`),
    ]).toEqual(["gauge", [{ labels: { ...named(row), ...ownLabels(row) }, value: 12 }]]);
    world.api.put(path, { metadata: { finalizers: [] } });
    await world.clock.settle();
    const after = await scrape(world.registry);
    expect(after.typeOf(`${prefix}_termination_duration_seconds`)).toBe("histogram");
    expect(after.series(`${prefix}_termination_duration_seconds_sum`)).toEqual([{ labels: ownLabels(row), value: 12 }]);
    for (const name of ["status_condition_count", "status_condition_current_status_seconds", "termination_current_time_seconds"]) {
      expect(after.series(`${prefix}_${name}`), name).toEqual([]);
      expect(after.series(`operator_${name}`), name).toEqual([]);
    }
  });

  test("O-232: buckets", async () => {
    const world = await aWorld();
    world.start();
    await world.create(row, ["example.com/hold"]);
    await world.setReady(row, "True", "Ready");
    world.api.remove(path);
    world.api.put(path, { metadata: { finalizers: [] } });
    await world.clock.settle();
    const { buckets: bucketsOf } = await scrape(world.registry);
    expect(bucketsOf(`${prefix}_status_condition_transition_seconds`)).toEqual(buckets);
    expect(bucketsOf(`${prefix}_termination_duration_seconds`)).toEqual(buckets);
  });

  test("O-234, V-106: series of the deprecated names add group and kind, and have no labels of the object; Nodes have none", async () => {
    const world = await aWorld();
    world.start();
    await world.create(row, ["example.com/hold"]);
    await world.setReady(row, "True", "Ready");
    world.api.remove(path);
    await world.clock.settle();
    const leaving = await scrape(world.registry);
    world.api.put(path, { metadata: { finalizers: [] } });
    await world.clock.settle();
    const gone = await scrape(world.registry);
    const twin = group === undefined ? [] : ["group", "kind"];
    const object = group === undefined ? [] : ["name", "namespace"];
    const condition = group === undefined ? [] : ["reason", "status", "type"];
    expect(leaving.labelNames("operator_status_condition_count")).toEqual([...twin, ...object, ...condition].sort());
    expect(leaving.labelNames("operator_status_condition_current_status_seconds")).toEqual([...twin, ...object, ...condition].sort());
    expect(leaving.labelNames("operator_status_condition_transitions_total")).toEqual([...twin, ...condition].sort());
    expect(leaving.labelNames("operator_termination_current_time_seconds")).toEqual([...twin, ...object].sort());
    expect(gone.labelNames("operator_termination_duration_seconds_count")).toEqual(twin);
    const timed = group === undefined ? [] : ["status", "to_status", "type"];
    expect(gone.labelNames("operator_status_condition_transition_seconds_count")).toEqual([...twin, ...timed].sort());
    if (group === undefined) return;
    const labels = { group, kind: kindName };
    expect(leaving.value("operator_status_condition_count", labels)).toBe(1);
    expect(gone.value("operator_termination_duration_seconds_count", labels)).toBe(1);
  });

  test("O-235: what is seen first is counted, but neither timed nor told", async () => {
    const world = await aWorld();
    await world.create(row);
    world.start();
    const { value, series } = await scrape(world.registry);
    expect(value(`${prefix}_status_condition_transitions_total`, { type: "Ready", status: "False", reason: "Young" })).toBe(1);
    expect(series(`${prefix}_status_condition_transition_seconds_count`)).toEqual([]);
    expect(world.events).toEqual([]);
  });

  test("O-275: a condition that changes is an event of its name, told each time", async () => {
    const world = await aWorld();
    await world.create(row);
    world.start();
    await world.setReady(row, "True", "Ready");
    await world.setReady(row, "False", "Broken", "it fell over");
    await world.setReady(row, "False", "StillBroken");
    const subject = { kind: kindName, name: "a" };
    expect(world.events).toMatchObject([
      {
        subject,
        type: "Normal",
        reason: "Ready",
        message: "Status condition transitioned, Type: Ready, Status: False -> True, Reason: Ready",
      },
      {
        subject,
        type: "Normal",
        reason: "Ready",
        message: "Status condition transitioned, Type: Ready, Status: True -> False, Reason: Broken, Message: it fell over",
      },
    ]);
    expect(world.events.map(({ dedupe }) => dedupe)).toEqual([[], []]);
  });

  test("O-276: each finalizer that is taken off is an event, the last one too", async () => {
    const world = await aWorld();
    await world.create(row, ["example.com/first", "example.com/last"]);
    world.start();
    world.api.put(path, { metadata: { finalizers: ["example.com/last"] } });
    await world.clock.settle();
    world.api.remove(path);
    world.api.put(path, { metadata: { finalizers: [] } });
    await world.clock.settle();
    const subject = { kind: kindName, name: "a" };
    expect(world.events).toMatchObject([
      { subject, type: "Normal", reason: "Finalized", message: "Finalized example.com/first", dedupe: [] },
      { subject, type: "Normal", reason: "Finalized", message: "Finalized example.com/last", dedupe: [] },
    ]);
  });
});

test("O-231: without the gate CapacityBuffer there are none of its kind; who follows no more shows none", async () => {
  const world = await aWorld();
  const [nodeClaim, , , , buffer] = KINDS;
  const end = world.start();
  await world.create(nodeClaim);
  expect((await scrape(world.registry)).series("operator_nodeclaim_status_condition_count")).toHaveLength(1);
  end();
  const told = world.events.length;
  const { series, typeOf } = await scrape(world.registry);
  expect(series("operator_nodeclaim_status_condition_count")).toEqual([]);
  await world.setReady(nodeClaim, "True", "Ready");
  expect(world.events).toHaveLength(told);
  expect(typeOf(`operator_${buffer.kind}_status_condition_count`)).toBe("gauge");
  const ungated = await aWorld(false);
  expect((await scrape(ungated.registry)).typeOf(`operator_${buffer.kind}_status_condition_count`)).toBeUndefined();
});
