/** Node classes that pools name and the input does not have. Rules A-1, A §11.2 (NodeClassNotFound). */
import { nearWord } from "@joinery/scheduling";
import { TEMPLATE_SPEC } from "../paths.ts";
import type { Rule } from "../rule.ts";
import { listText } from "../words.ts";

export const nodeClassMissing: Rule = {
  name: "node-class-missing",
  severity: "error",
  summary: "The node class of a pool is not in the input, or is of a kind that the provider does not have.",
  *check({ pools, wholeKinds }) {
    for (const { pool, manifest, nodeClass } of pools) {
      const { group, kind, name } = pool.spec.template.spec.nodeClassRef;
      const path = [...TEMPLATE_SPEC, "nodeClassRef"];
      if (nodeClass.kind === "foreign") {
        yield {
          severity: "warning",
          manifest,
          path: [...path, "kind"],
          message: `this catalogue is not for node classes of kind ${kind} of ${group}: the controller of its provider leaves the pool alone, and nothing about it was checked`,
          instead: "a node class of the provider that runs, or the catalogue of the pool's provider (--catalog FILE)",
        };
      } else if (nodeClass.kind === "missing" && nodeClass.others.length > 0) {
        const intended = nearWord(name, nodeClass.others);
        yield {
          severity: "error",
          manifest,
          path: [...path, "name"],
          message: `there is no ${kind} ${name} in the input, only ${listText(nodeClass.others)}: the pool is not ready and gets no nodes`,
          instead: intended === undefined ? `one of ${listText(nodeClass.others)}, or a node class of that name` : intended,
        };
      } else if (nodeClass.kind === "missing" && wholeKinds.has(kind)) {
        yield {
          severity: "error",
          manifest,
          path: [...path, "name"],
          message: `the cluster has no ${kind} at all, so not ${name} either: the pool is not ready and gets no nodes`,
          instead: `apply the ${kind} first, or give it among the files`,
        };
      } else if (nodeClass.kind === "missing") {
        yield {
          severity: "note",
          manifest,
          path: [...path, "name"],
          message: `the input has no ${kind}; whether ${name} exists and is ready was not checked`,
          instead: `the ${kind} among the files`,
        };
      }
    }
  },
};
