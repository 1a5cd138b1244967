/** Nodes that expire about as fast as they start and drain. Rules L (expiration), A-3. */
import { nanosToMs, parseDuration, parseNillableDuration } from "@joinery/api";
import { durationText, MINUTE_MS } from "../durations.ts";
import type { Facts } from "../facts.ts";
import type { Remark } from "../finding.ts";
import { TEMPLATE_SPEC } from "../paths.ts";
import type { PoolFacts } from "../pool-facts.ts";
import type { Rule } from "../rule.ts";

/** Start of a machine plus an ordinary drain; a node that lives shorter does hardly any work. */
const COMMON_DRAIN_MS = 15 * MINUTE_MS;

export const shortLivedNode: Rule = {
  name: "short-lived-node",
  severity: "warning",
  summary: "Nodes of a pool expire sooner than they can be drained.",
  *check(facts) {
    for (const pool of facts.pools) {
      const remark = remarkOf(pool, facts);
      if (remark !== undefined) yield remark;
    }
  },
};

function remarkOf(facts: PoolFacts, all: Facts): Remark | undefined {
  const { expireAfter = "720h", terminationGracePeriod } = facts.pool.spec.template.spec;
  const nanos = parseNillableDuration(expireAfter);
  if (nanos === undefined || nanos === "Never") return undefined;
  const expiryMs = nanosToMs(nanos);
  const graceMs = terminationGracePeriod === undefined ? 0 : nanosToMs(parseDuration(terminationGracePeriod) ?? 0n);
  const slowest = slowestPod(facts, all);
  const drainMs = Math.max(COMMON_DRAIN_MS, graceMs, slowest.ms);
  if (expiryMs >= drainMs) return undefined;
  const because =
    drainMs === slowest.ms
      ? `pods of ${slowest.name} alone may take ${durationText(drainMs)} to end`
      : drainMs === graceMs
        ? `a drain may take as long as terminationGracePeriod, ${durationText(drainMs)}`
        : `a start and an ordinary drain take about ${durationText(drainMs)}`;
  return {
    severity: "warning",
    manifest: facts.manifest,
    path: [...TEMPLATE_SPEC, "expireAfter"],
    message: `nodes expire after ${expireAfter}, but ${because}: they spend their lives being replaced`,
    instead: `expireAfter of hours or days, at least ${durationText(drainMs * 2)}`,
  };
}

function slowestPod(pool: PoolFacts, { workloads, answers }: Facts): { readonly ms: number; readonly name: string } {
  let slowest = { ms: 0, name: "" };
  for (const workload of workloads) {
    const ms = (workload.spec.terminationGracePeriodSeconds ?? 30) * 1000;
    if (ms > slowest.ms && answers.of(workload).takers.includes(pool)) slowest = { ms, name: `${workload.kind}/${workload.name}` };
  }
  return slowest;
}
