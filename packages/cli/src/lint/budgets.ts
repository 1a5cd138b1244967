/** Budgets as they stand in a pool, defaults filled in. */
import type { DisruptionBudget, NodePool } from "@joinery/api";

export type Budget = DisruptionBudget & { readonly nodes: string };

export function budgetsOf(pool: NodePool): readonly Budget[] {
  return (pool.spec.disruption?.budgets ?? []).map((budget) => ({ ...budget, nodes: budget.nodes ?? "10%" }));
}

/** Reasons for which nodes of the pool are never disrupted, whatever the budgets say. */
export function impossibleReasons({ spec }: NodePool): { readonly reasons: readonly string[]; readonly because: string } | undefined {
  const { replicas, disruption } = spec;
  if (replicas !== undefined && replicas !== null)
    return { reasons: ["Empty", "Underutilized"], because: "static pools are not consolidated" };
  if (disruption?.consolidateAfter === "Never") return { reasons: ["Empty", "Underutilized"], because: "consolidateAfter is Never" };
  if (disruption?.consolidationPolicy === "WhenEmpty") return { reasons: ["Underutilized"], because: "consolidationPolicy is WhenEmpty" };
  return undefined;
}
