import { expect, test } from "vitest";
import { leaseTiming } from "./lease-timing.ts";

test.each([
  { speed: undefined, timing: { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2000 } },
  { speed: 0.1, timing: { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2000 } },
  { speed: 10, timing: { leaseMs: 150_000, renewDeadlineMs: 100_000, retryMs: 20_000 } },
  { speed: 1.2345678, timing: { leaseMs: 18_519, renewDeadlineMs: 12_346, retryMs: 2469 } },
])("O-74: real seconds at $speed times the speed, whole milliseconds", ({ speed, timing }) => {
  expect(leaseTiming(speed)).toEqual(timing);
});
