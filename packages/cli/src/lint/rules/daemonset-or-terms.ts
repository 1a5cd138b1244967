/** DaemonSets whose OR-terms choose different instance types of one pool. Rules S-67, S-68. */
import type { Facts } from "../facts.ts";
import { requiredTerms } from "../node-demands.ts";
import type { PoolFacts } from "../pool-facts.ts";
import type { Rule } from "../rule.ts";
import type { Workload } from "../workloads.ts";

export const daemonSetOrTerms: Rule = {
  name: "daemonset-or-terms",
  severity: "warning",
  summary: "A DaemonSet has several node affinity terms that match different instance types of one pool.",
  *check(facts) {
    for (const workload of facts.workloads.filter(({ kind }) => kind === "DaemonSet")) {
      const pool = firstDiffering(workload, facts);
      if (pool === undefined) continue;
      yield {
        severity: "warning",
        manifest: workload.manifest,
        path: [...workload.path, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"],
        message: `its terms match different instance types of NodePool ${pool.name}: Karpenter forgets terms from one type to the next and may plan nodes without room for this DaemonSet (Joinery weighs each type by all terms)`,
        instead: "one term that lists all values, or one DaemonSet per kind of node",
      };
    }
  },
};

function firstDiffering(workload: Workload, { pools, vocabulary }: Facts): PoolFacts | undefined {
  const sets = requiredTerms(workload);
  if (sets.length < 2) return undefined;
  return pools.find(({ requirements, types }) => {
    const admitted = sets.filter((set) => requirements.isCompatible(set, vocabulary.wellKnown));
    const matched = admitted.map((set) => types.map((type) => (set.intersects(type.requirements) ? "1" : "0")).join(""));
    return new Set(matched).size > 1;
  });
}
