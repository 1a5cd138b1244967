/** Edits of other pods, whose required anti-affinity keeps a pod away: no edit of the pod itself could help. Rule S-153. */
import { HOSTNAME_LABEL, normalizeLabel } from "@joinery/api";
import type { PodShape } from "../problem.ts";
import type { Group } from "../topology/topology.ts";
import type { AskedPool } from "./candidate-edits.ts";
import { isMeant, type OthersEdit } from "./edit.ts";
import type { Surroundings } from "./residents.ts";

/** Apart by node instead of by zone, or only where possible; for each of the workloads that keep the pod away. */
export function softerOthers(pools: readonly AskedPool[], { problem, view }: Surroundings): OthersEdit[] {
  const refusing = new Set(pools.flatMap(({ answer: { refused } }) => (refused?.companions ?? []).filter(isInverse)));
  if (refusing.size === 0) return [];
  const shapes = new Set([...problem.pods, ...(problem.boundPods ?? [])].map(({ shape }) => shape));
  const edits: OthersEdit[] = [];
  for (const shape of shapes) {
    for (const [index, group] of view.topology.announceInverse(shape).entries()) {
      if (refusing.has(group) && !edits.some((edit) => isMeant(shape, edit))) edits.push(...softer(shape, index));
    }
  }
  return edits;
}

function isInverse({ identity }: Group): boolean {
  return identity.isInverse;
}

function softer({ namespace, labels, affinity }: PodShape, index: number): OthersEdit[] {
  const from = affinity!.podAntiAffinity!.requiredDuringSchedulingIgnoredDuringExecution![index]!;
  const soft: OthersEdit = { kind: "others-term", of: { namespace, labels }, index, from };
  return normalizeLabel(from.topologyKey) === HOSTNAME_LABEL ? [soft] : [{ ...soft, to: { ...from, topologyKey: HOSTNAME_LABEL } }, soft];
}
