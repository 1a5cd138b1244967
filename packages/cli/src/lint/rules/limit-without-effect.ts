/** Limits on resources that no type of the pool has. Rule S-160. */
import { nearWord } from "@joinery/scheduling";
import type { Rule } from "../rule.ts";

export const limitWithoutEffect: Rule = {
  name: "limit-without-effect",
  severity: "warning",
  summary: "A limit is on a resource that no instance type of the pool has, so it is never reached.",
  *check({ pools, catalogue, overlaidResources }) {
    const resources = new Set(["nodes", ...catalogue.types.flatMap(({ type }) => Object.keys(type.capacity))]);
    for (const { limits, types, manifest } of pools) {
      if (types.length === 0) continue;
      for (const resource of Object.keys(limits).sort()) {
        if (resource === "nodes" || overlaidResources.has(resource) || types.some(({ type }) => (type.capacity[resource] ?? 0) > 0))
          continue;
        const intended = resources.has(resource) ? undefined : nearWord(resource, resources);
        yield {
          severity: "warning",
          manifest,
          path: ["spec", "limits", resource],
          message: `no instance type of the pool has ${resource}, so this limit never limits anything`,
          instead: intended === undefined ? "a limit on a resource of the pool's types, such as cpu, memory or nodes" : `${intended}`,
        };
      }
    }
  },
};
