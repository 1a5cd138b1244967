/** Every label that a pod asks of its node, with where it asks and how firmly. Rules S-46, S-108. */
import type { NodeSelectorRequirement, NodeSelectorTerm } from "@joinery/api";
import { Requirements } from "@joinery/scheduling";
import type { FieldPath } from "../manifests/field-path.ts";
import type { Workload } from "./workloads.ts";

export interface NodeDemand {
  readonly item: NodeSelectorRequirement;
  readonly path: FieldPath;
  /** `required`: else the pod has no place; `alternative`: one of several OR-terms; `preferred`: only a wish. */
  readonly firmness: "required" | "alternative" | "preferred";
}

export function nodeDemands({ spec, path }: Workload): readonly NodeDemand[] {
  const at = [...path, "spec"];
  const affinityPath = [...at, "affinity", "nodeAffinity"];
  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution: preferred = [] } =
    spec.affinity?.nodeAffinity ?? {};
  const terms = required?.nodeSelectorTerms ?? [];
  const termsPath = [...affinityPath, "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
  const preferredPath = [...affinityPath, "preferredDuringSchedulingIgnoredDuringExecution"];
  return [
    ...Object.entries(spec.nodeSelector ?? {}).map(
      ([key, value]): NodeDemand => ({
        item: { key, operator: "In", values: [value] },
        path: [...at, "nodeSelector", key],
        firmness: "required",
      }),
    ),
    ...terms.flatMap((term, index) => demandsOf(term, [...termsPath, index], terms.length === 1 ? "required" : "alternative")),
    ...preferred.flatMap(({ preference }, index) => demandsOf(preference, [...preferredPath, index, "preference"], "preferred")),
  ];
}

/** What the pod requires, one set per required term; at least one (S-46, S-110). */
export function requiredTerms({ spec: { nodeSelector, affinity } }: Workload): readonly Requirements[] {
  const selected = Requirements.fromLabels(nodeSelector);
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (terms.length === 0) return [selected];
  return terms.map(({ matchExpressions = [] }) => selected.and(Requirements.fromItems(matchExpressions)));
}

/** What can only be met by a node that has the label. */
export function needsLabel({ operator }: NodeSelectorRequirement): boolean {
  return operator !== "NotIn" && operator !== "DoesNotExist";
}

function demandsOf({ matchExpressions = [] }: NodeSelectorTerm, path: FieldPath, firmness: NodeDemand["firmness"]): NodeDemand[] {
  return matchExpressions.map((item, index) => ({ item, path: [...path, "matchExpressions", index], firmness }));
}
