import type { NodeClaim, NodePool } from "@joinery/api";
import { createVirtualClock } from "@joinery/kube";
import { describe, expect, test } from "vitest";
import type { CloudProvider } from "../cloud-provider.ts";
import { DEF_B, expectRow } from "../testing/metric-rows.ts";
import { scrape } from "../testing/scrape.ts";
import { createMetricsRegistry } from "./prometheus.ts";
import { createProviderMetrics } from "./provider-metrics.ts";

const claim = { metadata: { name: "c", labels: { "karpenter.sh/nodepool": "web" } } } as unknown as NodeClaim;
const pool = { metadata: { name: "web" } } as NodePool;
const instance = { providerId: "i", capacity: {}, allocatable: {}, labels: {}, annotations: {} };

/** Calls take two seconds each. */
function aWorld(answers: Partial<CloudProvider>) {
  const clock = createVirtualClock({ startMs: 0 });
  const registry = createMetricsRegistry();
  const provider: CloudProvider = {
    name: "aws",
    nodeClassKinds: [],
    wellKnownLabels: new Set(),
    restrictedLabelDomains: [],
    instanceTypes: async () => [],
    launch: async () => ({ kind: "launched", instance }),
    terminate: async () => "accepted",
    find: async () => instance,
    list: async () => [],
    ...answers,
  };
  const slow = Object.fromEntries(
    (["instanceTypes", "launch", "terminate", "find", "list"] as const).map((name) => [
      name,
      async (...given: unknown[]) => {
        await clock.sleep(2000);
        return (provider[name] as (...all: unknown[]) => unknown)(...given);
      },
    ]),
  );
  const measured = createProviderMetrics(registry, clock)({ ...provider, ...slow }, "nodeclaim.lifecycle");
  return { clock, registry, measured };
}

type Call = (provider: CloudProvider) => Promise<unknown>;
const CALLS: readonly { readonly method: string; readonly call: Call; readonly nodepool: string }[] = [
  { method: "Create", call: (provider) => provider.launch(claim), nodepool: "web" },
  { method: "Delete", call: (provider) => provider.terminate(claim), nodepool: "web" },
  { method: "Get", call: (provider) => provider.find("i"), nodepool: "" },
  { method: "List", call: (provider) => provider.list(), nodepool: "" },
  { method: "GetInstanceTypes", call: (provider) => provider.instanceTypes(pool), nodepool: "web" },
];
const COMMON = { controller: "nodeclaim.lifecycle", provider: "aws" };

describe.each(CALLS)("$method", ({ method, call, nodepool }) => {
  test("O-223, O-172: how long it took", async () => {
    const { clock, registry, measured } = aWorld({});
    const done = call(measured);
    await clock.advance(2000);
    await done;
    await expectRow(registry, {
      rule: "O-223",
      name: "karpenter_cloudprovider_duration_seconds",
      type: "histogram",
      labels: ["controller", "method", "provider"],
      of: { ...COMMON, method },
      buckets: DEF_B,
      value: 2,
    });
    expect((await scrape(registry)).series("karpenter_cloudprovider_errors_total")).toEqual([]);
  });

  test("O-224, V-103: what is not classified is unknown, and named with its NodePool; it is timed too", async () => {
    const fail = () => Promise.reject(new Error("EC2 is down"));
    const { clock, registry, measured } = aWorld({ launch: fail, terminate: fail, find: fail, list: fail, instanceTypes: fail });
    const failed = expect(call(measured)).rejects.toThrow("EC2 is down");
    await clock.advance(2000);
    await failed;
    await expectRow(registry, {
      rule: "O-224",
      name: "karpenter_cloudprovider_errors_total",
      type: "counter",
      labels: ["controller", "method", "provider", "error", "nodepool"],
      of: { ...COMMON, method, error: "unknown", nodepool },
      value: 1,
    });
    expect((await scrape(registry)).value("karpenter_cloudprovider_duration_seconds_count", { method })).toBe(1);
  });
});

test.each<{ method: string; error: string; nodepool: string; answers: Partial<CloudProvider> }>([
  {
    method: "Create",
    error: "InsufficientCapacityError",
    nodepool: "web",
    answers: { launch: async () => ({ kind: "insufficient-capacity", message: "" }) },
  },
  {
    method: "Create",
    error: "NodeClassNotReadyError",
    nodepool: "web",
    answers: { launch: async () => ({ kind: "node-class-not-ready", message: "" }) },
  },
  {
    method: "Create",
    error: "unknown",
    nodepool: "web",
    answers: { launch: async () => ({ kind: "failed", reason: "LaunchFailed", message: "" }) },
  },
  { method: "Delete", error: "NodeClaimNotFoundError", nodepool: "web", answers: { terminate: async () => "gone" } },
  { method: "Get", error: "NodeClaimNotFoundError", nodepool: "", answers: { find: async () => undefined } },
])("O-224, V-103: $method answers $error", async ({ method, error, nodepool, answers }) => {
  const { clock, registry, measured } = aWorld(answers);
  const done = CALLS.find((one) => one.method === method)!.call(measured);
  await clock.advance(2000);
  await done;
  expect((await scrape(registry)).series("karpenter_cloudprovider_errors_total")).toEqual([
    { labels: { ...COMMON, method, error, nodepool }, value: 1 },
  ]);
});
