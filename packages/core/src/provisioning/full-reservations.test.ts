/** Pods whose only way is a capacity reservation that is full: they wait for a slot, and nobody is told that they have no place. */
import type { InstanceType, Offering } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { recordingLog } from "../testing/recording-log.ts";
import { scrape } from "../testing/scrape.ts";
import { createWorld, putPendingPod, putPool } from "../testing/world.ts";

const CAPACITY_TYPE = "karpenter.sh/capacity-type";
const RESERVATION = { key: "karpenter.k8s.aws/capacity-reservation-id", operator: "In" as const, values: ["cr-1"] };

/** The type with this offering alone, so that what the reservation has left decides. */
function sold(type: InstanceType, wish: Partial<Offering>): InstanceType {
  const own = (reserved: string) => ({ key: CAPACITY_TYPE, operator: "In" as const, values: [reserved] });
  const rest = ({ requirements }: Pick<InstanceType, "requirements">) => requirements.filter(({ key }) => key !== CAPACITY_TYPE);
  const offering = type.offerings[0]!;
  return {
    ...type,
    requirements: [...rest(type), own("reserved"), RESERVATION],
    offerings: [{ ...offering, ...wish, requirements: [...rest(offering), own("reserved"), RESERVATION] }],
  };
}

test.each([
  { rule: "V-63", what: "full and healthy", wish: { isAvailable: true, reservationCapacity: 0 }, isTold: false },
  { rule: "V-60", what: "not healthy", wish: { isAvailable: false, reservationCapacity: 5 }, isTold: true },
])(
  "$rule: a reservation that is $what: that the pod has no place is told: $isTold; with a free slot it gets one",
  async ({ wish, isTold }) => {
    const world = createWorld();
    const [type] = world.cloud.types;
    world.cloud.types = [sold(type!, wish)];
    putPool(world);
    putPendingPod(world, "a");
    const { log, lines } = recordingLog();
    const { controller } = world.start({ log });
    await world.clock.advance(15 * 60_000);
    expect(world.claims()).toEqual([]);
    expect(world.events().some(({ reason }) => reason === "FailedScheduling")).toBe(isTold);
    expect(lines.some(({ message }) => message === "could not schedule pod")).toBe(isTold);
    const waits = world.events().filter(({ reason }) => reason === "WaitingForReservedCapacity");
    expect(waits.length).toBe(isTold ? 0 : 1);
    const seen = await scrape(controller.registry);
    expect(seen.value("karpenter_scheduler_unschedulable_pods_count") ?? 0).toBe(isTold ? 1 : 0);

    world.cloud.types = [sold(type!, { isAvailable: true, reservationCapacity: 1 })];
    await world.until("a NodeClaim", () => world.claims().length === 1, 30_000);
    expect(world.claims()[0]!.spec.requirements).toContainEqual(expect.objectContaining(RESERVATION));
  },
);

test("V-120: after five minutes it is told what the pod waits for, and not any more when it has its place", async () => {
  const world = createWorld();
  const [type] = world.cloud.types;
  world.cloud.types = [sold(type!, { isAvailable: true, reservationCapacity: 0 })];
  putPool(world);
  putPendingPod(world, "a");
  world.start();
  const told = () => world.events().filter(({ reason }) => reason === "WaitingForReservedCapacity");
  await world.clock.advance(5 * 60_000 - 15_000);
  expect(told()).toEqual([]);
  await world.until("told", () => told().length > 0, 60_000);
  expect(told()[0]).toMatchObject({
    message: "Pod waits for a capacity reservation: all compatible reserved offerings are taken or full for now; a later solve looks again",
    involvedObject: { name: "a" },
  });
  world.cloud.types = [sold(type!, { isAvailable: true, reservationCapacity: 1 })];
  await world.until("a NodeClaim", () => world.claims().length === 1, 30_000);
  await world.clock.advance(60 * 60_000);
  expect(told()).toHaveLength(1);
});
