import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DisruptionReason } from "../owned/choices.ts";
import type { DisruptionBudget } from "../owned/node-pool.ts";
import { allowedDisruptions, UNBOUNDED } from "./allowed-disruptions.ts";
import { parseSchedule, type Schedule } from "./cron.ts";

const NOON = Date.parse("2026-06-15T12:00:00Z");

function ask(
  budgets: readonly DisruptionBudget[] | undefined,
  options: { reason?: DisruptionReason; nodeCount?: number; now?: string } = {},
) {
  const { reason = "Drifted", nodeCount = 100, now } = options;
  return allowedDisruptions({ budgets, reason, nodeCount, nowMs: now === undefined ? NOON : Date.parse(now) });
}

const scheduleOf = (text: string): Schedule => {
  const result = parseSchedule(text);
  if ("error" in result) throw new Error(result.error);
  return result.schedule;
};
const hit = (text: string, after: string) => new Date(scheduleOf(text).next(Date.parse(after)) ?? Number.NaN).toISOString().slice(0, 16);

test.each([
  ["10%", 19, 2],
  ["5%", 10, 1],
  ["0%", 10, 0],
  ["10%", 0, 0],
  ["100%", 7, 7],
  ["10", 3, 10],
  ["0", 3, 0],
  ["99999999999", 3, UNBOUNDED],
])("A-137, A-138, A-140: %s of %i is %i", (nodes, nodeCount, allowed) => {
  expect(ask([{ nodes }], { nodeCount })).toEqual({ allowed, errors: [] });
});

test.each([
  ["Empty", 4],
  ["Drifted", 5],
  ["Underutilized", 10],
  ["Unhealthy", 10],
] as const)("scenario 49, A-135, V-1: the least budget for %s is %i", (reason, allowed) => {
  const budgets: DisruptionBudget[] = [
    { nodes: "10" },
    { nodes: "100" },
    { nodes: "100%" },
    { nodes: "15", reasons: ["Drifted", "Underutilized"] },
    { nodes: "5", reasons: ["Drifted"] },
    { nodes: "4", reasons: ["Empty"] },
  ];
  expect(ask(budgets, { reason }).allowed).toBe(allowed);
});

test("A-136, A-150: no reasons named, no budgets, budgets absent", () => {
  expect(ask([{ nodes: "0", reasons: [] }]).allowed).toBe(UNBOUNDED);
  expect(ask([]).allowed).toBe(UNBOUNDED);
  expect(ask(undefined).allowed).toBe(10);
});

describe("A-141…A-144: when a budget acts", () => {
  test.each([
    ["2024-01-07T00:00:00Z", "30 6 * * SUN", "6h", false],
    ["2026-01-01T12:00:00Z", "@yearly", "24h", true],
    ["2026-06-15T12:00:00Z", "@yearly", "1h", false],
    ["2000-05-30T23:00:00Z", "@daily", "30m", false],
    ["2000-06-15T12:30:30Z", "* * * * *", "1h", true],
    ["2000-06-15T12:30:30Z", "@weekly", "1h", false],
    ["2026-06-15T12:09:59Z", "@hourly", "10m", true],
    ["2026-06-15T12:10:00Z", "@hourly", "10m", false],
    ["2026-06-15T12:00:00Z", "@hourly", "10m", true],
    ["2026-06-15T11:59:59Z", "@hourly", "10m", false],
    ["2026-06-15T12:00:00Z", "@daily", "48h", true],
    ["2026-06-15T12:00:00Z", "0 0 30 2 *", "1h", true],
    ["2026-06-15T12:00:00Z", "@hourly", "0m", false],
  ])("at %s: %s for %s is %s", (now, schedule, duration, active) => {
    expect(ask([{ nodes: "1", schedule, duration }], { now }).allowed).toBe(active ? 1 : UNBOUNDED);
  });
});

