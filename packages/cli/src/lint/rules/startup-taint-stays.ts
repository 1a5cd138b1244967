/** Startup taints that nothing on the node can take away. Rules S-74, L-102. */
import { taintText, untoleratedTaints } from "@joinery/scheduling";
import { TEMPLATE_SPEC } from "../paths.ts";
import type { Rule } from "../rule.ts";

export const startupTaintStays: Rule = {
  name: "startup-taint-stays",
  severity: "warning",
  summary: "No DaemonSet of the input tolerates a startup taint, so probably nothing removes it.",
  *check({ pools, workloads }) {
    const daemonSets = workloads.filter(({ kind }) => kind === "DaemonSet");
    for (const { pool, manifest } of pools) {
      for (const [index, taint] of (pool.spec.template.spec.startupTaints ?? []).entries()) {
        if (daemonSets.some(({ spec }) => untoleratedTaints([taint], spec.tolerations ?? []).length === 0)) continue;
        const isOpen = daemonSets.length === 0;
        const what = isOpen ? "the input has no DaemonSet that could" : "no DaemonSet of the input tolerates it and could";
        yield {
          severity: isOpen ? "note" : "warning",
          manifest,
          path: [...TEMPLATE_SPEC, "startupTaints", index],
          message: `a startup taint stays until something takes it away, and ${what}: unless a controller elsewhere removes ${taintText(taint)}, nodes never get initialized and pods wait`,
          instead: `a toleration of ${taint.key} in the DaemonSet that makes the node ready and removes the taint`,
        };
      }
    }
  },
};
