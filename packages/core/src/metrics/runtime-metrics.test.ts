/** What controllers, queues, the Lease and the build tell, under the names of the usual libraries. Section 8.8 of the operations chapter. */
import { createRandom, createVirtualClock } from "@joinery/kube";
import { describe, expect, test } from "vitest";
import { silentLogger } from "../logger.ts";
import { createLoop } from "../runtime/loop.ts";
import { again, asleep, RetryLater, type Step } from "../runtime/step.ts";
import { scrape } from "../testing/scrape.ts";
import { createWorld } from "../testing/world.ts";
import { registerBuildInfo } from "./build-info.ts";
import { createMetricsRegistry } from "./prometheus.ts";
import { createRuntimeMetrics } from "./runtime-metrics.ts";

/** One key, worked on for two seconds each time, by one of three workers; what its passes come to, one after the other. */
async function aLoop(passes: readonly (() => Step)[]) {
  const clock = createVirtualClock({ startMs: 0 });
  const registry = createMetricsRegistry();
  let pass = 0;
  const reconciler = {
    async reconcile() {
      await clock.sleep(2000);
      return passes[pass++]?.() ?? asleep;
    },
  };
  const rooms = { clock, log: silentLogger, random: createRandom(1), observe: createRuntimeMetrics(registry, clock) };
  const loop = createLoop({ name: "c", find: () => ({}), reconciler, sources: [], workers: 3 }, rooms);
  const stop = new AbortController();
  void loop.run(stop.signal);
  loop.wake("a");
  return { clock, registry, stop, wake: loop.wake };
}

const fail = (error: Error) => () => {
  throw error;
};

describe("controllers", () => {
  test.each([
    { result: "success", pass: () => asleep },
    { result: "requeue_after", pass: () => again(60_000) },
    { result: "requeue", pass: fail(new RetryLater()) },
    { result: "error", pass: fail(new Error("no")) },
  ])("O-237: result $result", async ({ result, pass }) => {
    const { clock, registry, stop } = await aLoop([pass]);
    await clock.advance(2001);
    stop.abort();
    const { typeOf, series, value } = await scrape(registry);
    expect(typeOf("controller_runtime_reconcile_total")).toBe("counter");
    expect(series("controller_runtime_reconcile_total")).toEqual([{ labels: { controller: "c", result }, value: 1 }]);
    expect(value("controller_runtime_reconcile_errors_total", { controller: "c" })).toBe(result === "error" ? 1 : undefined);
  });

  test.each([
    { name: "controller_runtime_reconcile_errors_total", type: "counter", value: 1 },
    { name: "controller_runtime_reconcile_panics_total", type: "counter", value: 1 },
    { name: "controller_runtime_reconcile_time_seconds", type: "histogram", series: "_sum", value: 2 },
    { name: "controller_runtime_max_concurrent_reconciles", type: "gauge", value: 3 },
    { name: "controller_runtime_active_workers", type: "gauge", value: 0 },
  ])("O-237: $name", async ({ name, type, series = "", value }) => {
    const { clock, registry, stop } = await aLoop([fail(new TypeError("a fault of ours"))]);
    await clock.advance(2001);
    stop.abort();
    const seen = await scrape(registry);
    expect([seen.typeOf(name), seen.series(`${name}${series}`)]).toEqual([type, [{ labels: { controller: "c" }, value }]]);
  });

  test("O-237: workers at work", async () => {
    const { clock, registry, stop } = await aLoop([]);
    await clock.advance(1000);
    stop.abort();
    expect((await scrape(registry)).value("controller_runtime_active_workers", { controller: "c" })).toBe(1);
  });
});

