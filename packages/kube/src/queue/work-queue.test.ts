import fc from "fast-check";
import { expect, test } from "vitest";
import { createRandom } from "../clock/random.ts";
import { createVirtualClock } from "../clock/virtual-clock.ts";
import { createRateLimiter, createTokenBucket } from "./rate-limiter.ts";
import { createWorkQueue, type WorkQueueOptions } from "./work-queue.ts";

function aQueue(options: Partial<WorkQueueOptions> = {}) {
  const clock = createVirtualClock({ startMs: 0 });
  const worked: string[] = [];
  const stop = new AbortController();
  const queue = createWorkQueue({ clock, work: (key) => void worked.push(`${key}@${clock.monotonicMs()}`), ...options });
  return { clock, worked, queue, stop, run: () => queue.run(stop.signal) };
}

test("keys added before the run are kept, once each, in order", async () => {
  const { clock, worked, queue, run } = aQueue();
  for (const key of ["b", "a", "b"]) queue.add(key);
  expect(queue.depth).toBe(2);
  void run();
  await clock.settle();
  expect(worked).toEqual(["b@0", "a@0"]);
});

test("a key that is added while it is worked on is worked on again, and never twice at once", async () => {
  let started = 0;
  const { clock, queue, run } = aQueue({
    concurrency: 4,
    work: () => {
      started++;
      return clock.sleep(10).then(() => undefined);
    },
  });
  void run();
  queue.add("a");
  await clock.settle();
  queue.add("a");
  queue.add("a");
  expect([started, queue.workingCount, queue.depth]).toEqual([1, 1, 0]);
  await clock.advance(100);
  expect(started).toBe(2);
});

test("L-18: failures back off from 5 ms, doubling, to 1000 s; a success starts anew", async () => {
  let isFailing = true;
  const atMs: number[] = [];
  const errors: string[] = [];
  const { clock, queue, run } = aQueue({
    work: () => {
      atMs.push(clock.monotonicMs());
      if (isFailing) throw new Error("no");
    },
    onError: (key, error) => void errors.push(`${key}: ${error}`),
  });
  void run();
  queue.add("a");
  await clock.advance(5 + 10 + 20 + 40);
  expect(atMs).toEqual([0, 5, 15, 35, 75]);
  expect(errors[0]).toBe("a: Error: no");
  isFailing = false;
  await clock.advance(80);
  isFailing = true;
  queue.add("a");
  await clock.advance(5);
  expect(atMs.slice(-2)).toEqual([155, 160]);
  const limiter = createRateLimiter(clock);
  for (let n = 0; n < 30; n++) limiter.next("x");
  expect([limiter.next("x"), limiter.failureCount("x")]).toEqual([1_000_000, 31]);
});

test("L-15: again after a span is no failure; retry is one without an error", async () => {
  const results = [{ retry: true } as const, { retry: true } as const, { afterMs: 100 }, { retry: true } as const, undefined];
  const atMs: number[] = [];
  const { clock, queue, run } = aQueue({
    work: () => {
      atMs.push(clock.monotonicMs());
      return results.shift();
    },
  });
  void run();
  queue.add("a");
  await clock.advance(1000);
  expect(atMs).toEqual([0, 5, 15, 115, 120]);
});

test("of several spans the one that ends first counts, and none stays behind", async () => {
  const { clock, worked, queue, run } = aQueue();
  void run();
  queue.addAfter("a", 50);
  queue.addAfter("a", 20);
  queue.addAfter("a", 90);
  queue.addAfter("b", 0);
  expect(queue.waitingCount).toBe(1);
  await clock.advance(1000);
  expect(worked).toEqual(["b@0", "a@20"]);
  expect(clock.timerCount).toBe(0);
});

test("a span that is taken back wakes nobody", async () => {
  const { clock, worked, queue, run } = aQueue();
  void run();
  queue.addAfter("a", 50);
  queue.cancelAfter("a");
  queue.cancelAfter("b");
  await clock.advance(1000);
  expect(worked).toEqual([]);
  expect([queue.waitingCount, clock.timerCount]).toEqual([0, 0]);
});

