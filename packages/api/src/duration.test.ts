import { expect, test } from "vitest";
import { formatGoDuration, parseDuration, parseGoDuration, parseNillableDuration } from "./duration.ts";

const SECOND = 1_000_000_000n;

test.each([
  ["1h30m5s", 5405n * SECOND],
  ["5m5m", 600n * SECOND],
  ["0s", 0n],
  ["720h", 2_592_000n * SECOND],
  ["2562047h", 2562047n * 3600n * SECOND],
])("A-3: %s", (text, nanos) => {
  expect(parseDuration(text)).toBe(nanos);
});

test.each(["1.5h", "100ms", "1hr", "-1s", "10", "", "never", "FooNever", "Never", " 1h", "2562048h", "9999999999999999999h"])(
  "A-3, A-6: %j is none",
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test("A-4, A-7: Never, in this case only", () => {
  expect(parseNillableDuration("Never")).toBe("Never");
  expect(parseNillableDuration("never")).toBeUndefined();
  expect(parseNillableDuration("60m")).toBe(3600n * SECOND);
});

test.each([
  ["1.5h", 5400n * SECOND],
  ["-1m30s", -90n * SECOND],
  ["300ms", 300_000_000n],
  ["1µs1us1ns", 2001n],
  [".5s", 500_000_000n],
  ["1.s", SECOND],
  ["0", 0n],
  ["+1h", 3600n * SECOND],
])("A-92: Go reads %s", (text, nanos) => {
  expect(parseGoDuration(text)).toBe(nanos);
});

test.each(["", "-", "1", ".s", "1h 2m", "1d", "abc", "1hh"])("A-92: Go does not read %j", (text) => {
  expect(parseGoDuration(text)).toBeUndefined();
});

test.each([
  [48n * 3600n * SECOND, "48h0m0s"],
  [1200n * SECOND, "20m0s"],
  [1_500_000_000n, "1.5s"],
  [0n, "0s"],
  [1_500n, "1.5µs"],
  [12n, "12ns"],
  [-90n * SECOND, "-1m30s"],
])("A-5: %i is written %s", (nanos, text) => {
  expect(formatGoDuration(nanos)).toBe(text);
});
