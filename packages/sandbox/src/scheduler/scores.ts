/** Which of the fitting nodes is best: kube-scheduler's default scores with their weights. Image locality is left out: no images here. */

import type { Cycle } from "./filters.ts";
import { interPodScores } from "./inter-pod.ts";
import { isTolerated, matchesTerm } from "./node-match.ts";
import type { PodInfo } from "./pod-info.ts";
import type { NodeInfo, Snapshot } from "./snapshot.ts";
import { spreadScores, spreadStates } from "./spread.ts";

/** Weights of the default profile. */
const WEIGHTS = { taints: 3, nodeAffinity: 2, spread: 2, interPod: 2, fit: 1, balance: 1 } as const;

/** Requests of a container that names none, for the scores alone, as kube-scheduler assumes them: 100m and 200 MiB. */
const ASSUMED_MILLICORES = 100;
const ASSUMED_BYTES = 200 * 1024 * 1024;

export function scoresOf(cycle: Cycle, snapshot: Snapshot, candidates: readonly NodeInfo[]): number[] {
  const { info, views } = cycle;
  const totals = candidates.map((node) => WEIGHTS.fit * leastAllocated(info, node) + WEIGHTS.balance * balance(info, node));
  add(totals, WEIGHTS.taints, reversed(candidates.map((node) => disliked(info, node))));
  const preferred = info.pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  if (preferred.length > 0) {
    const sums = candidates.map((node) =>
      preferred.reduce((sum, { weight, preference }) => sum + (matchesTerm(preference, node) ? weight : 0), 0),
    );
    add(totals, WEIGHTS.nodeAffinity, normalized(sums));
  }
  const soft = spreadStates(info, snapshot, "ScheduleAnyway");
  if (soft.length > 0) {
    add(totals, WEIGHTS.spread, spreadScores(soft, candidates));
  }
  const { podAffinity, podAntiAffinity } = info.pod.spec.affinity ?? {};
  if (podAffinity?.preferredDuringSchedulingIgnoredDuringExecution || podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution) {
    const namespaceLabels = (name: string) => views.namespaces.find(name)?.metadata?.labels;
    add(totals, WEIGHTS.interPod, interPodScores(info, snapshot, namespaceLabels, candidates));
  }
  return totals;
}

function add(totals: number[], weight: number, scores: readonly number[]): void {
  for (const [at, score] of scores.entries()) {
    totals[at] = (totals[at] ?? 0) + weight * score;
  }
}

function fractions({ requests }: PodInfo, { allocatable, requested }: NodeInfo): readonly [number, number] {
  const share = (name: string, assumed: number): number => {
    const total = allocatable[name] ?? 0;
    return total === 0 ? 1 : Math.min(1, ((requested[name] ?? 0) + (requests[name] || assumed)) / total);
  };
  return [share("cpu", ASSUMED_MILLICORES), share("memory", ASSUMED_BYTES)];
}

function leastAllocated(info: PodInfo, node: NodeInfo): number {
  const [cpu, memory] = fractions(info, node);
  return Math.floor((100 * (1 - cpu) + 100 * (1 - memory)) / 2);
}

function balance(info: PodInfo, node: NodeInfo): number {
  const [cpu, memory] = fractions(info, node);
  return Math.floor(100 * (1 - Math.abs(cpu - memory) / 2));
}

function disliked({ pod }: PodInfo, { taints }: NodeInfo): number {
  return taints.filter((taint) => taint.effect === "PreferNoSchedule" && !isTolerated(taint, pod.spec.tolerations)).length;
}

function normalized(sums: readonly number[]): number[] {
  const most = Math.max(...sums);
  return sums.map((sum) => (most === 0 ? 0 : Math.floor((100 * sum) / most)));
}

function reversed(sums: readonly number[]): number[] {
  const most = Math.max(...sums);
  return sums.map((sum) => (most === 0 ? 100 : 100 - Math.floor((100 * sum) / most)));
}
