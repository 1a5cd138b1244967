import fc from "fast-check";
import { expect, test } from "vitest";
import { createVirtualClock } from "./virtual-clock.ts";

const START_MS = 1_800_000_000_000;

test("timers fire in (time, sequence) order, and a timer sees its own due time", async () => {
  const clock = createVirtualClock({ startMs: START_MS });
  const seen: string[] = [];
  const note = (name: string) => () => void seen.push(`${name}@${clock.monotonicMs()}`);
  clock.after(20, note("late"));
  clock.after(10, note("first"));
  clock.after(10, note("second"));
  clock.after(10, () => clock.after(0, note("nested")));
  await clock.advance(15);
  expect(seen).toEqual(["first@10", "second@10", "nested@10"]);
  expect(clock.wallMs()).toBe(START_MS + 15);
  await clock.advance(5);
  expect(seen.at(-1)).toBe("late@20");
});

test("work that a timer starts comes to rest before the next timer, however long its chain of promises", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const seen: string[] = [];
  clock.after(1, async () => {
    for (let n = 0; n < 10_000; n++) await undefined;
    await new Promise<void>((resolve) => process.nextTick(resolve));
    await new Promise<void>((resolve) => setImmediate(resolve));
    seen.push("chain");
  });
  clock.after(1.5, () => void seen.push("next"));
  await clock.advance(2);
  expect(seen).toEqual(["chain", "next"]);
});

test("a hold keeps time still while work goes on outside", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const seen: string[] = [];
  clock.after(1, () => {
    const release = clock.hold();
    setTimeout(() => {
      seen.push("outside");
      release();
      release();
    }, 5);
  });
  clock.after(2, () => void seen.push("next"));
  await clock.advance(3);
  expect(seen).toEqual(["outside", "next"]);
});

test("sleep: rejects with the signal's reason, and leaves no timer", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const stop = new AbortController();
  const slept = clock.sleep(1000, stop.signal);
  stop.abort(new Error("enough"));
  await expect(slept).rejects.toThrow("enough");
  await expect(clock.sleep(1, stop.signal)).rejects.toThrow("enough");
  expect(clock.timerCount).toBe(0);
});

test("runUntil stops at the timer that makes it true; says no when the span or the timers end", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  let ticks = 0;
  const tick = () => {
    ticks++;
    clock.after(10, tick);
  };
  tick();
  expect(await clock.runUntil(() => ticks === 4)).toBe(true);
  expect(clock.monotonicMs()).toBe(30);
  expect(await clock.runUntil(() => ticks === 1000, 50)).toBe(false);
  expect(clock.monotonicMs()).toBe(80);
  expect(await createVirtualClock({ startMs: 0 }).runUntil(() => false)).toBe(false);
});

test("a failing timer rejects the mover; two movers at once are refused", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  clock.after(1, () => {
    throw new Error("broken");
  });
  await expect(clock.advance(2)).rejects.toThrow("broken");
  const moving = clock.advance(1);
  await expect(clock.advance(1)).rejects.toThrow("one mover at a time");
  await moving;
});

test("a quiet day jumps: only due times are visited", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  let visits = 0;
  const visit = () => {
    visits++;
    clock.after(3_600_000, visit);
  };
  clock.after(3_600_000, visit);
  await clock.advance(24 * 3_600_000);
  expect(visits).toBe(24);
});

test("order and cancelling agree with a sorted list", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ ms: fc.integer({ min: 0, max: 50 }), cancel: fc.boolean() }), { maxLength: 300 }),
      async (timers) => {
        const clock = createVirtualClock({ startMs: 0 });
        const fired: number[] = [];
        const cancels = timers.map(({ ms }, n) => clock.after(ms, () => void fired.push(n)));
        for (const [n, { cancel }] of timers.entries()) if (cancel) cancels[n]!();
        const wished = timers.flatMap(({ ms, cancel }, n) => (cancel ? [] : [{ ms, n }])).sort((a, b) => a.ms - b.ms || a.n - b.n);
        expect(clock.timerCount).toBe(wished.length);
        await clock.advance(100);
        expect(fired).toEqual(wished.map(({ n }) => n));
      },
    ),
    { numRuns: 30 },
  );
});
