import { ApiError, createRandom, createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { silentLogger } from "../logger.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createLoop, type LoopOptions } from "./loop.ts";

/** When each of `count` keys, all of which fail once, is tried a second time. */
async function secondTriesMs(count: number, options: Partial<LoopOptions<string>> = {}, log = silentLogger): Promise<readonly number[]> {
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
    { clock, log, random: createRandom(1) },
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

const conflict = () => new ApiError({ status: 409, reason: "Conflict", message: "the object has been modified" } as never);

test.each([
  { what: "a conflict", error: conflict(), told: 0 },
  { what: "several conflicts", error: new AggregateError([conflict(), conflict()]), told: 0 },
  { what: "a conflict beside something else", error: new AggregateError([conflict(), new Error("etcd is away")]), told: 1 },
  { what: "something else", error: new Error("etcd is away"), told: 1 },
])("L-17: $what is told $told times, and tried again", async ({ error, told }) => {
  const { log, lines } = recordingLog();
  let tries = 0;
  await secondTriesMs(
    1,
    {
      reconciler: {
        async reconcile() {
          if (tries++ === 0) throw error;
          return { kind: "asleep" };
        },
      },
    },
    log,
  );
  expect(tries).toBe(2);
  expect(lines).toHaveLength(told);
});
