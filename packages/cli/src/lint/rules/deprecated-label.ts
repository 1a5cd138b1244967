/** Old names of well-known labels. Rules S-28, A-94. */
import type { Facts } from "../facts.ts";
import type { Remark } from "../finding.ts";
import { nodeDemands } from "../node-demands.ts";
import { REQUIREMENTS } from "../paths.ts";
import type { Rule } from "../rule.ts";
import { spreads } from "../spreads.ts";

export const deprecatedLabel: Rule = {
  name: "deprecated-label",
  severity: "warning",
  summary: "A label of Kubernetes' beta time is used, which new nodes need not have.",
  *check(facts) {
    for (const { pool, manifest } of facts.pools) {
      for (const [index, { key }] of pool.spec.template.spec.requirements.entries()) {
        yield* remarks(key, { manifest, path: [...REQUIREMENTS, index, "key"] }, IN_POOL, facts);
      }
    }
    for (const workload of facts.workloads) {
      const { manifest } = workload;
      for (const { item, path } of nodeDemands(workload)) yield* remarks(item.key, { manifest, path }, IN_POD, facts);
      for (const { constraint, path } of spreads(workload)) {
        yield* remarks(constraint.topologyKey, { manifest, path: [...path, "topologyKey"] }, IN_POD, facts);
      }
    }
  },
};

const IN_POOL = "it is read as that, and other tools that read the pool may not do so";
const IN_POD = "nodes are planned as if that were written, but kube-scheduler looks for the old label, which new nodes need not have";

function* remarks(key: string, place: Pick<Remark, "manifest" | "path">, happens: string, { vocabulary }: Facts): Iterable<Remark> {
  const successor = Object.hasOwn(vocabulary.normalized, key) ? vocabulary.normalized[key]! : undefined;
  if (successor === undefined || !/(^|\.)beta\.kubernetes\.io\//.test(key)) return;
  yield {
    severity: "warning",
    ...place,
    message: `${key} is the old name of ${successor}: ${happens}`,
    instead: successor,
  };
}
