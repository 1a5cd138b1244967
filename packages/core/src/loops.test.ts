/** Which controllers run, under which names, with how many workers. Karpenter's tables, without what has no counterpart here. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CoreOptions } from "./options.ts";
import { recordingLog } from "./testing/recording-log.ts";
import { scrape } from "./testing/scrape.ts";
import { createWorld } from "./testing/world.ts";

const ALWAYS = [
  "eviction-queue",
  "node.hydration",
  "node.termination",
  "nodeclaim.consistency",
  "nodeclaim.expiration",
  "nodeclaim.garbagecollection",
  "nodeclaim.hydration",
  "nodeclaim.lifecycle",
  "nodeclaim.podevents",
  "nodepool.counter",
  "nodepool.hash",
  "nodepool.readiness",
  "nodepool.registrationhealth",
  "nodepool.validation",
];
/** Those that Karpenter's provider for AWS brings (O-101), and one of our own (O-280). */
const OWN = ["disruption.leftovers", "instance.garbagecollection", "providers.version"];

/** Workers by controller, of a replica that leads. */
async function workersOf(options: Partial<CoreOptions>): Promise<Readonly<Record<string, number>>> {
  const world = createWorld();
  const { controller, kill } = world.start({ options });
  await world.until("led", () => controller.cluster !== undefined);
  await world.clock.advance(1000);
  const { series } = await scrape(controller.registry);
  const workers = series("controller_runtime_max_concurrent_reconciles").map(({ labels, value }) => [labels.controller, value] as const);
  await kill();
  return Object.fromEntries(workers);
}

test.each<{ rule: string; options: Partial<CoreOptions>; names: readonly string[] }>([
  { rule: "O-98", options: { isClusterStateObservabilityDisabled: true }, names: [] },
  { rule: "O-98", options: {}, names: ["state.pricing"] },
  { rule: "O-49, O-100", options: { isStaticCapacityOn: true }, names: ["state.pricing", "static.deprovisioning", "static.provisioning"] },
  { rule: "O-48, O-100", options: { isNodeOverlayOn: true }, names: ["nodeoverlay.controller", "state.pricing"] },
  { rule: "O-50, O-100", options: { isCapacityBufferOn: true }, names: ["capacitybuffer", "state.pricing"] },
  {
    rule: "V-81, V-109",
    options: { isPodDeletionCostManaged: true },
    names: ["pod.deletioncost", "pod.deletioncost.queue", "state.pricing"],
  },
])("$rule: with $options there run, beside those that always do, $names", async ({ options, names }) => {
  expect(Object.keys(await workersOf(options)).sort()).toEqual([...ALWAYS, ...OWN, ...names].sort());
});

const EVERY_GATE = { isStaticCapacityOn: true, isNodeOverlayOn: true, isCapacityBufferOn: true, isPodDeletionCostManaged: true };

test.each([
  { cpuRequestsMillicores: 1000, at: 0 },
  { cpuRequestsMillicores: 60_000, at: 1 },
])("O-105, V-81: workers with $cpuRequestsMillicores millicores", async ({ cpuRequestsMillicores, at }) => {
  const range = (min: number, max: number, names: readonly string[]) => names.map((name) => [name, at === 0 ? min : max] as const);
  expect(await workersOf({ ...EVERY_GATE, cpuRequestsMillicores })).toEqual(
    Object.fromEntries([
      ...range(100, 5000, ["eviction-queue", "node.termination", "pod.deletioncost.queue"]),
      ...range(1000, 5000, ["node.hydration", "nodeclaim.hydration", "nodeclaim.lifecycle"]),
      ...range(10, 1000, [
        "nodepool.hash",
        "nodepool.readiness",
        "nodepool.registrationhealth",
        "nodepool.counter",
        "nodeclaim.consistency",
      ]),
      ...range(10, 10, ["nodepool.validation", "static.provisioning", "static.deprovisioning", "capacitybuffer", "disruption.leftovers"]),
      ...range(1, 1, ["nodeclaim.expiration", "nodeclaim.garbagecollection", "nodeclaim.podevents", "nodeoverlay.controller"]),
      ...range(1, 1, ["instance.garbagecollection", "pod.deletioncost", "providers.version", "state.pricing"]),
    ]),
  );
});

test("docs/operations.md names each of them, and how many workers it has", async () => {
  const doc = readFileSync(join(import.meta.dirname, "../../../docs/operations.md"), "utf8");
  const section = /\n## Controllers\n([\s\S]*?)\n## /.exec(doc)?.[1] ?? "";
  const shown = [...section.matchAll(/^\| `([^`]+)` \| (\d+)(?: to (\d+))? \|/gm)].map(([, name, min, max]) => [
    name,
    Number(min),
    Number(max ?? min),
  ]);
  const least = await workersOf({ ...EVERY_GATE, cpuRequestsMillicores: 1000 });
  const most = await workersOf({ ...EVERY_GATE, cpuRequestsMillicores: 60_000 });
  const byName = ([one]: readonly unknown[], [other]: readonly unknown[]) => (String(one) < String(other) ? -1 : 1);
  expect(shown.sort(byName)).toEqual(
    Object.keys(least)
      .map((name) => [name, least[name], most[name]])
      .sort(byName),
  );
});

test("O-103: leaked instances are looked for every ten seconds, and after twenty looks every two minutes", async () => {
  const world = createWorld();
  const atSeconds: number[] = [];
  const { factory } = world.cloud;
  const { kill } = world.start({
    provider: {
      ...factory,
      async create(context) {
        const { cloud } = await factory.create(context);
        const list: typeof cloud.list = (signal) => {
          atSeconds.push(Math.round(world.clock.monotonicMs() / 1000));
          return cloud.list(signal);
        };
        return { cloud: { ...cloud, list } };
      },
    },
  });
  await world.clock.advance(10 * 60_000);
  await kill();
  expect(atSeconds).toEqual([...Array.from({ length: 20 }, (_, n) => n * 10), 310, 430, 550]);
});

test("O-98: each speaks in the log under its name, the provisioner too", async () => {
  const { log, lines } = recordingLog();
  const names = new Set<string>();
  const listening = {
    ...log,
    child(fields: object) {
      names.add((fields as { controller?: string }).controller ?? "");
      return log.child(fields);
    },
  };
  const world = createWorld();
  const { controller } = world.start({ log: listening });
  await world.until("led", () => controller.cluster !== undefined);
  await world.clock.settle();
  expect([...names].sort()).toEqual([...ALWAYS, ...OWN, "cloudprovider.metrics", "provisioner", "state.pricing"].sort());
  expect(lines.filter(({ level }) => level === "error")).toEqual([]);
});
