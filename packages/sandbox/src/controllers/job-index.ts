/** Completion indexes of Indexed Jobs. Pure. */
import type { Pod } from "@joinery/api";

export const INDEX_ANNOTATION = "batch.kubernetes.io/job-completion-index";

export function indexOf(pod: Pod): number {
  return Number(pod.metadata?.annotations?.[INDEX_ANNOTATION] ?? -1);
}

export function completedIndexes(succeeded: readonly Pod[]): Set<number> {
  return new Set(succeeded.map(indexOf));
}

/** Indexes that no pod works on and that are not `closed`, ascending. */
export function openIndexes(completions: number, active: readonly Pod[], closed: Iterable<number>): number[] {
  const taken = new Set([...active.map(indexOf), ...closed]);
  return Array.from({ length: completions }, (_, index) => index).filter((index) => !taken.has(index));
}

/** `0-2,5`: runs of indexes as Kubernetes writes them. */
export function indexText(indexes: readonly number[]): string {
  const sorted = [...indexes].sort((a, b) => a - b);
  const runs: [number, number][] = [];
  for (const index of sorted) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === index - 1) {
      last[1] = index;
    } else {
      runs.push([index, index]);
    }
  }
  return runs.map(([from, to]) => (from === to ? String(from) : `${from}${to === from + 1 ? "," : "-"}${to}`)).join(",");
}
