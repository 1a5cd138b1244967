/** Settings of consolidation that other settings switch off. Rules. */
import type { Remark } from "../finding.ts";
import { DISRUPTION } from "../paths.ts";
import type { PoolFacts } from "../pool-facts.ts";
import type { Rule } from "../rule.ts";

export const settingWithoutEffect: Rule = {
  name: "setting-without-effect",
  severity: "warning",
  summary: "A consolidation setting is written down that another setting makes void.",
  *check({ pools }) {
    for (const pool of pools) yield* pool.isStatic ? staticSettings(pool) : neverSettings(pool);
  },
};

/** As written, without the defaults that a server adds. */
function written({ manifest }: PoolFacts): Readonly<Record<string, unknown>> {
  const { spec } = manifest.object as { readonly spec?: { readonly disruption?: Readonly<Record<string, unknown>> } };
  return spec?.disruption ?? {};
}

function* staticSettings(pool: PoolFacts): Iterable<Remark> {
  // A server adds the defaults to whatever it stores, so they are nobody's wish.
  const defaults: Readonly<Record<string, unknown>> = { consolidateAfter: "0s", consolidationPolicy: "WhenEmptyOrUnderutilized" };
  const settings = written(pool);
  for (const name of Object.keys(defaults)) {
    if (settings[name] === undefined || settings[name] === defaults[name]) continue;
    yield {
      severity: "warning",
      manifest: pool.manifest,
      path: [...DISRUPTION, name],
      message: `the pool is static (replicas is set), and static pools are not consolidated: ${name} has no effect`,
      instead: `no ${name}, or a pool without replicas`,
    };
  }
}

function* neverSettings(pool: PoolFacts): Iterable<Remark> {
  const { consolidateAfter, consolidationPolicy } = written(pool);
  if (consolidateAfter !== "Never" || consolidationPolicy === undefined || consolidationPolicy === "WhenEmptyOrUnderutilized") return;
  yield {
    severity: "warning",
    manifest: pool.manifest,
    path: [...DISRUPTION, "consolidationPolicy"],
    message: `consolidateAfter Never switches consolidation off, so consolidationPolicy ${consolidationPolicy} has no effect`,
    instead: "a duration for consolidateAfter, such as 5m, or no consolidationPolicy",
  };
}
