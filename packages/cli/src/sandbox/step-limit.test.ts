import { createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { startStepLimit } from "./step-limit.ts";

test.each([
  { speed: 1, seconds: 1799, isOver: false },
  { speed: 1, seconds: 1801, isOver: true },
  { speed: 10, seconds: 179, isOver: false },
  { speed: 10, seconds: 181, isOver: true },
  { speed: 1000, seconds: 2, isOver: false },
  { speed: 1000, seconds: 119, isOver: false },
  { speed: 1000, seconds: 121, isOver: true },
])("at $speed times the speed, $seconds real seconds are over: $isOver", async ({ speed, seconds, isOver }) => {
  const machine = createVirtualClock({ startMs: 0 });
  const cluster = { ...machine, monotonicMs: () => machine.monotonicMs() * speed };
  const limit = startStepLimit(cluster, machine);
  await machine.advance(seconds * 1000);
  expect(limit.isOver()).toBe(isOver);
  expect(limit.minutes()).toBe(Math.round((seconds * speed) / 60));
});
