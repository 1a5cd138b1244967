import { createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { createBatcher } from "./batcher.ts";

const seconds = 1000;

async function closesAtMs(triggers: readonly (readonly [atMs: number, uid: string | undefined])[], idleMs = 5 * seconds): Promise<number> {
  const clock = createVirtualClock({ startMs: 0 });
  const batcher = createBatcher(clock, { idleMs, maxMs: 10 * seconds });
  let closedAtMs = -1;
  const next = batcher.next(new AbortController().signal).then(() => (closedAtMs = clock.monotonicMs()));
  for (const [atMs, uid] of triggers) clock.after(atMs, () => batcher.trigger(uid));
  await clock.runUntil(() => closedAtMs >= 0, 60 * seconds);
  await next;
  return closedAtMs;
}

test.each([
  {
    rule: "T1b S-3: a new trigger restarts the idle timer",
    triggers: [
      [0, "a"],
      [3 * seconds, "b"],
    ],
    at: 8,
  },
  {
    rule: "T1c S-3: with a new trigger every two seconds, the window never outlasts its maximum",
    triggers: [
      [0, "a"],
      [2 * seconds, "b"],
      [4 * seconds, "c"],
      [6 * seconds, "d"],
      [8 * seconds, "e"],
    ],
    at: 10,
  },
  {
    rule: "T1a S-4: a UID that was seen does not restart it",
    triggers: [
      [0, "a"],
      [3 * seconds, "a"],
    ],
    at: 5,
  },
  {
    rule: "V-91: a trigger without UID always restarts it",
    triggers: [
      [0, undefined],
      [3 * seconds, undefined],
    ],
    at: 8,
  },
] as const)("$rule", async ({ triggers, at }) => {
  expect(await closesAtMs(triggers)).toBe(at * seconds);
});

test("S-4: one trigger is remembered while nobody waits, and opens the next window at once", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const batcher = createBatcher(clock, { idleMs: seconds, maxMs: 10 * seconds });
  batcher.trigger("a");
  batcher.trigger("b");
  const windows: number[] = [];
  const { signal } = new AbortController();
  void batcher.next(signal).then(() => {
    windows.push(clock.monotonicMs());
    return batcher.next(signal).then(() => windows.push(clock.monotonicMs()));
  });
  await clock.advance(60 * seconds);
  expect(windows).toEqual([1 * seconds]);
  batcher.trigger("a");
  await clock.advance(seconds);
  expect(windows).toEqual([1 * seconds, 61 * seconds]);
});
