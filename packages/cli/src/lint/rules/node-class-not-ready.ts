/** Pools and node classes that say themselves that they are not ready. Rules A-117, S-59. */
import type { Condition, KubeObject } from "@joinery/api";
import { TEMPLATE_SPEC } from "../paths.ts";
import type { PoolFacts } from "../pool-facts.ts";
import type { Rule } from "../rule.ts";

interface WithConditions extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export const nodeClassNotReady: Rule = {
  name: "node-class-not-ready",
  severity: "warning",
  summary: "A pool or its node class has a condition Ready that is not True, so the pool gets no nodes.",
  *check({ pools }) {
    for (const facts of pools) {
      const { pool, manifest, nodeClass } = facts;
      const { kind, name } = pool.spec.template.spec.nodeClassRef;
      const trouble = nodeClass.kind === "found" ? troubleOf(nodeClass.object) : undefined;
      const own = notReady(pool);
      if (trouble !== undefined) {
        yield {
          severity: "warning",
          manifest,
          path: [...TEMPLATE_SPEC, "nodeClassRef", "name"],
          message: `${kind} ${name} ${trouble}: the pool gets no nodes until that is over`,
          instead: `a ${kind} that is ready; its status says what it lacks`,
        };
      } else if (own !== undefined) {
        yield {
          severity: "warning",
          manifest,
          path: ["status", "conditions"],
          message: `the pool's condition Ready is ${own}: it gets no nodes until that is over`,
          instead: "what the condition asks for",
        };
      }
    }
  },
};

/** Nothing in the input says that the pool could not be used. */
export function isClassReady({ pool, nodeClass }: PoolFacts): boolean {
  const isMissed = nodeClass.kind === "missing" && nodeClass.others.length > 0;
  return !isMissed && notReady(pool) === undefined && (nodeClass.kind !== "found" || troubleOf(nodeClass.object) === undefined);
}

function troubleOf(object: WithConditions): string | undefined {
  if (object.metadata?.deletionTimestamp !== undefined) return "is being deleted";
  const ready = notReady(object);
  return ready && `has the condition Ready ${ready}`;
}

function notReady(object: WithConditions): string | undefined {
  const ready = object.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || ready.status === "True") return undefined;
  const because = [ready.reason, ready.message].filter((text) => text !== undefined && text !== "").join(", ");
  return because === "" ? ready.status : `${ready.status} (${because})`;
}
