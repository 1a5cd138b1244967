/** Pools that no instance type is left for. Rule S-64. */
import { Requirements, sentence } from "@joinery/scheduling";
import type { FieldPath } from "../../manifests/field-path.ts";
import { conflictText } from "../../plan/empty-pool.ts";
import type { Facts } from "../facts.ts";
import type { Remark } from "../finding.ts";
import { knownLabels } from "../known-labels.ts";
import { REQUIREMENTS } from "../paths.ts";
import type { PoolFacts } from "../pool-facts.ts";
import { itemText } from "../requirement-text.ts";
import type { Rule } from "../rule.ts";
import { typesUnder } from "../type-facts.ts";
import { unknownValues } from "../unknown-values.ts";
import { listText } from "../words.ts";
import { contradictions } from "./contradictory-requirements.ts";
import { isWithinLimits } from "./limit-too-small.ts";
import { minValuesShortages } from "./min-values-unreachable.ts";

export const poolWithoutTypes: Rule = {
  name: "pool-without-types",
  severity: "error",
  summary: "No instance type of the catalogue can be a node of the pool, so no pod can use it.",
  *check(facts) {
    for (const pool of facts.pools) {
      if (!pool.isSound || contradictions(pool).length > 0) continue;
      if (pool.types.length === 0) yield withoutTypes(pool, facts);
      else yield* withoutRoom(pool, facts);
    }
  },
};

function withoutTypes(pool: PoolFacts, facts: Facts): Remark {
  const { manifest } = pool;
  const guilty = guiltyRequirement(pool);
  if (guilty === undefined) {
    const conflict = conflictText(pool.pool, pool.catalogue);
    const together = conflict === undefined ? "all requirements" : conflict.what;
    const message = `none of the ${pool.catalogue.types.length} instance types meets ${together} together, so the pool never gets a node`;
    return { severity: "error", manifest, path: REQUIREMENTS, message, instead: conflict?.instead ?? "fewer requirements, or wider ones" };
  }
  const { text, path, item } = guilty;
  const labels = knownLabels(facts);
  const unknown = unknownValues(item, labels);
  if (item.operator === "In" && item.values?.every((value) => labels.isElsewhere(item.key, value))) {
    const message = `this catalogue has no instance type with ${text}; with it the pool never gets a node, and pods that only it would take were not checked`;
    const instead = "the catalogue of the cluster that is meant (--region, --catalog FILE), or values of this one";
    return { severity: "warning", manifest, path, message, instead };
  }
  const values = labels.valuesOf(item.key);
  const offered = values === undefined ? "" : `; there are ${listText([...values].sort())}`;
  const instead = unknown?.intended === undefined ? `values of ${item.key} that some type has${offered}` : unknown.intended;
  const message = `no instance type with an available offering meets ${text}, so the pool never gets a node`;
  return { severity: "error", manifest, path, message, instead };
}

/** The first requirement that alone leaves no type. */
function guiltyRequirement({ pool, catalogue }: PoolFacts) {
  for (const [index, item] of pool.spec.template.spec.requirements.entries()) {
    const alone = Requirements.fromItems([item]);
    if (typesUnder(alone, catalogue).length > 0) continue;
    const path: FieldPath = [...REQUIREMENTS, index];
    return { path, item, text: itemText(item) };
  }
  return undefined;
}

/** There are types, but the solver drops the pool all the same, or no pod fits there: its DaemonSets take more than any of them has. */
function* withoutRoom(pool: PoolFacts, { answers }: Facts): Iterable<Remark> {
  const reason = answers.droppedReason(pool);
  if ((reason === undefined && answers.hasRoom(pool)) || minValuesShortages(pool).length > 0) return;
  if (!pool.types.some((type) => isWithinLimits(type, pool))) return;
  yield {
    severity: "error",
    manifest: pool.manifest,
    path: REQUIREMENTS,
    message: `${reason === undefined ? "" : `${sentence(reason)}: `}what DaemonSets ask for does not fit on any type of the pool${Object.keys(pool.limits).length === 0 ? "" : " within its limits"}, so it never gets a node`,
    instead: "larger instance types, or DaemonSets that ask for less or do not run on this pool",
  };
}
