import { createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { onStopSignals } from "./stop-signals.ts";

test("a process that follows its parent stops when another one has adopted it", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  let parent = 41;
  const stop = onStopSignals(
    clock,
    () => undefined,
    () => parent,
  );
  stop.followParent();
  await clock.advance(60_000);
  expect(stop.signal.aborted).toBe(false);
  parent = 1;
  await clock.advance(1000);
  expect(stop.signal.aborted).toBe(true);
  stop.dispose();
});

test("what is disposed of looks for no parent", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  let looks = 0;
  const stop = onStopSignals(
    clock,
    () => undefined,
    () => {
      looks++;
      return 41;
    },
  );
  stop.followParent();
  const before = looks;
  stop.dispose();
  await clock.advance(60_000);
  expect(looks).toBe(before);
});
