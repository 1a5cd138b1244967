import { expect, test } from "vitest";
import { createRealClock, createScaledClock } from "./real-clock.ts";

test("two clocks with one anchor agree, and run `speed` times as fast as the machine", async () => {
  const anchor = { realMs: 1_000_000, wallMs: 5_000_000 };
  const fast = createScaledClock({ speed: 1000, anchor });
  const other = createScaledClock({ speed: 1000, anchor });
  const machine = createRealClock();
  const scaled = 5_000_000 + (machine.wallMs() - 1_000_000) * 1000;
  expect(Math.abs(fast.wallMs() - scaled)).toBeLessThan(60_000);
  expect(Math.abs(fast.wallMs() - other.wallMs())).toBeLessThan(60_000);
  const before = fast.monotonicMs();
  await fast.sleep(5000);
  expect(fast.monotonicMs() - before).toBeGreaterThan(3500);
});

test("a span beyond the reach of setTimeout does not fire at once", async () => {
  const clock = createRealClock();
  let hasFired = false;
  const cancel = clock.after(2 ** 31 + 1000, () => {
    hasFired = true;
  });
  await clock.sleep(5);
  cancel();
  expect(hasFired).toBe(false);
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("speed %s is refused", (speed) => {
  expect(() => createScaledClock({ speed, anchor: { realMs: 0, wallMs: 0 } })).toThrow("wanted a number above 0");
});
