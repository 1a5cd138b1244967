/** Why a node does not take a pod, in the words of kube-scheduler, and the sentence for a pod that no node takes. */

export interface Refusal {
  /** One text per reason; each is counted over the nodes. */
  readonly reasons: readonly string[];
  /** False where removing pods from the node could not help: "Preemption is not helpful for scheduling". */
  readonly isResolvable: boolean;
}

export function unresolvable(...reasons: readonly string[]): Refusal {
  return { reasons, isResolvable: false };
}

export function resolvable(...reasons: readonly string[]): Refusal {
  return { reasons, isResolvable: true };
}

export interface Failure {
  /** Node → why not. */
  readonly refusals: readonly Refusal[];
  /** Said instead of reasons per node, e.g. an unbound claim. */
  readonly prefilter?: string;
  readonly nodeCount: number;
  readonly mayPreempt: boolean;
}

export function failureMessage({ refusals, prefilter, nodeCount, mayPreempt }: Failure): string {
  if (nodeCount === 0) {
    return "no nodes available to schedule pods";
  }
  const head = `0/${nodeCount} nodes are available`;
  if (prefilter !== undefined) {
    // No node was looked at, so there is nothing to preempt on: kube-scheduler 1.37 says it in just these two words.
    return `${head}: ${prefilter}. not found`;
  }
  const parts = `${head}: ${countedText(refusals.flatMap(({ reasons }) => reasons))}.`;
  if (!mayPreempt) {
    return `${parts} preemption: not eligible due to preemptionPolicy=Never.`;
  }
  const hopes = refusals.map(({ isResolvable }) =>
    isResolvable ? "No preemption victims found for incoming pod" : "Preemption is not helpful for scheduling",
  );
  return `${parts} preemption: ${head}: ${countedText(hopes)}.`;
}

function countedText(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) {
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort((a, b) => (a < b ? -1 : 1))
    .join(", ");
}