test("L-18 R: the bucket over all keys delays what exceeds its burst", async () => {
  const { clock, worked, queue, run } = aQueue({ baseMs: 1, bucket: { perSecond: 10, burst: 2 } });
  void run();
  for (const key of ["a", "b", "c", "d"]) queue.addRetry(key);
  await clock.advance(1000);
  expect(worked).toEqual(["a@1", "b@1", "c@100", "d@200"]);
  const bucket = createTokenBucket(clock, { perSecond: 5, burst: 1 });
  expect([bucket.tryTake(), bucket.tryTake()]).toEqual([true, false]);
  await clock.advance(200);
  expect(bucket.tryTake()).toBe(true);
});

test("stop: waits for workers, starts none, leaves no timer; an abort is no error", async () => {
  const errors: unknown[] = [];
  const { clock, queue, run, stop } = aQueue({
    work: (_, signal) => clock.sleep(1000, signal).then(() => undefined),
    onError: (_, error) => void errors.push(error),
  });
  const running = run();
  queue.add("a");
  queue.add("b");
  queue.addAfter("c", 5000);
  await clock.settle();
  stop.abort();
  await running;
  expect([queue.workingCount, queue.depth, clock.timerCount, errors.length]).toEqual([0, 1, 0, 0]);
});

test("the metrics hooks tell depth, spans and outcomes; whenIdle waits for work but not for spans", async () => {
  const told: string[] = [];
  const { clock, queue, run } = aQueue({
    work: async (key) => {
      await clock.sleep(10);
      if (key === "bad") throw new Error("bad");
      return undefined;
    },
    baseMs: 1000,
    metrics: {
      onAdded: (depth) => void told.push(`added ${depth}`),
      onStarted: (queuedMs) => void told.push(`started after ${queuedMs}`),
      onDone: (workedMs, outcome) => void told.push(`${outcome} in ${workedMs}`),
      onRetried: () => void told.push("retried"),
    },
  });
  void run();
  queue.add("good");
  queue.add("bad");
  let isIdle = false;
  void queue.whenIdle().then(() => {
    isIdle = true;
  });
  await clock.advance(15);
  expect(isIdle).toBe(false);
  await clock.advance(10);
  expect(isIdle).toBe(true);
  expect(told).toEqual(["added 1", "started after 0", "added 1", "done in 10", "started after 10", "retried", "error in 10"]);
});

test("no key is lost and none is worked on twice at once, whatever is added when", async () => {
  const step = fc.record({
    key: fc.constantFrom("a", "b", "c", "d"),
    afterMs: fc.constantFrom(0, 0, 1, 7, 30),
    waitMs: fc.constantFrom(0, 0, 1, 5, 20),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), fc.integer(), async (script, concurrency, seed) => {
      const random = createRandom(seed);
      const active = new Set<string>();
      const lastStartMs = new Map<string, number>();
      const owedMs = new Map<string, number>();
      let isCalm = false;
      const { clock, queue, run, stop } = aQueue({
        concurrency,
        work: async (key) => {
          expect(active.has(key)).toBe(false);
          active.add(key);
          expect(active.size).toBeLessThanOrEqual(concurrency);
          lastStartMs.set(key, clock.monotonicMs());
          await clock.sleep(random.below(10));
          active.delete(key);
          if (!isCalm && random.below(4) === 0) throw new Error("chance");
          return !isCalm && random.below(4) === 0 ? { afterMs: random.below(20) } : undefined;
        },
      });
      const running = run();
      for (const { key, afterMs, waitMs } of script) {
        queue.addAfter(key, afterMs);
        owedMs.set(key, Math.max(owedMs.get(key) ?? 0, clock.monotonicMs()));
        await clock.advance(waitMs);
      }
      isCalm = true;
      await clock.advance(60_000);
      for (const [key, ms] of owedMs) expect(lastStartMs.get(key)).toBeGreaterThanOrEqual(ms);
      expect([queue.depth, queue.waitingCount, queue.workingCount]).toEqual([0, 0, 0]);
      stop.abort();
      await running;
    }),
    { numRuns: 60 },
  );
});
