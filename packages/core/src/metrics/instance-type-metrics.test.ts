import type { InstanceType } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { createWorld, putPool, type World } from "../testing/world.ts";

type OfferingRow = readonly [capacityType: string, zone: string, isAvailable: boolean, price: number];

function aType(base: InstanceType, offerings: readonly OfferingRow[]): InstanceType {
  const requirement = (key: string, value: string) => ({ key, operator: "In" as const, values: [value] });
  return {
    ...base,
    offerings: offerings.map(([capacityType, zone, isAvailable, priceUsdPerHour]) => ({
      requirements: [requirement("karpenter.sh/capacity-type", capacityType), requirement("topology.kubernetes.io/zone", zone)],
      isAvailable,
      priceUsdPerHour,
    })),
  };
}

async function seriesOf(world: World, options = {}) {
  const { controller, kill } = world.start({ options });
  await world.until("leading", () => controller.state === "leading");
  await world.clock.advance(1000);
  const look = async () =>
    (await controller.registry.metrics())
      .split("\n")
      .filter((line) => line.startsWith("karpenter_cloudprovider_instance_type_"))
      .map((line) => line.replace("karpenter_cloudprovider_instance_type_", ""))
      .sort();
  return { look, controller, kill };
}

test("O-225, O-226: types and offerings of all pools; with ReservedCapacity each zone has a reservation, had or not", async () => {
  const world = createWorld();
  const [base] = world.cloud.types;
  world.cloud.types = [
    aType(base!, [
      ["on-demand", "zone-a", true, 0.2],
      ["spot", "zone-a", false, 0.05],
      ["reserved", "zone-b", true, 0.01],
    ]),
  ];
  putPool(world);
  const { look } = await seriesOf(world);
  expect(await look()).toEqual([
    'cpu_cores{instance_type="small"} 4',
    'memory_bytes{instance_type="small"} 17179869184',
    'offering_available{instance_type="small",capacity_type="on-demand",zone="zone-a"} 1',
    'offering_available{instance_type="small",capacity_type="reserved",zone="zone-a"} 0',
    'offering_available{instance_type="small",capacity_type="reserved",zone="zone-b"} 1',
    'offering_available{instance_type="small",capacity_type="spot",zone="zone-a"} 0',
    'offering_price_estimate{instance_type="small",capacity_type="on-demand",zone="zone-a"} 0.2',
    'offering_price_estimate{instance_type="small",capacity_type="reserved",zone="zone-a"} 0',
    'offering_price_estimate{instance_type="small",capacity_type="reserved",zone="zone-b"} 0.01',
    'offering_price_estimate{instance_type="small",capacity_type="spot",zone="zone-a"} 0.05',
  ]);
});

test("O-226: what is available for one pool is available; of several prices the last counts", async () => {
  const world = createWorld();
  const [base] = world.cloud.types;
  putPool(world, "first");
  putPool(world, "last");
  world.cloud.onInstanceTypes = ({ metadata }) => {
    const isFirst = metadata?.name === "first";
    world.cloud.types = [
      aType(base!, [
        ["on-demand", "zone-a", isFirst, isFirst ? 0.2 : 0.1],
        ["spot", "zone-a", false, isFirst ? 0.05 : 0.04],
      ]),
    ];
  };
  const { look, controller } = await seriesOf(world, { isReservedCapacityOn: false });
  expect((await look()).filter((line) => line.startsWith("offering_"))).toEqual([
    'offering_available{instance_type="small",capacity_type="on-demand",zone="zone-a"} 1',
    'offering_available{instance_type="small",capacity_type="spot",zone="zone-a"} 0',
    'offering_price_estimate{instance_type="small",capacity_type="on-demand",zone="zone-a"} 0.1',
    'offering_price_estimate{instance_type="small",capacity_type="spot",zone="zone-a"} 0.04',
  ]);
  const types = (await controller.registry.metrics()).match(/^# TYPE karpenter_cloudprovider_instance_type_\S+ \S+$/gm);
  expect(
    types?.map((line) => line.split(" ").at(-1)),
    "O-225, O-226",
  ).toEqual(["gauge", "gauge", "gauge", "gauge"]);
});

test("without ReservedCapacity no reservation is made up; what is sold no more is shown no more (scenario 50)", async () => {
  const world = createWorld();
  putPool(world);
  const { look } = await seriesOf(world, { isReservedCapacityOn: false });
  expect((await look()).filter((line) => line.includes("reserved"))).toEqual([]);
  world.cloud.types = [];
  await world.clock.advance(1000);
  expect(await look()).toEqual([]);
});

test("scenario 47: a pool whose types cannot be had hides no other, and is counted as an error", async () => {
  const world = createWorld();
  putPool(world, "broken");
  putPool(world, "healthy");
  world.cloud.onInstanceTypes = ({ metadata }) => {
    if (metadata?.name === "broken") throw new Error("no subnet");
  };
  const { look, controller } = await seriesOf(world);
  expect((await look()).filter((line) => line.startsWith("cpu_cores"))).toEqual(['cpu_cores{instance_type="small"} 4']);
  expect(await controller.registry.metrics()).toMatch(
    /^karpenter_cloudprovider_errors_total{controller="cloudprovider.metrics",method="GetInstanceTypes",provider="fake",error="unknown",nodepool="broken"} 1$/m,
  );
});

test("O-77: a replica that leads no more shows none", async () => {
  const world = createWorld();
  putPool(world);
  const { look, kill } = await seriesOf(world);
  expect(await look()).not.toEqual([]);
  await kill();
  expect(await look()).toEqual([]);
});

test("scenario 44: a pool of another provider counts for nothing", async () => {
  const world = createWorld();
  putPool(world, "other", {
    limits: { cpu: "10" },
    template: {
      spec: { nodeClassRef: { group: "elsewhere.example.com", kind: "OtherClass", name: "a" }, requirements: [], expireAfter: "720h" },
    },
  });
  const { look, controller } = await seriesOf(world);
  expect(await look()).toEqual([]);
  expect(await controller.registry.metrics()).not.toMatch(/karpenter_nodepools_\w+{.*other/);
  putPool(world);
  await world.clock.advance(1000);
  expect(await look()).not.toEqual([]);
});
