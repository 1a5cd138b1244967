import { createRandom, createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { silentLogger } from "../logger.ts";
import { createLoop, type LoopOptions } from "./loop.ts";

/** When each of `count` keys, all of which fail once, is tried a second time. */
async function secondTriesMs(count: number, options: Partial<LoopOptions<string>> = {}): Promise<readonly number[]> {
  const clock = createVirtualClock({ startMs: 0 });
  const tried = new Set<string>();
  const atMs: number[] = [];
  const loop = createLoop<string>(
    {
      name: "test",
      find: (key) => key,
      sources: [],
      workers: count,
      reconciler: {
        async reconcile(key) {
          if (tried.has(key)) atMs.push(clock.monotonicMs());
          else {
            tried.add(key);
            throw new Error("not now");
          }
          return { kind: "asleep" };
        },
      },
      ...options,
    },
    { clock, log: silentLogger, random: createRandom(1) },
  );
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  for (let n = 0; n < count; n++) loop.wake(String(n));
  await clock.advance(60_000);
  stop.abort();
  await running;
  return atMs;
}

test("O-108: a key comes back after 5 ms, but of many only ten a second once the first hundred have", async () => {
  expect(await secondTriesMs(1)).toEqual([5]);
  const atMs = await secondTriesMs(150);
  expect(atMs.slice(0, 100).every((ms) => ms === 5)).toBe(true);
  expect(atMs.slice(100)).toEqual(Array.from({ length: 50 }, (_, n) => (n + 1) * 100));
});

test("O-108: a controller with a back-off of its own has no share in that", async () => {
  const atMs = await secondTriesMs(150, { backoff: { baseMs: 1000 } });
  expect(atMs).toEqual(Array(150).fill(1000));
});
