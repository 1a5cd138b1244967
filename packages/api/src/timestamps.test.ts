import { expect, test } from "vitest";
import { formatMicroTime, formatTime, parseTime } from "./timestamps.ts";

test("times have the API server's form", () => {
  const ms = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  expect([formatTime(ms), formatMicroTime(ms)]).toEqual(["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678000Z"]);
  expect([parseTime(formatMicroTime(ms)), parseTime(undefined), parseTime("soon")]).toEqual([ms, undefined, undefined]);
});
