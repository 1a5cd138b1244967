/** Pools that end pods before their own grace period is over. Rules L (termination grace period), D-163. */
import { nanosToMs, parseDuration } from "@joinery/api";
import { placeText } from "../../manifests/manifest.ts";
import { durationText } from "../durations.ts";
import { TEMPLATE_SPEC } from "../paths.ts";
import type { Rule } from "../rule.ts";

export const gracePeriodCut: Rule = {
  name: "grace-period-cut",
  severity: "warning",
  summary: "A pool's terminationGracePeriod is shorter than the grace period of pods that run on it.",
  *check({ pools, workloads, answers }) {
    for (const pool of pools) {
      const text = pool.pool.spec.template.spec.terminationGracePeriod;
      const nanos = text === undefined ? undefined : parseDuration(text);
      if (nanos === undefined) continue;
      const graceMs = nanosToMs(nanos);
      for (const workload of workloads) {
        const podMs = (workload.spec.terminationGracePeriodSeconds ?? 30) * 1000;
        if (podMs <= graceMs || !answers.of(workload).takers.includes(pool)) continue;
        yield {
          severity: "warning",
          manifest: workload.manifest,
          path: [...workload.path, "spec", "terminationGracePeriodSeconds"],
          message: `these pods may take ${durationText(podMs)} to end, but NodePool ${pool.name} ends its nodes ${text} after their deletion begins (${placeText(pool.manifest, [...TEMPLATE_SPEC, "terminationGracePeriod"])}): the pods are killed before`,
          instead: `terminationGracePeriod of more than ${durationText(podMs)} in the pool, or a shorter grace period of the pods`,
        };
      }
    }
  },
};
