import { createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { UnavailableOfferings } from "./unavailable-offerings.ts";

function aTable() {
  const clock = createVirtualClock({ startMs: 0 });
  return { clock, table: new UnavailableOfferings(clock) };
}

test("I-810: a mark lasts three minutes, and marking again starts them anew", async () => {
  const { clock, table } = aTable();
  table.mark("spot", "m5.large", "a");
  await clock.advance(120_000);
  table.mark("spot", "m5.large", "a");
  await clock.advance(179_000);
  expect(table.has("spot", "m5.large", "a", [])).toBe(true);
  expect(table.has("on-demand", "m5.large", "a", [])).toBe(false);
  expect(table.has("spot", "m5.large", "b", [])).toBe(false);
  await clock.advance(1_000);
  expect(table.has("spot", "m5.large", "a", [])).toBe(false);
});

test("I-811, scenario 27: capacity types, and zones whose subnets are all full", () => {
  const { table } = aTable();
  table.markCapacityType("spot");
  table.markSubnet("s1");
  expect(table.has("spot", "c5.large", "b", [])).toBe(true);
  expect(table.has("on-demand", "c5.large", "a", ["s1"])).toBe(true);
  expect(table.has("on-demand", "c5.large", "a", ["s1", "s2"])).toBe(false);
  expect(table.has("on-demand", "c5.large", "a", [])).toBe(false);
});

test("I-813, scenario 28: versions move with what concerns the type", () => {
  const { table } = aTable();
  const versions = () => [table.versionOf("m5.large"), table.versionOf("m5.xlarge")];
  const seen = [versions()];
  for (const change of [
    () => table.mark("spot", "m5.large", "a"),
    () => table.mark("spot", "m5.xlarge", "a"),
    () => table.markSubnet("s1"),
    () => table.markSubnet("s2"),
    () => table.markCapacityType("spot"),
  ]) {
    change();
    seen.push(versions());
  }
  expect(seen).toEqual([
    [0, 0],
    [1, 0],
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 4],
  ]);
});
