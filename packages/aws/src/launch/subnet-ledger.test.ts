import { expect, test } from "vitest";
import type { Subnet } from "../ec2/ec2-port.ts";
import { SubnetLedger } from "./subnet-ledger.ts";

const subnet = (SubnetId: string, AvailableIpAddressCount: number): Subnet => ({
  SubnetId,
  AvailabilityZone: "a",
  AvailabilityZoneId: "a1",
  AvailableIpAddressCount,
});
const status = [
  { id: "s2", zone: "a", zoneID: "a1" },
  { id: "s1", zone: "a", zoneID: "a1" },
];

function aLedger(): SubnetLedger {
  const ledger = new SubnetLedger();
  ledger.note([subnet("s1", 10), subnet("s2", 11)]);
  return ledger;
}

function choose(ledger: SubnetLedger) {
  const chosen = ledger.choose(status).get("a");
  if (chosen === undefined) throw new Error("nothing chosen");
  return chosen;
}

test("W-345: s2, then s2 again on a tie, then s1", () => {
  const ledger = aLedger();
  const launches = Array.from({ length: 3 }, () => {
    const chosen = choose(ledger);
    ledger.deduct(chosen, 1);
    return chosen.id;
  });
  expect(launches).toEqual(["s2", "s2", "s1"]);
});

test("W-343: what was not used comes back, unless EC2 was asked meanwhile", () => {
  const ledger = aLedger();
  const chosen = choose(ledger);
  ledger.deduct(chosen, 5);
  ledger.giveBack(chosen, 5);
  expect(choose(ledger)).toMatchObject({ id: "s2", count: 11 });
  ledger.deduct(chosen, 5);
  ledger.note([subnet("s2", 3)]);
  ledger.giveBack(chosen, 5);
  expect(choose(ledger)).toMatchObject({ id: "s1", count: 10 });
});

test("W-344, T-39: a full subnet is not chosen while another has room", () => {
  const ledger = aLedger();
  ledger.markFull("s2");
  expect(choose(ledger).id).toBe("s1");
});

test("W-342: two launches that chose the same subnet before either was sent both take of it", () => {
  const ledger = aLedger();
  const [first, second] = [choose(ledger), choose(ledger)];
  ledger.deduct(first, 4);
  ledger.deduct(second, 4);
  expect(choose(ledger)).toMatchObject({ id: "s1", count: 10 });
  ledger.giveBack(first, 4);
  expect(choose(ledger).id).toBe("s1");
  ledger.giveBack(second, 4);
  expect(choose(ledger)).toMatchObject({ id: "s2", count: 11 });
});
