import fc from "fast-check";
import { expect, test } from "vitest";
import { formatMicroTime, formatTime, parseTime } from "./timestamps.ts";

test("times have the API server's form", () => {
  const ms = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  expect([formatTime(ms), formatMicroTime(ms)]).toEqual(["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678000Z"]);
  expect([parseTime(formatMicroTime(ms)), parseTime(undefined), parseTime("soon")]).toEqual([ms, undefined, undefined]);
});

test("a time is what V8's parser makes of it, and nothing where that finds none", () => {
  const twoDigits = fc.integer({ min: 0, max: 99 }).map((value) => String(value).padStart(2, "0"));
  const written = fc
    .tuple(twoDigits, twoDigits, twoDigits, twoDigits, twoDigits, twoDigits, twoDigits)
    .map(([century, year, month, day, hour, minute, second]) => `${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const real = fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true }).map((date) => formatTime(date.getTime()));
  const broken = fc
    .tuple(real, fc.nat(19), fc.constantFrom("-", ":", "x", " ", "0"))
    .map(([time, at, letter]) => time.slice(0, at) + letter + time.slice(at + 1));
  fc.assert(
    fc.property(fc.oneof(written, real, broken), (text) => {
      const ms = Date.parse(text);
      expect(parseTime(text)).toBe(Number.isNaN(ms) ? undefined : ms);
    }),
    { numRuns: 2000 },
  );
});