describe("queues", () => {
  const labels = { name: "c", controller: "c" };
  test.each([
    // Added, then again after the failure.
    { name: "workqueue_adds_total", type: "counter", value: 2 },
    { name: "workqueue_retries_total", type: "counter", value: 1 },
    { name: "workqueue_queue_duration_seconds", type: "histogram", series: "_count", value: 2 },
    { name: "workqueue_work_duration_seconds", type: "histogram", series: "_sum", value: 2 },
    // The second pass has begun a second ago, less the back-off.
    { name: "workqueue_unfinished_work_seconds", type: "gauge", value: 0.995 },
    { name: "workqueue_longest_running_processor_seconds", type: "gauge", value: 0.995 },
  ])("O-238: $name", async ({ name, type, series = "", value }) => {
    const { clock, registry, stop } = await aLoop([fail(new Error("no"))]);
    await clock.advance(3000);
    const seen = await scrape(registry);
    stop.abort();
    expect([seen.typeOf(name), seen.series(`${name}${series}`)]).toEqual([type, [{ labels, value }]]);
  });

  test("O-238: what waits", async () => {
    const { clock, registry, stop, wake } = await aLoop([]);
    for (const key of ["b", "c", "d"]) wake(key); // one more than there are workers
    await clock.settle();
    const before = await scrape(registry);
    expect([before.typeOf("workqueue_depth"), before.series("workqueue_depth")]).toEqual([
      "gauge",
      [{ labels: { ...labels, priority: "" }, value: 1 }],
    ]);
    await clock.advance(2001);
    stop.abort();
    expect((await scrape(registry)).value("workqueue_depth", labels)).toBe(0);
  });
});

test("O-239: who leads, and who does not", async () => {
  const world = createWorld();
  const one = world.start({ leaderElection: { namespace: "karpenter", identity: "one" } });
  await world.until("a leader", () => one.controller.state === "leading");
  const other = world.start({ leaderElection: { namespace: "karpenter", identity: "two" } });
  await world.clock.advance(5000);
  const labels = { name: "karpenter-leader-election" };
  const masters = await Promise.all([one, other].map(async ({ controller }) => scrape(controller.registry)));
  expect(masters.map(({ typeOf, series }) => [typeOf("leader_election_master_status"), series("leader_election_master_status")])).toEqual([
    ["gauge", [{ labels, value: 1 }]],
    ["gauge", [{ labels, value: 0 }]],
  ]);
  expect([masters[0]!.typeOf("leader_election_slowpath_total"), masters[0]!.labelNames("leader_election_slowpath_total")]).toEqual([
    "counter",
    ["name"],
  ]);
});

test("O-230: what runs here", async () => {
  const registry = createMetricsRegistry();
  registerBuildInfo(registry, { version: "1.2.3", runtimeVersion: "v24.0.0", architecture: "arm64", commit: "abc" });
  const { typeOf, series } = await scrape(registry);
  expect([typeOf("karpenter_build_info"), series("karpenter_build_info")]).toEqual([
    "gauge",
    [{ labels: { version: "1.2.3", goversion: "v24.0.0", goarch: "arm64", commit: "abc" }, value: 1 }],
  ]);
});

test("O-240: requests of a controller to its API server", async () => {
  const world = createWorld();
  const { controller } = world.start();
  await world.clock.advance(1000);
  const { typeOf, value, labelNames, buckets } = await scrape(controller.registry);
  expect([typeOf("client_go_request_total"), labelNames("client_go_request_total")]).toEqual(["counter", ["code", "method"]]);
  expect(value("client_go_request_total", { code: "200", method: "GET" })).toBeGreaterThan(0);
  const name = "client_go_request_duration_seconds";
  expect([typeOf(name), labelNames(`${name}_count`)]).toEqual(["histogram", ["group", "kind", "subresource", "verb", "version"]]);
  expect(
    value(`${name}_count`, { verb: "LIST", group: "karpenter.sh", version: "v1", kind: "nodepools", subresource: "" }),
  ).toBeGreaterThan(0);
  expect(buckets(name)).toHaveLength(20);
  expect(buckets(name)[19]).toBeCloseTo(0.001 * 1.5 ** 19, 9);
});
