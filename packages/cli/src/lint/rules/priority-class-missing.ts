/** Pods of a PriorityClass that is not there: admission refuses them, so that not even pending pods are made. */
import type { KubeObject } from "@joinery/api";
import { nearWord } from "@joinery/scheduling";
import { nameOf } from "../located.ts";
import type { Rule } from "../rule.ts";
import { listText } from "../words.ts";

/** Every cluster has these, and nobody may make others whose names begin so. */
const OF_SYSTEM = ["system-cluster-critical", "system-node-critical"];
const SYSTEM_PREFIX = "system-";

export const priorityClassMissing: Rule = {
  name: "priority-class-missing",
  severity: "error",
  summary: "A workload names a PriorityClass that does not exist, so its pods are never made.",
  *check({ objects, workloads, wholeKinds }) {
    const own = objects.named<KubeObject>("scheduling.k8s.io/v1", "PriorityClass").map(({ object }) => nameOf(object));
    const known = [...own, ...OF_SYSTEM];
    for (const { spec, manifest, path, isRunning } of workloads) {
      const name = spec.priorityClassName ?? "";
      if (name === "" || known.includes(name) || isRunning) continue;
      const isReserved = name.startsWith(SYSTEM_PREFIX);
      // The classes of a cluster are not read, and files need not have them.
      if (!isReserved && (own.length === 0 || wholeKinds.size > 0)) continue;
      const near = nearWord(name, known);
      yield {
        severity: isReserved ? "error" : "warning",
        manifest,
        path: [...path, "spec", "priorityClassName"],
        message: isReserved
          ? `there is no PriorityClass ${name} and can be none, since names with ${SYSTEM_PREFIX} are reserved: the API server refuses the pods`
          : `there is no PriorityClass ${name} in the input, only ${listText(own.toSorted())}: the API server refuses the pods`,
        instead: near ?? (isReserved ? `${listText(OF_SYSTEM)}, or a class of your own` : "one of these, or a PriorityClass of that name"),
      };
    }
  },
};
