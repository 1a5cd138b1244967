import { expect, test } from "vitest";
import { activityOf } from "./always.ts";

const now = Date.UTC(2026, 5, 17, 10, 30);

test.each([
  { rule: "A-141", schedule: undefined, duration: undefined, kind: "always" },
  { rule: "A-142", schedule: "@daily", duration: "24h", kind: "gapless" },
  { rule: "A-142", schedule: "@daily", duration: "23h59m", kind: "sometimes" },
  { rule: "A-142", schedule: "*/15 * * * *", duration: "15m", kind: "gapless" },
  { rule: "A-142", schedule: "* * * * mon-fri", duration: "1h", kind: "sometimes" },
  { rule: "A-142", schedule: "* * * * mon-fri", duration: "49h", kind: "gapless" },
  { rule: "A-142", schedule: "* * * 1-11 *", duration: "1h", kind: "sometimes" },
  { rule: "A-142", schedule: "0 0 1 * *", duration: "740h", kind: "sometimes" },
  { rule: "A-142", schedule: "0 0 1 * *", duration: "744h", kind: "gapless" },
  { rule: "A-142", schedule: "@yearly", duration: "8760h", kind: "sometimes" },
  { rule: "A-144", schedule: "0 0 30 2 *", duration: "8h", kind: "no-hit" },
  { rule: "A-144", schedule: "0 0 29 2 *", duration: "8h", kind: "sometimes" },
  { rule: "A-145", schedule: "TZ=Europe/Berlin 0 9 * * *", duration: "8h", kind: "unreadable" },
  { rule: "A-146", schedule: "foo bar baz qux quux", duration: "8h", kind: "unreadable" },
  { rule: "A-148", schedule: "@daily", duration: "0m", kind: "never" },
])("$rule: $schedule for $duration is $kind", ({ schedule, duration, kind }) => {
  const budget = { nodes: "1", ...(schedule !== undefined && { schedule }), ...(duration !== undefined && { duration }) };
  expect(activityOf(budget, now).kind).toBe(kind);
});
