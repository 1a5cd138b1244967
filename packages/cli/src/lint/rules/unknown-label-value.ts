/** Values of known labels that no node can have. Rules S-41, A-103. */
import { ARCH_LABEL, CAPACITY_TYPE_LABEL, normalizeLabel, OS_LABEL, ZONE_LABEL } from "@joinery/api";
import type { Facts } from "../facts.ts";
import type { Remark, Severity } from "../finding.ts";
import { knownLabels } from "../known-labels.ts";
import { nodeDemands } from "../node-demands.ts";
import { REQUIREMENTS } from "../paths.ts";
import type { Rule } from "../rule.ts";
import { type UnknownValues, unknownValues } from "../unknown-values.ts";
import { listText } from "../words.ts";

/** Labels whose few values people know; a strange one among others is a slip. Lists of families and the like are often made for all regions. */
const SHORT_LISTS = new Set([ARCH_LABEL, OS_LABEL, CAPACITY_TYPE_LABEL, ZONE_LABEL]);

export const unknownLabelValue: Rule = {
  name: "unknown-label-value",
  severity: "error",
  summary: "A requirement, node selector or affinity names a value that no instance type, pool or node has.",
  *check(facts) {
    if (facts.pools.length === 0) return;
    yield* inWorkloads(facts);
    yield* inPools(facts);
  },
};

function* inWorkloads(facts: Facts): Iterable<Remark> {
  const labels = knownLabels(facts);
  for (const workload of facts.workloads) {
    for (const { item, path, firmness } of nodeDemands(workload)) {
      const unknown = labels.hasKey(item.key) ? unknownValues(item, labels) : undefined;
      if (unknown === undefined) continue;
      const isDaemon = workload.kind === "DaemonSet";
      if (isDaemon && unknown.intended === undefined) continue;
      const isFatal = unknown.isAll && !unknown.isElsewhere && firmness === "required" && !isDaemon && !workload.isRunning;
      const happens = !unknown.isAll
        ? "only the other values count"
        : isDaemon
          ? "the DaemonSet runs on none of the pools' nodes"
          : firmness === "required"
            ? "these pods never get a new node"
            : `this ${firmness === "preferred" ? "preference" : "term"} never matches`;
      yield {
        severity: isFatal ? "error" : unknown.isAll ? "warning" : partial(item.key),
        manifest: workload.manifest,
        path,
        ...textOf(item.key, unknown, happens),
      };
    }
  }
}

/** Where no value is left, another rule says that the pool has no types. */
function* inPools(facts: Facts): Iterable<Remark> {
  const labels = knownLabels(facts);
  for (const { pool, manifest, isSound } of facts.pools) {
    for (const [index, item] of pool.spec.template.spec.requirements.entries()) {
      const key = normalizeLabel(item.key, facts.vocabulary);
      // What the controller warns of by itself, and zones, have rules of their own.
      if (!isSound || key === ZONE_LABEL || Object.hasOwn(facts.vocabulary.knownValues, key) || !facts.catalogue.values.has(key)) continue;
      const unknown = unknownValues(item, labels);
      if (unknown === undefined || unknown.isAll) continue;
      yield {
        severity: partial(key),
        manifest,
        path: [...REQUIREMENTS, index, "values"],
        ...textOf(key, unknown, "only the other values count"),
      };
    }
  }
}

function partial(key: string): Severity {
  return SHORT_LISTS.has(normalizeLabel(key)) ? "warning" : "note";
}

/** For findings that another catalogue would end. */
const OTHER_CATALOGUE = "the catalogue of the cluster that is meant (--region, --catalog FILE), or values of this one";

function textOf(
  key: string,
  { values, intended, known, isElsewhere }: UnknownValues,
  happens: string,
): Pick<Remark, "message" | "instead"> {
  const hint = intended === undefined ? "" : ` (is ${intended} meant?)`;
  return {
    message: `no instance type${isElsewhere ? " of this catalogue" : ""}, pool or node has ${key} ${listText(values.map((value) => value || '""'))}${hint}: ${happens}`,
    instead: intended ?? (isElsewhere ? OTHER_CATALOGUE : `a value that exists, such as ${listText(known)}`),
  };
}
