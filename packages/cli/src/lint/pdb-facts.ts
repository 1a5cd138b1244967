/** PodDisruptionBudgets and the workloads whose pods they select. Rules D-46a, D-46c, D-46d. */
import { type PodDisruptionBudget, PodDisruptionBudgets } from "@joinery/api";
import { matchesLabelSelector } from "@joinery/kube";
import type { Manifest } from "../manifests/manifest.ts";
import type { Facts } from "./facts.ts";
import { namespaceOf } from "./located.ts";
import type { Workload } from "./workloads.ts";

export interface PdbFacts {
  readonly pdb: PodDisruptionBudget;
  readonly manifest: Manifest;
  /** A missing selector selects nothing, an empty one everything. */
  readonly workloads: readonly Workload[];
  /** Workloads of its namespace, whether selected or not. */
  readonly neighbours: number;
}

export function pdbFacts({ objects, workloads }: Facts): readonly PdbFacts[] {
  const byNamespace = Map.groupBy(workloads, ({ namespace }) => namespace);
  return objects.of(PodDisruptionBudgets).map(({ object: pdb, manifest }) => {
    const near = byNamespace.get(namespaceOf(pdb)) ?? [];
    const { selector } = pdb.spec;
    const selected = selector === undefined ? [] : near.filter(({ labels }) => matchesLabelSelector(selector, labels));
    return { pdb, manifest, workloads: selected, neighbours: near.length };
  });
}
