/** What is told of pods. Section 8.3 of the operations chapter, with V-104. */
import { formatTime, type Pod } from "@joinery/api";
import { describe, expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { DB, expectRow, type MetricRow } from "../testing/metric-rows.ts";
import { scrape } from "../testing/scrape.ts";
import { createWorld, NODES, putPendingPod, putPool, type World } from "../testing/world.ts";
import type { Registry } from "./prometheus.ts";

const pathOf = (name: string) => `/api/v1/namespaces/default/pods/${name}`;
const STATE_LABELS = "name namespace owner node scheduled nodepool zone arch capacity_type instance_type phase ready managed".split(" ");

/** Conditions that are True since now. */
function turn(world: World, name: string, conditions: readonly string[], change: object = {}, phase = "Running"): void {
  const lastTransitionTime = formatTime(world.clock.wallMs());
  const held = world.api.find<Pod>(pathOf(name))?.status?.conditions ?? [];
  const kept = held.filter(({ type, status }) => status === "True" && !conditions.includes(type));
  const turned = conditions.map((type) => ({ type, status: "True", lastTransitionTime }));
  world.api.put(pathOf(name), { ...change, status: { phase, conditions: [...kept, ...turned] } });
}

interface Life {
  readonly world: World;
  readonly registry: Registry;
}

/** A pod is made at 0 s; it has a place after 1 s, is bound at 30 s, still pending, runs at 40 s and is ready at 50 s. */
async function aLife(change: object = {}): Promise<Life & { advanceTo(seconds: number): Promise<void> }> {
  const world = createWorld();
  putPool(world);
  const { controller } = world.start();
  await world.clock.advance(60_000);
  const startMs = world.clock.wallMs();
  putPendingPod(world, "a", "1", change);
  return {
    world,
    registry: controller.registry,
    advanceTo: (seconds) => world.clock.advance(startMs + seconds * 1000 - world.clock.wallMs()),
  };
}

const NAMED = { name: "a", namespace: "default" };
const gauge = (rule: string, name: string, value: number, isDynamic: boolean): MetricRow => ({
  rule,
  name: `karpenter_pods_${name}`,
  type: "gauge",
  labels: isDynamic ? ["name", "namespace", "dynamic_resources"] : ["name", "namespace"],
  of: isDynamic ? { ...NAMED, dynamic_resources: "false" } : NAMED,
  value,
});
const duration = (rule: string, name: string, value: number, isDynamic: boolean): MetricRow => ({
  rule,
  name: `karpenter_pods_${name}`,
  type: "histogram",
  labels: isDynamic ? ["dynamic_resources"] : [],
  of: isDynamic ? { dynamic_resources: "false" } : {},
  buckets: DB,
  value,
});

describe("a pod's way", () => {
  test("O-200…O-205, V-104: as it waits, is bound, runs and is ready", async () => {
    const { world, registry, advanceTo } = await aLife();
    await advanceTo(0.5);
    await expectRow(registry, gauge("O-205", "provisioning_scheduling_undecided_time_seconds", 0.5, false));
    await advanceTo(11);
    for (const row of [
      gauge("O-201", "unstarted_time_seconds", 11, false),
      gauge("O-203, V-104", "unbound_time_seconds", 11, true),
      // A place was found after a second, when the batch ended.
      gauge("O-204", "provisioning_unstarted_time_seconds", 10, false),
      gauge("O-204, V-104", "provisioning_unbound_time_seconds", 10, true),
      duration("O-205", "scheduling_decision_duration_seconds", 1, false),
    ]) {
      await expectRow(registry, row);
    }
    await advanceTo(30);
    turn(world, "a", ["PodScheduled"], { spec: { nodeName: "n" } }, "Pending");
    await advanceTo(31);
    const bound = await scrape(registry);
    expect(bound.series("karpenter_pods_unbound_time_seconds")).toEqual([]);
    expect(bound.series("karpenter_pods_provisioning_unbound_time_seconds")).toEqual([]);
    expect(bound.series("karpenter_pods_bound_duration_seconds_count"), "O-202: not while it is pending").toEqual([]);
    expect(bound.value("karpenter_pods_unstarted_time_seconds", NAMED)).toBe(31);
    await advanceTo(40);
    turn(world, "a", []);
    await advanceTo(45);
    await expectRow(registry, duration("O-202, V-104", "bound_duration_seconds", 30, true));
    await expectRow(registry, duration("O-204, V-104", "provisioning_bound_duration_seconds", 29, true));
    await advanceTo(50);
    turn(world, "a", ["Ready"]);
    await advanceTo(55);
    await expectRow(registry, { rule: "O-200", name: "karpenter_pods_startup_duration_seconds", type: "summary", labels: [], value: 50 });
    await expectRow(registry, duration("O-204", "provisioning_startup_duration_seconds", 49, false));
    const ready = await scrape(registry);
    for (const name of ["unstarted_time_seconds", "provisioning_unstarted_time_seconds"]) {
      expect(ready.series(`karpenter_pods_${name}`), name).toEqual([]);
    }
    // O-202, O-200: once.
    turn(world, "a", ["Ready"]);
    await advanceTo(60);
    const again = await scrape(registry);
    expect(again.value("karpenter_pods_bound_duration_seconds_count")).toBe(1);
    expect(again.value("karpenter_pods_startup_duration_seconds_count")).toBe(1);
  });

  test("V-104, O-202, O-203: a pod with devices is told apart", async () => {
    const { world, registry, advanceTo } = await aLife({ resourceClaims: [{ name: "gpu", resourceClaimName: "gpu" }] });
    await advanceTo(5);
    expect((await scrape(registry)).value("karpenter_pods_unbound_time_seconds", { ...NAMED, dynamic_resources: "true" })).toBe(5);
    turn(world, "a", ["PodScheduled"], { spec: { nodeName: "n" } });
    await advanceTo(6);
    const { value, series } = await scrape(registry);
    expect(value("karpenter_pods_bound_duration_seconds_sum", { dynamic_resources: "true" })).toBe(5);
    // O-204: nobody has found a place for it.
    expect(series("karpenter_pods_provisioning_bound_duration_seconds_count")).toEqual([]);
    expect(series("karpenter_pods_provisioning_unbound_time_seconds")).toEqual([]);
  });

  test("O-200: pods that were not seen pending, or that have ended, are not counted", async () => {
    const world = createWorld();
    putPool(world);
    putPendingPod(world, "early", "1", { nodeName: "n" });
    turn(world, "early", ["PodScheduled"]);
    const { controller } = world.start();
    await world.clock.advance(10_000);
    turn(world, "early", ["Ready"]);
    putPendingPod(world, "job", "1", { nodeName: "n" });
    await world.clock.advance(1000);
    turn(world, "job", ["PodScheduled", "Ready"], {}, "Succeeded");
    await world.clock.advance(1000);
    const { series } = await scrape(controller.registry);
    expect(series("karpenter_pods_startup_duration_seconds_count")).toEqual([]);
  });

  test("O-202, O-204: a job that ends before anybody sees it run was bound; one that fails unbound was not", async () => {
    const { world, registry, advanceTo } = await aLife();
    putPendingPod(world, "refused");
    await advanceTo(11);
    turn(world, "a", ["PodScheduled"], { spec: { nodeName: "n" } }, "Succeeded");
    turn(world, "refused", [], {}, "Failed");
    await advanceTo(12);
    turn(world, "a", [], {}, "Succeeded");
    await advanceTo(13);
    const { value } = await scrape(registry);
    expect(value("karpenter_pods_bound_duration_seconds_count")).toBe(1);
    expect(value("karpenter_pods_bound_duration_seconds_sum")).toBe(11);
    expect(value("karpenter_pods_provisioning_bound_duration_seconds_count")).toBe(1);
  });
});

describe("how series of a pod that waits end", () => {
  const waiting = [
    "unstarted_time_seconds",
    "unbound_time_seconds",
    "provisioning_unstarted_time_seconds",
    "provisioning_unbound_time_seconds",
  ];
  test.each([
    { rule: "O-201, O-203, O-204", end: "deleted", act: ({ api }: World) => api.remove(pathOf("a")) },
    { rule: "O-201, O-203, O-204", end: "failed", act: (world: World) => turn(world, "a", [], {}, "Failed") },
  ])("$rule: it is $end", async ({ act }) => {
    const { world, registry, advanceTo } = await aLife();
    await advanceTo(11);
    const before = await scrape(registry);
    for (const name of waiting) expect(before.series(`karpenter_pods_${name}`), name).toHaveLength(1);
    act(world);
    await advanceTo(12);
    const after = await scrape(registry);
    for (const name of waiting) expect(after.series(`karpenter_pods_${name}`), name).toEqual([]);
  });

  test.each([
    { end: "decided", act: () => {}, atSeconds: 1.5 },
    { end: "bound", act: (world: World) => turn(world, "a", ["PodScheduled"], { spec: { nodeName: "n" } }), atSeconds: 0.6 },
    { end: "scheduled", act: (world: World) => turn(world, "a", ["PodScheduled"], {}, "Pending"), atSeconds: 0.6 },
    { end: "failed", act: (world: World) => turn(world, "a", [], {}, "Failed"), atSeconds: 0.6 },
    { end: "deleted", act: ({ api }: World) => api.remove(pathOf("a")), atSeconds: 0.6 },
  ])("O-205: the time without a decision, when it is $end", async ({ act, atSeconds }) => {
    const { world, registry, advanceTo } = await aLife();
    await advanceTo(0.5);
    const name = "karpenter_pods_provisioning_scheduling_undecided_time_seconds";
    expect((await scrape(registry)).series(name)).toHaveLength(1);
    act(world);
    await advanceTo(atSeconds);
    expect((await scrape(registry)).series(name)).toEqual([]);
  });
});

describe("O-199: pods and where they are", () => {
  const bare = Object.fromEntries(STATE_LABELS.map((name) => [name, ""]));
  const waiting = { ...bare, ...NAMED, scheduled: "false", ready: "false", managed: "false", phase: "Pending" };

  async function stateOf(arrange: (world: World) => void): Promise<readonly { readonly labels: object; readonly value: number }[]> {
    const world = createWorld();
    arrange(world);
    const { controller } = world.start();
    await world.clock.advance(1000);
    const { typeOf, series } = await scrape(controller.registry);
    expect(typeOf("karpenter_pods_state")).toBe("gauge");
    return series("karpenter_pods_state");
  }

  test.each([
    { owners: [], owner: "" },
    {
      owners: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "1", controller: true }],
      owner: "/apis/apps/v1/namespaces/default/replicasets/web",
    },
    {
      owners: [
        { apiVersion: "example.com/v1", kind: "Batch", name: "first", uid: "1" },
        { apiVersion: "batch/v1", kind: "Job", name: "controls", uid: "2", controller: true },
      ],
      owner: "/apis/example.com/v1/namespaces/default/batchs/first",
    },
    { owners: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "1" }], owner: "/apis/v1/namespaces/default/nodes/n" },
  ])("O-199: owner $owner", async ({ owners, owner }) => {
    const state = await stateOf(({ api }) => {
      api.put(pathOf("a"), {
        metadata: { ownerReferences: owners },
        spec: { containers: [{ name: "main" }] },
        status: { phase: "Pending" },
      });
    });
    expect(state).toEqual([{ labels: { ...waiting, owner }, value: 1 }]);
  });

  test.each([
    { what: "a NodePool", pool: "default", managed: "true" },
    { what: "nobody", pool: "", managed: "false" },
  ])("O-199: on a node of $what", async ({ pool, managed }) => {
    const places = {
      "topology.kubernetes.io/zone": "zone-a",
      "kubernetes.io/arch": "amd64",
      "karpenter.sh/capacity-type": "spot",
      "node.kubernetes.io/instance-type": "small",
    };
    const state = await stateOf((world) => {
      world.api.put(`${NODES}/n`, { metadata: { labels: { ...places, ...(pool && { "karpenter.sh/nodepool": pool }) } } });
      world.api.put(pathOf("a"), { spec: { nodeName: "n", containers: [{ name: "main" }] }, status: { phase: "Pending" } });
      turn(world, "a", ["PodScheduled", "Ready"]);
    });
    const labels = {
      ...NAMED,
      owner: "",
      node: "n",
      scheduled: "true",
      nodepool: pool,
      zone: "zone-a",
      arch: "amd64",
      capacity_type: "spot",
      instance_type: "small",
      phase: "Running",
      ready: "true",
      managed,
    };
    expect(state).toEqual([{ labels, value: 1 }]);
  });

  test("O-174: one series per pod, whatever becomes of it; none when it is gone", async () => {
    const world = createWorld();
    putPool(world);
    putPendingPod(world, "a");
    const { controller } = world.start();
    await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
    const phases = async () => (await scrape(controller.registry)).series("karpenter_pods_state").map(({ labels }) => labels.phase);
    expect(await phases()).toEqual(["Pending"]);
    turn(world, "a", ["PodScheduled"], { spec: { nodeName: world.claims()[0]!.status!.nodeName } });
    await world.clock.settle();
    expect(await phases()).toEqual(["Running"]);
    world.api.remove(pathOf("a"));
    await world.clock.settle();
    expect(await phases()).toEqual([]);
  });
});
