import { expect, test } from "vitest";
import { createVirtualClock } from "../clock/virtual-clock.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { createLimitedTransport } from "./limited-transport.ts";

test("L-248: the burst goes at once, the rest at the rate, and a watch counts as one request", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const api = createFakeApi();
  const sentAtMs: number[] = [];
  api.faults.before = () => {
    sentAtMs.push(clock.monotonicMs());
    return undefined;
  };
  const transport = createLimitedTransport(api.transport, clock, { perSecond: 10, burst: 2 });
  const stop = new AbortController();
  for (let n = 0; n < 4; n++) void transport.send({ method: "GET", path: "/api/v1/nodes" });
  void transport.stream({ method: "GET", path: "/api/v1/nodes" }, stop.signal);
  await clock.advance(1000);
  expect(sentAtMs).toEqual([0, 0, 100, 200, 300]);
  const stopped = Promise.all(Array.from({ length: 20 }, () => transport.send({ method: "GET", path: "/api/v1/nodes" }, stop.signal)));
  stopped.catch(() => {});
  await clock.settle();
  stop.abort(new Error("enough"));
  await expect(stopped).rejects.toThrow("enough");
});
