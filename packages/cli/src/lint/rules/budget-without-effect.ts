/** Budgets that never limit anything. Rules …A-150. */
import { type Activity, activityOf, actsAlways } from "../always.ts";
import { type Budget, budgetsOf, impossibleReasons } from "../budgets.ts";
import type { Remark } from "../finding.ts";
import { BUDGETS } from "../paths.ts";
import type { PoolFacts } from "../pool-facts.ts";
import type { Rule } from "../rule.ts";
import { countText, listText } from "../words.ts";

interface Judged {
  readonly budget: Budget;
  readonly activity: Activity;
}

type Judgement = Omit<Remark, "manifest" | "path"> & { readonly field?: string };

export const budgetWithoutEffect: Rule = {
  name: "budget-without-effect",
  severity: "warning",
  summary: "A budget never limits anything: it always allows, never acts, or a stricter one acts whenever it does.",
  *check({ pools, nowMs }) {
    for (const pool of pools) {
      const { manifest } = pool;
      const judged = budgetsOf(pool.pool).map((budget) => ({ budget, activity: activityOf(budget, nowMs) }));
      if (judged.length === 0) yield { manifest, path: BUDGETS, ...NO_BUDGETS };
      for (const [index, one] of judged.entries()) {
        const judgement = whyWithoutEffect(one, index, judged, pool);
        if (judgement === undefined) continue;
        const { field, ...rest } = judgement;
        yield { manifest, path: [...BUDGETS, index, ...(field === undefined ? [] : [field])], ...rest };
      }
    }
  },
};

const NO_BUDGETS: Judgement = {
  severity: "note",
  message: "an empty list of budgets limits nothing: all nodes of the pool may be disrupted at the same time",
  instead: `budgets: [{ nodes: "10%" }], which is also the default when budgets is left out`,
};

function whyWithoutEffect({ budget, activity }: Judged, index: number, all: readonly Judged[], pool: PoolFacts): Judgement | undefined {
  const { reasons, nodes } = budget;
  if (activity.kind === "unreadable") return undefined;
  if (reasons?.length === 0) {
    const message = "an empty list of reasons names none, so the budget limits nothing";
    return { severity: "warning", field: "reasons", message, instead: "the reasons that are meant, or no reasons for all of them" };
  }
  if (activity.kind === "never") {
    const message = "a duration of zero means that the budget never acts";
    return { severity: "warning", field: "duration", message, instead: "how long the budget is to act after each hit, such as 8h" };
  }
  const impossible = impossibleReasons(pool.pool);
  if (impossible !== undefined && reasons?.every((reason) => impossible.reasons.includes(reason))) {
    const message = `nodes of this pool are never disrupted because they are ${listText(reasons)}, since ${impossible.because}: the budget limits nothing`;
    return { severity: "warning", field: "reasons", message, instead: "reasons that occur, or no such budget" };
  }
  const stricter = all.find((other, at) => at !== index && isStricter(other, budget, at < index));
  if (stricter !== undefined) {
    const message = `the budget of ${stricter.budget.nodes} always acts for these reasons and the strictest one counts, so this one of ${nodes} never matters`;
    return {
      severity: "warning",
      field: "nodes",
      message,
      instead: `fewer nodes than ${stricter.budget.nodes}, or the other one under a schedule`,
    };
  }
  return alwaysAllows(nodes, all.length, pool);
}

/** A budget of all nodes takes the place of the default of 10 %, when it is alone; beside others it does nothing. */
function alwaysAllows(nodes: string, count: number, { limits, pool, isStatic }: PoolFacts): Judgement | undefined {
  const most = isStatic ? Number(pool.spec.replicas) : limits.nodes;
  const isAll = nodes === "100%" || (most !== undefined && most > 0 && !nodes.endsWith("%") && Number(nodes) >= most);
  if (!isAll) return undefined;
  const which = nodes === "100%" ? "100 % of the nodes" : `${countText(Number(nodes), "node")}, and the pool never has more than ${most},`;
  const happens = count === 1 ? "all nodes of the pool may be disrupted at the same time" : "the budget limits nothing";
  return {
    severity: count === 1 ? "note" : "warning",
    field: "nodes",
    message: `the budget allows ${which} at any time: ${happens}`,
    instead: "a number or percentage that leaves nodes to work on",
  };
}

/** In the same unit, so that it holds for every size of the pool. Of equal ones the first counts. */
function isStricter({ budget, activity }: Judged, than: Budget, isFirst: boolean): boolean {
  if (!actsAlways(activity) || budget.reasons?.length === 0) return false;
  const covers = budget.reasons === undefined || (than.reasons?.every((reason) => budget.reasons!.includes(reason)) ?? false);
  if (!covers) return false;
  const [own, other] = [Number.parseInt(budget.nodes, 10), Number.parseInt(than.nodes, 10)];
  const isComparable = budget.nodes.endsWith("%") === than.nodes.endsWith("%") || own === 0;
  return isComparable && (own < other || (own === other && isFirst));
}
