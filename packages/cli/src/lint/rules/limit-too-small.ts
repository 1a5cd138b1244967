/** Limits that not even one node stays within. Rules S-160, S-161, A-18. */
import { formatAmount } from "@joinery/api";
import type { Remark } from "../finding.ts";
import type { PoolFacts } from "../pool-facts.ts";
import type { Rule } from "../rule.ts";
import type { TypeFacts } from "../type-facts.ts";
import { listText } from "../words.ts";

export const limitTooSmall: Rule = {
  name: "limit-too-small",
  severity: "error",
  summary: "A limit of a pool is smaller than its smallest instance type, so the pool never gets a node.",
  *check({ pools }) {
    for (const pool of pools) {
      const own = [...nodeLimit(pool), ...smallLimits(pool)];
      yield* own;
      if (own.length === 0) yield* jointLimits(pool);
    }
  },
};

/** A node of the type would not exceed the limits of an empty pool. */
export function isWithinLimits({ type: { capacity } }: TypeFacts, { limits }: PoolFacts): boolean {
  if (limits.nodes === 0) return false;
  return Object.entries(limits).every(([resource, limit]) => (capacity[resource] ?? 0) <= limit);
}

function* nodeLimit({ pool, manifest, limits, isStatic }: PoolFacts): Iterable<Remark> {
  const limit = limits.nodes;
  if (limit === undefined) return;
  const path = ["spec", "limits", "nodes"];
  const replicas = Number(pool.spec.replicas ?? 0);
  if (isStatic && limit < replicas) {
    const message = `the pool wants ${replicas} nodes, but its limit stops it at ${limit}`;
    yield { severity: "error", manifest, path, message, instead: `nodes: ${replicas} or more, so that drifted nodes can be replaced too` };
  } else if (limit === 0) {
    const message = "a limit of 0 nodes switches the pool off: it never gets a node";
    yield { severity: "warning", manifest, path, message, instead: "the number of nodes that the pool may have, or no such limit" };
  }
}

function* smallLimits({ limits, types, manifest }: PoolFacts): Iterable<Remark> {
  for (const [resource, limit] of Object.entries(limits).sort()) {
    if (resource === "nodes" || types.length === 0) continue;
    const least = types.reduce((a, b) => ((b.type.capacity[resource] ?? 0) < (a.type.capacity[resource] ?? 0) ? b : a));
    const amount = least.type.capacity[resource] ?? 0;
    if (amount <= limit) continue;
    const smallest = `the smallest type of the pool, ${least.type.name}, has ${formatAmount(resource, amount)}`;
    const happens = limit === 0 ? "switches the pool off" : `is less than one node`;
    yield {
      severity: limit === 0 ? "warning" : "error",
      manifest,
      path: ["spec", "limits", resource],
      message: `a limit of ${formatAmount(resource, limit)} ${resource} ${happens}: ${smallest}, so the pool never gets a node`,
      instead: `${resource}: at least ${formatAmount(resource, amount)}, or smaller instance types`,
    };
  }
}

/** Each limit alone has room for some type, but no type stays within all of them. */
function* jointLimits(pool: PoolFacts): Iterable<Remark> {
  const { types, limits, manifest } = pool;
  if (types.length === 0 || types.some((type) => isWithinLimits(type, pool))) return;
  const message = `no instance type of the pool stays within the limits of ${listText(Object.keys(limits).sort())} together, so the pool never gets a node`;
  yield {
    severity: "error",
    manifest,
    path: ["spec", "limits"],
    message,
    instead: "limits that have room for at least one node of some type",
  };
}
