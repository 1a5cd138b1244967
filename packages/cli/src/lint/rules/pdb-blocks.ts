/** PodDisruptionBudgets that never let a pod go. Rules S-16, D-46c, D-46d. */
import type { Remark } from "../finding.ts";
import { type PdbFacts, pdbFacts } from "../pdb-facts.ts";
import type { Rule } from "../rule.ts";
import { countText, listText } from "../words.ts";

const HAPPENS = "nodes with such a pod are never consolidated, and draining them waits until terminationGracePeriod ends it, or for ever";

export const pdbBlocks: Rule = {
  name: "pdb-blocks",
  severity: "error",
  summary: "A PodDisruptionBudget never allows an eviction, so nodes with its pods cannot be drained.",
  *check(facts) {
    for (const budget of pdbFacts(facts)) {
      const remark = blocksByItself(budget) ?? blocksItsWorkloads(budget);
      if (remark !== undefined) yield remark;
    }
  },
};

function blocksByItself({ pdb, manifest }: PdbFacts): Remark | undefined {
  const { maxUnavailable, minAvailable } = pdb.spec;
  const instead = "maxUnavailable: 1, or a percentage that leaves at least one pod";
  if (maxUnavailable !== undefined && /^0+%?$/.test(String(maxUnavailable))) {
    const message = `maxUnavailable ${maxUnavailable} never allows an eviction: ${HAPPENS}`;
    return { severity: "error", manifest, path: ["spec", "maxUnavailable"], message, instead };
  }
  if (minAvailable === "100%") {
    return {
      severity: "error",
      manifest,
      path: ["spec", "minAvailable"],
      message: `minAvailable 100% never allows an eviction: ${HAPPENS}`,
      instead,
    };
  }
  return undefined;
}

/** As many must be available as there are. Percentages are rounded up. */
function blocksItsWorkloads({ pdb, manifest, workloads }: PdbFacts): Remark | undefined {
  const { minAvailable } = pdb.spec;
  if (minAvailable === undefined || workloads.length === 0 || workloads.some(({ replicas }) => replicas === undefined)) return undefined;
  const pods = workloads.reduce((sum, { replicas }) => sum + (replicas ?? 0), 0);
  const text = String(minAvailable);
  const wanted = text.endsWith("%") ? Math.ceil((pods * Number.parseInt(text, 10)) / 100) : Number(text);
  if (pods === 0 || wanted < pods) return undefined;
  const names = listText(workloads.map(({ kind, name }) => `${kind}/${name}`));
  return {
    severity: "warning",
    manifest,
    path: ["spec", "minAvailable"],
    message: `minAvailable ${text} keeps ${wanted} of the ${countText(pods, "pod")} of ${names}, so none may be evicted: ${HAPPENS}`,
    instead: pods === 1 ? "maxUnavailable: 1, or at least two replicas" : `minAvailable: ${pods - 1} or less, or maxUnavailable: 1`,
  };
}
