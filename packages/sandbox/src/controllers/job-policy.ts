/** What a Job's own rules make of its pods: which failures count, which indexes have failed, when a part of the work is enough. Pure. */
import type { Job, Pod } from "@joinery/api";
import { completedIndexes, indexOf } from "./job-index.ts";

export interface Verdict {
  readonly type: "Complete" | "Failed";
  readonly reason: string;
  readonly message: string;
}

interface FailureRule {
  readonly action: "FailJob" | "FailIndex" | "Ignore" | "Count";
  readonly onExitCodes?: { readonly containerName?: string; readonly operator: "In" | "NotIn"; readonly values: readonly number[] };
  readonly onPodConditions?: readonly { readonly type: string; readonly status?: string }[];
}

interface SuccessRule {
  readonly succeededIndexes?: string;
  readonly succeededCount?: number;
}

export interface FailureMatch {
  readonly action: FailureRule["action"];
  readonly message: string;
}

/** The first rule of the pod failure policy that a failed pod matches; without one its failure counts. */
export function failureMatch(job: Job, pod: Pod): FailureMatch | undefined {
  const rules = (job.spec.podFailurePolicy as { readonly rules?: readonly FailureRule[] } | undefined)?.rules ?? [];
  for (const [at, rule] of rules.entries()) {
    const cause = rule.onExitCodes === undefined ? conditionCause(rule, pod) : exitCause(rule.onExitCodes, pod);
    if (cause !== undefined) {
      return { action: rule.action, message: `${cause} matching ${rule.action} rule at index ${at}` };
    }
  }
  return undefined;
}

function exitCause(
  { containerName, operator, values }: NonNullable<FailureRule["onExitCodes"]>,
  { metadata, status }: Pod,
): string | undefined {
  for (const one of [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]) {
    const exitCode = (one.state as { readonly terminated?: { readonly exitCode?: number } } | undefined)?.terminated?.exitCode ?? 0;
    const isMeant = containerName === undefined || containerName === one.name;
    if (isMeant && exitCode !== 0 && values.includes(exitCode) === (operator === "In")) {
      return `Container ${one.name} for pod ${metadata?.namespace}/${metadata?.name} failed with exit code ${exitCode}`;
    }
  }
  return undefined;
}

function conditionCause({ onPodConditions = [] }: FailureRule, { metadata, status }: Pod): string | undefined {
  const met = onPodConditions.find(({ type, status: wanted = "True" }) =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === wanted),
  );
  return met === undefined ? undefined : `Pod ${metadata?.namespace}/${metadata?.name} has condition ${met.type}`;
}

/** Indexes that failed more often than `backoffLimitPerIndex`, or at once by a rule; undefined where the Job has no such limit. */
export function failedIndexes(job: Job, failed: readonly Pod[], succeeded: readonly Pod[]): ReadonlySet<number> | undefined {
  const limit = job.spec.backoffLimitPerIndex;
  if (typeof limit !== "number") {
    return undefined;
  }
  const done = completedIndexes(succeeded);
  const result = new Set<number>();
  for (const [index, pods] of Map.groupBy(failed, indexOf)) {
    const failsAtOnce = pods.some((pod) => failureMatch(job, pod)?.action === "FailIndex");
    if (!done.has(index) && (failsAtOnce || pods.length > limit)) {
      result.add(index);
    }
  }
  return result;
}

/** Too many failed indexes, or none left to work on. */
export function indexVerdict(job: Job, failed: ReadonlySet<number>, completed: number): Verdict | undefined {
  if (failed.size > Number(job.spec.maxFailedIndexes ?? Number.POSITIVE_INFINITY)) {
    const message = "Job has exceeded the specified maximal number of failed indexes";
    return { type: "Failed", reason: "MaxFailedIndexesExceeded", message };
  }
  const isOver = failed.size > 0 && failed.size + completed >= (job.spec.completions ?? 0);
  return isOver ? { type: "Failed", reason: "FailedIndexes", message: "Job has failed indexes" } : undefined;
}

/** The first rule of the success policy that is met. */
export function successVerdict(job: Job, succeeded: readonly Pod[]): Verdict | undefined {
  const rules = (job.spec.successPolicy as { readonly rules?: readonly SuccessRule[] } | undefined)?.rules ?? [];
  const done = completedIndexes(succeeded);
  const at = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    const meant = succeededIndexes === undefined ? undefined : indexesOf(succeededIndexes);
    const count = meant === undefined ? done.size : [...meant].filter((index) => done.has(index)).length;
    return count >= (succeededCount ?? meant?.size ?? Number.POSITIVE_INFINITY);
  });
  return at < 0 ? undefined : { type: "Complete", reason: "SuccessPolicy", message: `Matched rules at index ${at}` };
}

/** The indexes behind `0-2,5`. */
export function indexesOf(text: string): ReadonlySet<number> {
  const indexes = new Set<number>();
  for (const part of text.split(",").filter((one) => one !== "")) {
    const [from = 0, to = from] = part.split("-").map(Number);
    for (let index = from; index <= to; index++) {
      indexes.add(index);
    }
  }
  return indexes;
}
