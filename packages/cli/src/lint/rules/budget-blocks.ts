/** Budgets that never allow anything. Rules A-135…, V-1. */
import type { NodePool } from "@joinery/api";
import { type Activity, activityOf } from "../always.ts";
import { type Budget, budgetsOf, impossibleReasons } from "../budgets.ts";
import { BUDGETS } from "../paths.ts";
import type { Rule } from "../rule.ts";
import { listText } from "../words.ts";

export const budgetBlocks: Rule = {
  name: "budget-blocks",
  severity: "warning",
  summary: "A budget of 0 nodes acts at all times, so the pool's nodes are never disrupted for its reasons.",
  *check({ pools, nowMs }) {
    for (const { pool, manifest } of pools) {
      for (const [index, budget] of budgetsOf(pool).entries()) {
        if (!/^0+%?$/.test(budget.nodes) || !isMeant(budget, activityOf(budget, nowMs), pool)) continue;
        const isPartial = budget.reasons !== undefined;
        const what = isPartial
          ? `no node of the pool is ever disrupted because it is ${listText(budget.reasons ?? [])}`
          : "no node of the pool is ever consolidated, replaced because it drifted, or repaired: only expiry, interruptions and people end nodes";
        yield {
          // Switching consolidation off this way is a habit; losing updates of drifted nodes rarely is.
          severity: isPartial && !budget.reasons?.includes("Drifted") ? "note" : "warning",
          manifest,
          path: [...BUDGETS, index, "nodes"],
          message: `a budget of ${budget.nodes} nodes acts at all times: ${what}`,
          instead: `nodes: "1" or 10%, or a schedule and duration for the hours in which nothing may happen`,
        };
      }
    }
  },
};

/** Not one that other rules find fault with: a schedule without hits, or reasons that do not occur. */
function isMeant({ reasons }: Budget, { kind }: Activity, pool: NodePool): boolean {
  if (kind !== "always" && kind !== "gapless") return false;
  const impossible = impossibleReasons(pool)?.reasons ?? [];
  return reasons === undefined || reasons.some((reason) => !impossible.includes(reason));
}
