import { expect, test } from "vitest";
import { createVirtualClock } from "../clock/virtual-clock.ts";
import { TransportError } from "./errors.ts";
import { createObservedTransport, type RequestOutcome } from "./observed-transport.ts";
import type { ApiRequest, ApiResponse, Transport } from "./transport.ts";

const request: ApiRequest = { method: "GET", path: "/api/v1/pods" };
const away = new TransportError("unreachable", "away");

const cases: readonly { name: string; answer: () => Promise<ApiResponse>; outcome: Partial<RequestOutcome> }[] = [
  { name: "an answer", answer: async () => ({ status: 200, body: {} }), outcome: { status: 200 } },
  { name: "a refusal", answer: async () => ({ status: 409, body: {} }), outcome: { status: 409 } },
  { name: "no answer", answer: () => Promise.reject(away), outcome: { error: away } },
];

test.each(cases)("O-240: $name is told with its duration", async ({ answer, outcome }) => {
  const clock = createVirtualClock({ startMs: 0 });
  const told: RequestOutcome[] = [];
  const slow: Transport = {
    send: async () => {
      await clock.sleep(250);
      return answer();
    },
    stream: async () => ({ ...(await slow.send(request)), values: (async function* () {})() }),
    close: async () => {},
  };
  const transport = createObservedTransport(slow, clock, (one) => told.push(one));
  void transport.send(request).catch(() => {});
  await clock.advance(250);
  void transport.stream(request, new AbortController().signal).catch(() => {});
  await clock.advance(250);
  const wanted = { request, durationMs: 250, ...outcome };
  expect(told).toEqual([wanted, wanted]);
});

test("a request that its caller broke off is not told", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const told: RequestOutcome[] = [];
  const silent: Transport = {
    send: (_, signal) => clock.sleep(1000, signal).then(() => ({ status: 200, body: {} })),
    stream: () => new Promise(() => {}),
    close: async () => {},
  };
  const stop = new AbortController();
  const sent = createObservedTransport(silent, clock, (one) => told.push(one)).send(request, stop.signal);
  stop.abort(new Error("no longer wanted"));
  await expect(sent).rejects.toThrow("no longer wanted");
  expect(told).toEqual([]);
});
