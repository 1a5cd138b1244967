import { createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { createMetricsRegistry } from "./prometheus.ts";
import { createWorkClock } from "./work-clock.ts";

test("O-238: what is worked on is summed up, and the oldest told; what has ended counts no more", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const registry = createMetricsRegistry();
  const work = createWorkClock(registry, clock);
  const look = async () => (await registry.metrics()).match(/(?<=^workqueue_\w+{.*} )[\d.]+$/gm);
  work.start("c");
  work.start("c");
  await clock.advance(2000);
  work.start("c");
  await clock.advance(1000);
  expect(await look()).toEqual(["7", "3"]);
  work.end("c", 3000);
  expect(await look()).toEqual(["4", "3"]);
  work.end("c", 3000);
  work.end("c", 1000);
  expect(await look()).toEqual(["0", "0"]);
});
