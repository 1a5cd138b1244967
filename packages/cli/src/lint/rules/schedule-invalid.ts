/** Schedules that admission lets through and nothing can read. Rules A-145…A-147. */
import { activityOf } from "../always.ts";
import { budgetsOf } from "../budgets.ts";
import { BUDGETS } from "../paths.ts";
import type { Rule } from "../rule.ts";

export const scheduleInvalid: Rule = {
  name: "schedule-invalid",
  severity: "error",
  summary: "A budget's schedule cannot be read at run time, which blocks every disruption of the pool.",
  *check({ pools, nowMs }) {
    for (const { pool, manifest } of pools) {
      for (const [index, budget] of budgetsOf(pool).entries()) {
        const activity = activityOf(budget, nowMs);
        if (activity.kind !== "unreadable") continue;
        yield {
          severity: "error",
          manifest,
          path: [...BUDGETS, index, "schedule"],
          message: `the schedule "${budget.schedule}" cannot be read (${activity.error}): while it stands, no node of the pool is disrupted for any reason`,
          instead:
            "five fields in UTC (minute, hour, day of month, month, day of week), such as 0 9 * * mon-fri, or a macro such as @daily",
        };
      }
    }
  },
};
