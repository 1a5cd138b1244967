import { createVirtualClock, type RequestOutcome, TransportError, type TransportFault } from "@joinery/kube";
import { expect, test } from "vitest";
import { type Logger, silentLogger } from "../logger.ts";
import { createReachability } from "./reachability.ts";

const request = { method: "GET", path: "/api/v1/pods" } as const;
const failed = (fault: TransportFault, message = "DNS is away"): RequestOutcome => ({
  request,
  durationMs: 5,
  error: new TransportError(fault, message),
});
const answered = (status: number): RequestOutcome => ({ request, durationMs: 5, status });

function watchServer() {
  const clock = createVirtualClock({ startMs: 0 });
  const lines: string[] = [];
  const note = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Logger = { ...silentLogger, error: note, info: note };
  return { clock, lines, server: createReachability(clock, log) };
}

test("O-67: what does not answer is told once, again each half minute, and when it answers", async () => {
  const { clock, lines, server } = watchServer();
  for (let second = 0; second <= 65; second++) {
    server.observe(failed("unreachable"));
    await clock.advance(1000);
  }
  expect(server.fault).toBe("DNS is away");
  server.observe(answered(200));
  server.observe(answered(200));
  expect(server.fault).toBeUndefined();
  expect(lines).toEqual([
    'waiting for the API server {"error":"DNS is away","seconds":0}',
    'waiting for the API server {"error":"DNS is away","seconds":30}',
    'waiting for the API server {"error":"DNS is away","seconds":60}',
    'the API server answers again {"seconds":66}',
  ]);
});

test.each([
  { fault: "unreachable", isAway: true },
  { fault: "timeout", isAway: true },
  { fault: "credentials", isAway: true },
  { fault: "broken", isAway: false },
  { fault: "malformed", isAway: false },
] as const)("$fault: away is $isAway", ({ fault, isAway }) => {
  const { server } = watchServer();
  server.observe(failed(fault));
  expect(server.fault !== undefined).toBe(isAway);
});

test("a refusal is an answer; the last reason is shown", () => {
  const { server, lines } = watchServer();
  server.observe(failed("unreachable", "one"));
  server.observe(failed("timeout", "two"));
  expect(server.fault).toBe("two");
  server.observe(answered(403));
  expect(server.fault).toBeUndefined();
  server.observe({ request, durationMs: 1, error: new Error("a fault of ours") });
  expect(server.fault).toBeUndefined();
  expect(lines).toHaveLength(2);
});
