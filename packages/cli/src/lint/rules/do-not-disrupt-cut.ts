/** Pods that must not be disrupted, on nodes that soon end all the same. Rules, D-163. */
import { DO_NOT_DISRUPT_ANNOTATION, doNotDisrupt, nanosToMs, parseDuration, parseGoDuration, parseNillableDuration } from "@joinery/api";
import { durationText, HOUR_MS } from "../durations.ts";
import type { Facts } from "../facts.ts";
import type { Remark } from "../finding.ts";
import { TEMPLATE_SPEC } from "../paths.ts";
import type { PoolFacts } from "../pool-facts.ts";
import type { Rule } from "../rule.ts";
import type { Workload } from "../workloads.ts";

/** Who asks not to be disrupted expects more than a day. */
const SHORT_MS = 24 * HOUR_MS;

export const doNotDisruptCut: Rule = {
  name: "do-not-disrupt-cut",
  severity: "warning",
  summary: "Pods ask not to be disrupted, but the pool's nodes expire within a day; or the annotation says nothing.",
  *check(facts) {
    for (const workload of facts.workloads) {
      const { annotations, manifest, path } = workload;
      const wish = doNotDisrupt(annotations[DO_NOT_DISRUPT_ANNOTATION], undefined, facts.nowMs);
      const at = [...path, "metadata", "annotations", DO_NOT_DISRUPT_ANNOTATION];
      if (wish.kind === "invalid") {
        const message = `"${wish.text}" is neither true nor a duration, so the annotation is ignored and the pods may be disrupted`;
        yield { severity: "warning", manifest, path: at, message, instead: `"true", or a duration such as 4h` };
      }
      if (wish.kind !== "active" || workload.kind === "DaemonSet") continue;
      for (const pool of facts.answers.of(workload).takers) yield* expiryRemarks(workload, pool);
    }
    yield* poolAnnotations(facts);
  },
};

function* expiryRemarks({ manifest, path, annotations }: Workload, { pool, name }: PoolFacts): Iterable<Remark> {
  const { expireAfter = "720h", terminationGracePeriod } = pool.spec.template.spec;
  const expiry = parseNillableDuration(expireAfter);
  if (expiry === undefined || expiry === "Never") return;
  const graceMs = terminationGracePeriod === undefined ? undefined : nanosToMs(parseDuration(terminationGracePeriod) ?? 0n);
  const lifeMs = nanosToMs(expiry) + (graceMs ?? 0);
  const text = annotations[DO_NOT_DISRUPT_ANNOTATION];
  const wished = text === "true" || text === undefined ? SHORT_MS : nanosToMs(parseGoDuration(text) ?? 0n);
  if (lifeMs >= wished) return;
  const happens =
    graceMs === undefined
      ? "then wait for these pods without end, taking no new ones"
      : `end these pods by force ${durationText(graceMs)} later`;
  yield {
    severity: "warning",
    manifest,
    path: [...path, "metadata", "annotations", DO_NOT_DISRUPT_ANNOTATION],
    message: `these pods ask not to be disrupted, but nodes of NodePool ${name} expire after ${expireAfter} whatever runs on them, and ${happens}`,
    instead: `a pool with a longer expireAfter (or Never) for these pods, or no annotation`,
  };
}

/** on nodes only exactly `true` counts. */
function* poolAnnotations({ pools }: Facts): Iterable<Remark> {
  for (const { pool, manifest } of pools) {
    const text = pool.spec.template.metadata?.annotations?.[DO_NOT_DISRUPT_ANNOTATION];
    if (text === undefined || text === "true") continue;
    yield {
      severity: "warning",
      manifest,
      path: [...TEMPLATE_SPEC.slice(0, 2), "metadata", "annotations", DO_NOT_DISRUPT_ANNOTATION],
      message: `on nodes only "true" counts, "${text}" is ignored and the nodes may be disrupted`,
      instead: `"true", or no annotation`,
    };
  }
}
