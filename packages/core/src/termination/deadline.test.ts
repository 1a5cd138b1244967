import { expect, test } from "vitest";
import type { PodRecord } from "../state/pod-record.ts";
import { deadlineMs, grantedSeconds, needsForceDelete } from "./deadline.ts";

const T = Date.parse("2026-01-01T00:00:00Z");
const after = (seconds: number) => T + seconds * 1000;
const pod = (graceSeconds?: number, deletingAtMs?: number) => ({ graceSeconds, deletingAtMs }) as PodRecord;

test.each([
  { what: "no deadline", pod: pod(60), deadline: undefined, now: after(9999), forced: false },
  { what: "just at deadline minus grace", pod: pod(60), deadline: after(300), now: after(240), forced: false },
  { what: "just after it", pod: pod(60), deadline: after(300), now: after(240) + 1, forced: true },
  { what: "a grace longer than what is left", pod: pod(600), deadline: after(300), now: after(0), forced: true },
  { what: "no grace period", pod: pod(), deadline: after(300), now: after(9999), forced: false },
  { what: "terminating until after the deadline", pod: pod(6000, after(6090)), deadline: after(300), now: after(90), forced: true },
  { what: "terminating until the deadline", pod: pod(60, after(300)), deadline: after(300), now: after(9999), forced: false },
  { what: "a deadline at once", pod: pod(30), deadline: after(0), now: after(0), forced: true },
])("L-147: $what: forced $forced", ({ pod: subject, deadline, now, forced }) => {
  expect(needsForceDelete(subject, deadline, now)).toBe(forced);
});

test.each([
  { deadline: 300, now: 90, granted: 210 },
  { deadline: 300, now: 265, granted: 35 },
  { deadline: 300, now: 265.5, granted: 34 },
  { deadline: 0, now: 3600, granted: 1 },
  { deadline: 300, now: 300, granted: 1 },
])("L-148: deadline $deadline, now $now: $granted s", ({ deadline, now, granted }) => {
  expect(grantedSeconds(after(deadline), after(now))).toBe(granted);
});

test("L-127: a deadline that is no time stops the drain", () => {
  const annotations = { "karpenter.sh/nodeclaim-termination-timestamp": "soon" };
  const spec = { nodeClassRef: { group: "g", kind: "K", name: "n" }, requirements: [] };
  expect(() => deadlineMs({ metadata: { annotations }, spec })).toThrow(/"soon", want a time in RFC 3339/);
  expect(deadlineMs({ metadata: {}, spec })).toBeUndefined();
});
