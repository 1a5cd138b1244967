/** Schedules whose windows leave no time in between. Rule A-142. */
import { activityOf } from "../always.ts";
import { budgetsOf } from "../budgets.ts";
import { BUDGETS } from "../paths.ts";
import type { Rule } from "../rule.ts";

export const scheduleAlwaysActive: Rule = {
  name: "schedule-always-active",
  severity: "warning",
  summary: "A budget's duration lasts until the next hit of its schedule, so the budget acts at all times.",
  *check({ pools, nowMs }) {
    for (const { pool, manifest } of pools) {
      for (const [index, budget] of budgetsOf(pool).entries()) {
        if (activityOf(budget, nowMs).kind !== "gapless") continue;
        yield {
          severity: "warning",
          manifest,
          path: [...BUDGETS, index, "duration"],
          message: `the schedule "${budget.schedule}" fires again before ${budget.duration} are over, so the budget acts at all times`,
          instead: "a shorter duration, or no schedule and duration when it is meant to act always",
        };
      }
    }
  },
};
