/** What cannot be placed, whatever the pools are. Rules S-194, S-195, and terms that select no node. */
import type { PodShape } from "../problem.ts";
import type { Reason } from "../reason.ts";

/** Constraints that would have to be ignored, and therefore keep the pod from being placed at all. */
export function unsupportedFeatures(shape: PodShape): readonly Reason[] {
  const claims: readonly Reason[] = shape.hasResourceClaims ? [{ kind: "unsupported", feature: "dynamic resource claims" }] : [];
  return selectsNoNode(shape) ? [...claims, NO_TERM] : claims;
}

const NO_TERM: Reason = {
  kind: "invalid-requirement",
  key: "nodeAffinity",
  problem: "empty-terms",
  message: "no required node selector term has an expression, so Kubernetes lets the pod run on no node",
};

/** Required node affinity in which every term is empty: in Kubernetes an empty term selects nothing. */
function selectsNoNode({ affinity }: PodShape): boolean {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms?.every(({ matchExpressions = [], matchFields = [] }) => matchExpressions.length + matchFields.length === 0) ?? false;
}
