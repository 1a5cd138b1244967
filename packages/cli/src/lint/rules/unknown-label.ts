/** Labels that pods or pools name and no node can have. Rules S-40, S-42, S-46. */

import { nearWord } from "@joinery/scheduling";
import type { Facts } from "../facts.ts";
import type { Remark } from "../finding.ts";
import { knownLabels } from "../known-labels.ts";
import { type NodeDemand, needsLabel, nodeDemands } from "../node-demands.ts";
import { REQUIREMENTS } from "../paths.ts";
import type { Rule } from "../rule.ts";
import type { Workload } from "../workloads.ts";

export const unknownLabel: Rule = {
  name: "unknown-label",
  severity: "error",
  summary: "A node selector or affinity names a label that no pool and no node has, or a pool misspells a well-known one.",
  *check(facts) {
    if (facts.pools.length === 0) return;
    for (const workload of facts.workloads) {
      for (const demand of nodeDemands(workload)) yield* demandRemarks(workload, demand, facts);
    }
    yield* misspeltInPools(facts);
  },
};

const HAPPENS = {
  required: "these pods never get a new node",
  alternative: "this term never matches",
  preferred: "this preference never counts",
} as const;

function* demandRemarks(workload: Workload, { item, path, firmness }: NodeDemand, facts: Facts): Iterable<Remark> {
  const labels = knownLabels(facts);
  if (!needsLabel(item) || labels.hasKey(item.key)) return;
  const intended = labels.findIntendedKey(item.key);
  // DaemonSets follow labels that software puts on nodes while they run; without a likely misspelling that is no fault.
  const isDaemon = workload.kind === "DaemonSet";
  if (isDaemon && (intended === undefined || intended.endsWith("hostname"))) return;
  const happens = isDaemon ? "the DaemonSet runs on none of the pools' nodes" : HAPPENS[firmness];
  yield {
    severity: firmness === "required" && !isDaemon && !workload.isRunning ? "error" : "warning",
    manifest: workload.manifest,
    path,
    message: `no pool and no node of the input has the label ${item.key}${intended === undefined ? "" : ` (is ${intended} meant?)`}: ${happens}`,
    instead: intended ?? `a label that nodes have, or ${item.key} among the labels or requirements of a pool`,
  };
}

/** A pool may make labels up, so only what is nearly a well-known one is surely not meant. */
function* misspeltInPools({ pools, vocabulary }: Facts): Iterable<Remark> {
  for (const { pool, manifest } of pools) {
    for (const [index, { key }] of pool.spec.template.spec.requirements.entries()) {
      if (vocabulary.wellKnown.has(key) || Object.hasOwn(vocabulary.normalized, key)) continue;
      const intended = nearWord(key, vocabulary.wellKnown);
      if (intended === undefined) continue;
      yield {
        severity: "warning",
        manifest,
        path: [...REQUIREMENTS, index, "key"],
        message: `${key} is no well-known label, so it does not choose instance types but is a label of the pool's own (typo of ${intended}?)`,
        instead: intended,
      };
    }
  }
}
