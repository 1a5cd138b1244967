/** What is told of solves. Rules O-218…O-221. */
import type { InstanceType } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { DB, expectRow } from "../testing/metric-rows.ts";
import { scrape } from "../testing/scrape.ts";
import { createWorld, putPendingPod, putPool, type World } from "../testing/world.ts";

const ZONE = "topology.kubernetes.io/zone";
const pathOf = (name: string) => `/api/v1/namespaces/default/pods/${name}`;

/** Pods, and a controller that has tried to place them once. */
async function afterOneSolve(arrange: (world: World) => void) {
  const world = createWorld();
  putPool(world);
  arrange(world);
  const { controller } = world.start();
  await world.clock.advance(5000);
  return { world, registry: controller.registry };
}

/** Small, in two zones. */
function inTwoZones([base]: readonly InstanceType[]): InstanceType[] {
  const requirement = (key: string, values: readonly string[]) => ({ key, operator: "In" as const, values: [...values] });
  const offering = (zone: string) => ({
    requirements: [requirement("karpenter.sh/capacity-type", ["on-demand"]), requirement(ZONE, [zone])],
    priceUsdPerHour: 0.2,
    isAvailable: true,
  });
  const others = base!.requirements.filter(({ key }) => key !== ZONE);
  const zones = ["zone-a", "zone-b"];
  return [{ ...base!, requirements: [...others, requirement(ZONE, zones)], offerings: zones.map(offering) }];
}

const CONTROLLER = { controller: "provisioner" };

test("O-218: how long solves take", async () => {
  const { registry } = await afterOneSolve((world) => putPendingPod(world, "a"));
  await expectRow(registry, {
    rule: "O-218",
    name: "karpenter_scheduler_scheduling_duration_seconds",
    type: "histogram",
    labels: ["controller"],
    of: CONTROLLER,
    buckets: DB,
    value: 0, // A virtual clock stands while a solve runs.
  });
});

test("O-219: the queue of a solve is empty when it is over, and shown until the next begins", async () => {
  const { world, registry } = await afterOneSolve((world) => putPendingPod(world, "a", "1000"));
  const name = "karpenter_scheduler_queue_depth";
  await expectRow(registry, { rule: "O-219", name, type: "gauge", labels: ["controller", "scheduling_id"], of: CONTROLLER, value: 0 });
  const first = (await scrape(registry)).series(name)[0]?.labels.scheduling_id;
  putPendingPod(world, "b", "1000");
  await world.clock.advance(5000);
  const [second, ...others] = (await scrape(registry)).series(name);
  expect(others).toEqual([]);
  expect(second?.labels.scheduling_id).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  expect(second?.labels.scheduling_id).not.toBe(first);
});

test("O-220: pods that cannot be right, and pods that have no place", async () => {
  const { world, registry } = await afterOneSolve((world) => {
    putPendingPod(world, "wrong", "1", { nodeSelector: { "kubernetes.io/hostname": "mine" } });
    putPendingPod(world, "huge", "1000");
    putPendingPod(world, "huger", "2000");
    putPendingPod(world, "fine", "1");
  });
  await expectRow(registry, { rule: "O-220", name: "karpenter_scheduler_ignored_pods_count", type: "gauge", labels: [], value: 1 });
  const unschedulable = { name: "karpenter_scheduler_unschedulable_pods_count", type: "gauge", labels: ["controller"] } as const;
  await expectRow(registry, { rule: "O-220", ...unschedulable, of: CONTROLLER, value: 2 });
  for (const name of ["wrong", "huger"]) world.api.remove(pathOf(name));
  putPendingPod(world, "another", "1");
  await world.clock.advance(60_000);
  await expectRow(registry, { rule: "O-220", name: "karpenter_scheduler_ignored_pods_count", type: "gauge", labels: [], value: 0 });
  await expectRow(registry, { rule: "O-220", ...unschedulable, of: CONTROLLER, value: 1 });
});

test("O-221: pending pods by the zone that they can go to, of the last solve", async () => {
  const { world, registry } = await afterOneSolve((world) => {
    world.cloud.types = inTwoZones(world.cloud.types);
    const cpu = "1000"; // They stay pending.
    putPendingPod(world, "a1", cpu, { nodeSelector: { [ZONE]: "zone-a" } });
    putPendingPod(world, "a2", cpu, { nodeSelector: { [ZONE]: "zone-a" } });
    putPendingPod(world, "either", cpu);
    putPendingPod(world, "nowhere", cpu, {
      nodeSelector: { [ZONE]: "zone-a" },
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: "In", values: ["zone-b"] }] }],
          },
        },
      },
    });
  });
  const name = "karpenter_scheduler_pending_pods_by_effective_zone_count";
  const shown = async () => {
    const { typeOf, series, labelNames } = await scrape(registry);
    expect([typeOf(name), labelNames(name)]).toEqual(["gauge", ["controller", "zone"]]);
    return Object.fromEntries(series(name).map(({ labels, value }) => [labels.zone, value]));
  };
  expect(await shown()).toEqual({ "zone-a": 2, flexible: 1, none: 1 });
  for (const gone of ["a1", "nowhere"]) world.api.remove(pathOf(gone));
  putPendingPod(world, "other", "1000");
  await world.clock.advance(60_000);
  expect(await shown()).toEqual({ "zone-a": 1, flexible: 2 });
});
