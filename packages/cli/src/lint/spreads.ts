/** Topology spread constraints of workloads. Rules S-128…S-148. */
import { normalizeLabel, type TopologySpreadConstraint } from "@joinery/api";
import type { FieldPath } from "../manifests/field-path.ts";
import type { Workload } from "./workloads.ts";

export interface SpreadFacts {
  readonly constraint: TopologySpreadConstraint;
  readonly path: FieldPath;
}

export function spreads({ spec, path }: Workload): readonly SpreadFacts[] {
  return (spec.topologySpreadConstraints ?? []).map((constraint, index) => ({
    constraint,
    path: [...path, "spec", "topologySpreadConstraints", index],
  }));
}

/** Those that keep pods pending. */
export function hardSpreads(workload: Workload): readonly SpreadFacts[] {
  return spreads(workload).filter(({ constraint }) => constraint.whenUnsatisfiable === "DoNotSchedule");
}

/** The key that a topology key really means (S-28). */
export function spreadKeyOf(topologyKey: string): string {
  return normalizeLabel(topologyKey);
}
