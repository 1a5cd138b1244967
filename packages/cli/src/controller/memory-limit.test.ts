import { createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { keepBelow, softLimit } from "./memory-limit.ts";

test("O-20: the soft limit is nine tenths (scenario 14)", () => {
  expect(softLimit(536_870_912)).toBe(483_183_820);
});

function watchMemory(limitBytes: number) {
  const clock = createVirtualClock({ startMs: 0 });
  const memory = { bytes: 0 };
  const atMs: number[] = [];
  const end = keepBelow(limitBytes, { clock, residentBytes: () => memory.bytes, collect: () => atMs.push(clock.monotonicMs()) });
  return { clock, memory, atMs, end };
}

test("O-20, O-285: above it garbage is collected, twice a minute at most; below it never", async () => {
  const { clock, memory, atMs, end } = watchMemory(1000);
  memory.bytes = 900;
  await clock.advance(60_000);
  expect(atMs).toEqual([]);
  memory.bytes = 901;
  await clock.advance(60_000);
  expect(atMs).toEqual([65_000, 95_000]);
  end();
  await clock.advance(600_000);
  expect(atMs).toHaveLength(2);
});

test.each([-1, 0])("O-20: %i is no limit", async (limitBytes) => {
  const { clock, memory, atMs } = watchMemory(limitBytes);
  memory.bytes = 2 ** 40;
  await clock.advance(60_000);
  expect(atMs).toEqual([]);
});

test("V8 lets its collector be called", () => {
  const clock = createVirtualClock({ startMs: 0 });
  // Every process is above one byte, so the first look collects.
  expect(() => keepBelow(1, { clock })()).not.toThrow();
  expect(globalThis).not.toHaveProperty("gc");
});
