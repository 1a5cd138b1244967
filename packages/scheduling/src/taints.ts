/** Which taints keep a pod away. Rule S-114. */
import { type Taint, type Toleration, tolerates } from "@joinery/api";

/** Taints that no toleration matches, whatever their effect (S-114). */
export function untoleratedTaints(taints: readonly Taint[], tolerations: readonly Toleration[]): readonly Taint[] {
  return taints.length === 0 ? taints : taints.filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)));
}

/** Those of them with which kube-scheduler would refuse to bind; others are preferences. */
export function keepingAway(taints: readonly Taint[], tolerations: readonly Toleration[]): readonly Taint[] {
  return untoleratedTaints(taints, tolerations).filter(({ effect }) => effect !== "PreferNoSchedule");
}

/** `key=value:effect`, as kubectl prints it. */
export function taintText({ key, value, effect }: Taint): string {
  return value === undefined || value === "" ? `${key}:${effect}` : `${key}=${value}:${effect}`;
}
