import { expect, test } from "vitest";
import { canonicalTime, timeFault } from "./go-time.ts";

test.each([
  { text: "2026-01-01T00:00:00Z", kept: "2026-01-01T00:00:00Z" },
  { text: "2026-01-01T00:00:00.5Z", kept: "2026-01-01T00:00:00Z" },
  { text: "2026-01-01T00:00:00+02:00", kept: "2025-12-31T22:00:00Z" },
  { text: "2026-01-01T00:00:00.123456+02:00", isMicro: true, kept: "2025-12-31T22:00:00.123456Z" },
  { text: "2024-02-29T23:59:59.000001Z", isMicro: true, kept: "2024-02-29T23:59:59.000001Z" },
])("$text is kept as $kept", ({ text, isMicro = false, kept }) => {
  expect(timeFault(text, isMicro)).toBeUndefined();
  expect(canonicalTime(text, isMicro)).toBe(kept);
});

test.each([
  { text: "2026-02-31T00:00:00Z", why: "day out of range" },
  { text: "2026-13-01T00:00:00Z", why: "month out of range" },
  { text: "2026-01-01T25:00:00Z", why: "hour out of range" },
])("$text: $why", ({ text, why }) => {
  expect(timeFault(text, false)).toBe(`parsing time "${text}": ${why}`);
});

test.each([
  { text: "", isMicro: false, rest: "", name: "2006" },
  { text: "2026-01-01", isMicro: false, rest: "", name: "T" },
  { text: "2026-01-01T00:00:00", isMicro: false, rest: "", name: "Z07:00" },
  { text: "2026-01-01T00:00:00+0200", isMicro: false, rest: "+0200", name: "Z07:00" },
  { text: "2026-01-01T00:00:00Z", isMicro: true, rest: "Z", name: ".000000" },
  { text: "2026-01-01T00:00:00.1234567Z", isMicro: true, rest: "7Z", name: "Z07:00" },
])("'$text' ends before $name (microseconds: $isMicro)", ({ text, isMicro, rest, name }) => {
  const layout = isMicro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
  expect(timeFault(text, isMicro)).toBe(`parsing time "${text}" as "${layout}": cannot parse "${rest}" as "${name}"`);
});
