/** Schedules without a hit. Rule A-144. */
import { activityOf } from "../always.ts";
import { budgetsOf } from "../budgets.ts";
import { BUDGETS } from "../paths.ts";
import type { Rule } from "../rule.ts";

export const scheduleNeverFires: Rule = {
  name: "schedule-never-fires",
  severity: "error",
  summary: "A budget's schedule has no hit within five years, so the budget acts at all times.",
  *check({ pools, nowMs }) {
    for (const { pool, manifest } of pools) {
      for (const [index, budget] of budgetsOf(pool).entries()) {
        if (activityOf(budget, nowMs).kind !== "no-hit") continue;
        yield {
          severity: "error",
          manifest,
          path: [...BUDGETS, index, "schedule"],
          message: `the schedule "${budget.schedule}" never fires; such a budget does not sleep but acts at all times, and allows ${budget.nodes}`,
          instead: "a day that exists in one of its months, or no schedule and duration when it is meant to act always",
        };
      }
    }
  },
};
