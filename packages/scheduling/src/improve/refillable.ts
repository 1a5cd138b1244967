/**
 * Nodes of the greedy plan that count for a limit that binds, and whose pods may yet be others: the pool keeps as many nodes, opened in the same
 * order, so that its limits allow them again, and each holds as much of what is limited as before, so that a heavier pool stays as full.
 */
import type { OpenClaim } from "../solve/open-claims.ts";
import { classOf } from "../solve/pod-classes.ts";
import type { Solver } from "../solve/solve.ts";
import type { Template } from "../solve/template.ts";
import { isBound } from "./pod-groups.ts";

export interface Refillable {
  readonly claim: OpenClaim;
  /** By resource: what its pods have to ask for together, at least; 0 where nothing is limited. */
  readonly least: Float64Array;
}

/** Of what the greedy plan put there. Pods seldom add up to exactly as much. */
const KEPT_SHARE = 0.99;

/** In the order in which they were opened: all claims of pools all of whose pods ask for nothing but room and labels. */
export function refillables(greedy: Solver): readonly Refillable[] {
  const { claims, classes, axis } = greedy.view;
  const isPlain = (pod: number) => {
    const { marks, searches } = classOf(pod, classes);
    const { topology, hostPorts, volumes } = searches[greedy.searchOfPod[pod]!]!;
    return marks.groups.length === 0 && topology === undefined && hostPorts === undefined && volumes === undefined;
  };
  const closed = new Set(claims.list.filter(({ pods, held }) => held.size > 0 || !pods.every(isPlain)).map(({ template }) => template));
  return claims.list.flatMap((claim, index): Refillable[] => {
    const { template } = claim;
    if (!isBound(template) || closed.has(template)) return [];
    const limited = limitedResources(template, axis.names);
    return limited.includes(true) ? [{ claim, least: claims.usedBy(index).map((used, r) => (limited[r]! ? used * KEPT_SHARE : 0)) }] : [];
  });
}

function limitedResources({ nodePool }: Template, names: readonly string[]): readonly boolean[] {
  return names.map((name) => nodePool.spec.limits?.[name] !== undefined);
}
