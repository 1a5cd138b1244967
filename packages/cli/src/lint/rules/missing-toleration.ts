/** Pods that tolerate none of the pools. Rules S-114, S-115. */
import type { Taint } from "@joinery/api";
import { editsText, taintText } from "@joinery/scheduling";
import type { Facts } from "../facts.ts";
import { refusedWorkloads } from "../refusals.ts";
import type { Rule } from "../rule.ts";
import { listText } from "../words.ts";
import type { Workload } from "../workloads.ts";

export const missingToleration: Rule = {
  name: "missing-toleration",
  severity: "error",
  summary: "Every pool, or every one with the device that the pod asks for, is tainted, and the pod tolerates none of them.",
  *check(facts) {
    for (const { workload, reasons, cause, device } of refusedWorkloads(facts)) {
      if (cause !== "taint") continue;
      const taints = reasons.flatMap((reason) => {
        const isMeant = reason.kind === "untolerated-taint" && device?.pools.includes(reason.nodePool) !== false;
        return isMeant ? reason.taints : [];
      });
      const texts = new Set(taints.map(taintText));
      yield {
        severity: "error",
        manifest: workload.manifest,
        path: [...workload.path, "spec", "tolerations"],
        message: `every pool${device === undefined ? "" : ` with ${device.resource}`} is tainted (${listText(texts)}) and the pods tolerate none of them, so they are never placed`,
        instead:
          correctionFor(workload, facts) ??
          `${tolerationText(taints[0]!)}, or a pool${device === undefined ? "" : ` with ${device.resource}`} without taints`,
      };
    }
  },
};

/** Where a toleration of the pods is nearly the one that they need. */
function correctionFor(workload: Workload, { answers }: Facts): string | undefined {
  const [edit, ...others] = answers.editsFor(workload) ?? [];
  return edit?.kind === "toleration" && others.length === 0 ? editsText([edit]) : undefined;
}

function tolerationText({ key, value, effect }: Taint): string {
  if (value === undefined || value === "") return `tolerations: [{ key: ${key}, operator: Exists, effect: ${effect} }]`;
  return `tolerations: [{ key: ${key}, value: "${value}", effect: ${effect} }]`;
}
