/** Pods that no solve is asked about, since they ask for a label that nobody may ask for or a value that does not exist: how far they would come, and what mends it. Rules S-18, S-21. */
import { type ExplainOptions, type MendedPods, mendPods, type Reason } from "@joinery/scheduling";
import { keyOf } from "../object-key.ts";
import type { Question } from "../plan/make-plan.ts";

/** By `namespace/name` of a pod; undefined where no label is to blame. Each workload is looked at once. */
export type FindMended = (key: string) => MendedPods | undefined;

export function wrongPods({ rejected, problem, catalogue }: Question, options: ExplainOptions): FindMended {
  const pods = rejected
    .filter(({ reasons }) => reasons.every(isOfLabel))
    .map(({ pod: { metadata, createdAtMs, shape } }) => ({ key: keyOf({ metadata }), uid: metadata.uid, createdAtMs, shape }));
  const byWorkload = Map.groupBy(pods, ({ key }) => options.workloadOf?.(key) ?? key);
  const found = new Map<string, MendedPods>();
  return (key) => {
    const workload = options.workloadOf?.(key) ?? key;
    const own = byWorkload.get(workload);
    if (own === undefined || !own.some((pod) => pod.key === key)) return undefined;
    const mended = found.get(workload) ?? mendPods({ problem, pods: own, vocabulary: catalogue.vocabulary, options });
    found.set(workload, mended);
    return mended;
  };
}

function isOfLabel(reason: Reason): boolean {
  return reason.kind === "invalid-requirement" && (reason.problem === "restricted-label" || reason.problem === "unknown-value");
}