describe("A-145…A-147: what cannot be read allows nothing, for any reason", () => {
  test.each([
    ["@annuallyfoo", /no macro/],
    ["@daily x", /no macro/],
    ["@Daily", /no macro/],
    ["0 0 * * * *", /5 fields, found 6/],
    ["foo bar baz qux quux", /minute "foo"/],
    ["TZ=Europe/Berlin 0 9 * * *", /UTC/],
    ["0 0 * * tue-mon", /starts at 2, beyond its end 1/],
    ["0 0 * * 7", /not within 0 to 6/],
    ["60 0 * * *", /not within 0 to 59/],
    ["*/0 0 * * *", /step 0/],
    ["0 0 L * *", /"L" where a number/],
    ["0 0 * * 1#2", /where a number/],
    ["0 0 0 * *", /not within 1 to 31/],
    [", 0 * * *", /empty/],
    ["1-2-3 0 * * *", /no range/],
    ["1/2/3 0 * * *", /more than one step/],
    ["-1 0 * * *", /where a number/],
  ])("%s", (schedule, message) => {
    const { allowed, errors } = ask([{ nodes: "5" }, { nodes: "9", schedule, duration: "1h", reasons: ["Drifted"] }], { reason: "Empty" });
    expect(allowed).toBe(0);
    expect(errors).toMatchObject([{ budget: 1, field: "schedule", message: expect.stringMatching(message) }]);
  });

  test("A-6: a duration without a value", () => {
    expect(ask([{ nodes: "1", schedule: "@daily", duration: "9999999999h" }])).toMatchObject({
      allowed: 0,
      errors: [{ field: "duration" }],
    });
  });
});

describe("cron grammar", () => {
  test.each([
    ["5/15 * * * *", "2026-06-15T12:05:00Z", "2026-06-15T12:20"],
    ["5/15 * * * *", "2026-06-15T12:50:00Z", "2026-06-15T13:05"],
    ["0 0 ? JAN-mar Sun", "2026-06-15T12:00:00Z", "2027-01-03T00:00"],
    ["0 0 13 * 5", "2026-06-13T00:00:00Z", "2026-06-19T00:00"],
    ["0 0 */2 * 1", "2026-06-15T00:00:00Z", "2026-06-17T00:00"],
    ["0 0 13 * *", "2026-06-13T00:00:00Z", "2026-07-13T00:00"],
    ["0 0 29 2 *", "2026-06-15T12:00:00Z", "2028-02-29T00:00"],
    ["1,,3, 0 * * *", "2026-06-15T00:01:00Z", "2026-06-15T00:03"],
    ["@monthly", "2026-06-15T12:00:00Z", "2026-07-01T00:00"],
    ["@annually", "2026-06-15T12:00:00Z", "2027-01-01T00:00"],
    ["@midnight", "2026-06-15T12:00:00Z", "2026-06-16T00:00"],
  ])("%s after %s: %s", (schedule, after, next) => {
    expect(hit(schedule, after)).toBe(next);
  });

  test("next hits agree with counting minute by minute", () => {
    const list = (least: number, most: number) => fc.uniqueArray(fc.integer({ min: least, max: most }), { minLength: 1, maxLength: 3 });
    const maybe = (values: fc.Arbitrary<number[]>) => fc.oneof(fc.constant("*" as const), values);
    const parts = fc.tuple(
      list(0, 59),
      list(0, 23),
      maybe(list(1, 31)),
      fc.constant("*" as const),
      maybe(list(0, 6)),
      fc.integer({ min: 0, max: 4e7 }),
    );
    fc.assert(
      fc.property(parts, ([minute, hour, dayOfMonth, month, dayOfWeek, offsetS]) => {
        const after = Date.parse("2026-01-01T00:00:00Z") + offsetS * 1000;
        const matches = (values: number[] | "*", value: number) => values === "*" || values.includes(value);
        const isHit = (time: Date) => {
          const onDay = matches(dayOfMonth, time.getUTCDate());
          const onWeekday = matches(dayOfWeek, time.getUTCDay());
          const isDay = dayOfMonth === "*" || dayOfWeek === "*" ? onDay && onWeekday : onDay || onWeekday;
          return isDay && minute.includes(time.getUTCMinutes()) && hour.includes(time.getUTCHours());
        };
        let model = Math.floor(after / 60_000) * 60_000 + 60_000;
        while (!isHit(new Date(model))) model += 60_000;
        expect(scheduleOf([minute, hour, dayOfMonth, month, dayOfWeek].join(" ")).next(after)).toBe(model);
      }),
      { seed: 42, numRuns: 60 },
    );
  });
});
