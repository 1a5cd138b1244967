/** Memory and storage in units that mean next to nothing: `512m` is half a byte, `512` are bytes. */
import { type PodSpec, parseResources, type QuantityText } from "@joinery/api";
import type { FieldPath } from "../../manifests/field-path.ts";
import type { Remark } from "../finding.ts";
import type { Rule } from "../rule.ts";
import type { Workload } from "../workloads.ts";

/** Of so few bytes no process lives. */
const BYTES_MEANT_MIN = 64 * 1024;
const RESOURCES = ["memory", "ephemeral-storage"] as const;

export const requestNearlyNothing: Rule = {
  name: "request-nearly-nothing",
  severity: "warning",
  summary: "A pod asks for a few bytes of memory or storage, or less: the unit is not the one that was meant.",
  *check({ workloads }) {
    for (const workload of workloads) {
      for (const { field, text } of amountsOf(workload.spec)) {
        const bytes = parseResources({ memory: text }).memory ?? 0;
        if (bytes <= 0 || bytes >= BYTES_MEANT_MIN) continue;
        yield remarkOf(workload, field, String(text));
      }
    }
  },
};

function remarkOf({ manifest, path, kind }: Workload, field: FieldPath, text: string): Remark {
  const isLimit = field.includes("limits");
  const happens = isLimit
    ? "the container is ended at once for using more"
    : kind === "DaemonSet"
      ? "nodes are planned as if it needed nothing"
      : "nodes are planned as if these pods needed nothing, and run out of it";
  const number = /^\d+/.exec(text)?.[0] ?? "64";
  return {
    severity: "warning",
    manifest,
    path: [...path, "spec", ...field],
    message: `${text} is ${text.endsWith("m") ? "thousandths of a byte" : "a number of bytes"}: ${happens}`,
    instead: `${number}Mi`,
  };
}

function* amountsOf({ containers, initContainers = [] }: PodSpec): Iterable<{ readonly field: FieldPath; readonly text: QuantityText }> {
  const lists = { containers, initContainers };
  for (const list of ["containers", "initContainers"] as const) {
    for (const [index, { resources = {} }] of lists[list].entries()) {
      for (const side of ["requests", "limits"] as const) {
        for (const resource of RESOURCES) {
          const text = resources[side]?.[resource];
          if (text !== undefined) yield { field: [list, index, "resources", side, resource], text };
        }
      }
    }
  }
}
