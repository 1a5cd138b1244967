/** Jobs: pods until enough have succeeded, with back-off after failures, completion indexes and a time to live afterwards. */
import { type Container, formatTime, type Job, Jobs, type Pod, Pods } from "@joinery/api";
import { isNotFound, keyOf, parseKey } from "@joinery/kube";
import type { ClusterContext } from "../world/context.ts";
import { startWorkLoop } from "../world/work-loop.ts";
import { withCondition } from "./condition-list.ts";
import { completedIndexes, INDEX_ANNOTATION, indexOf, indexText, openIndexes } from "./job-index.ts";
import { failedIndexes, failureMatch, indexVerdict, successVerdict, type Verdict } from "./job-policy.ts";
import { createPodOf } from "./pod-creation.ts";
import { controllerOf, isEnded, isReady, timeMs } from "./pod-facts.ts";
import { controllerReference, podFromTemplate } from "./pod-template.ts";
import { writeStatus } from "./status-writer.ts";

const FAILURE_COUNT_ANNOTATION = "batch.kubernetes.io/job-index-failure-count";
const BACKOFF_FIRST_MS = 10_000;
const BACKOFF_MAX_MS = 600_000;

interface Pace {
  readonly active: readonly Pod[];
  readonly succeeded: readonly Pod[];
  /** In the phase Failed, or taken away by others before they ended; without those that a rule tells to ignore. */
  readonly failed: readonly Pod[];
  /** Being deleted, but still there. */
  readonly terminating: readonly Pod[];
}

export function startJobs(context: ClusterContext): void {
  const { views, clock } = context;
  const client = context.client("job-controller");
  const events = context.events("job-controller");
  /** Job UID → its deleted pods by UID, until the Job is finished or deleted. */
  const gone = new Map<string, Map<string, Pod>>();
  /** UIDs of pods that this controller deleted itself: those have not failed. */
  const removed = new Set<string>();

  async function reconcile(key: string): Promise<number | undefined> {
    const job = views.jobs.find(key);
    if (job === undefined || views.jobs.isLeaving(job)) {
      return undefined;
    }
    if (isFinished(job)) {
      return expire(job);
    }
    const pace = paceOf(job);
    const verdict = verdictOf(job, pace);
    if (verdict !== undefined) {
      await finish(job, pace, verdict);
      return expire(views.jobs.find(key) ?? job);
    }
    if (job.spec.suspend === true) {
      await removePods(job, pace.active);
      await updateStatus(job, paceOf(job), suspendedCondition(job, true));
      return undefined;
    }
    const waitMs = backoffLeftMs(pace.failed);
    if (waitMs <= 0 || isTooWide(job, pace)) {
      await createMissing(job, pace);
    }
    await updateStatus(job, paceOf(job), suspendedCondition(job, false));
    const deadline = deadlineLeftMs(views.jobs.find(key) ?? job);
    const waits = [waitMs > 0 ? waitMs : undefined, deadline].filter((ms) => ms !== undefined);
    return waits.length > 0 ? Math.min(...waits) : undefined;
  }

  /** Ended pods count also after they were deleted; the API server no longer shows those. */
  function paceOf(job: Job): Pace {
    const uid = job.metadata?.uid ?? "";
    const present = views.pods.by("owner", uid);
    const names = new Set(present.map((pod) => pod.metadata?.uid));
    const pods = [...present, ...[...(gone.get(uid)?.values() ?? [])].filter((pod) => !names.has(pod.metadata?.uid))];
    return {
      active: pods.filter((pod) => !isEnded(pod) && !views.pods.isLeaving(pod)),
      succeeded: pods.filter(({ status }) => status?.phase === "Succeeded"),
      // A pod that was taken away before it ended has failed, as the real controller counts it.
      failed: pods.filter(
        (pod) =>
          !removed.has(pod.metadata?.uid ?? "") &&
          (pod.status?.phase === "Failed" || (!isEnded(pod) && views.pods.isLeaving(pod) && !replacesEndedOnly(job))) &&
          failureMatch(job, pod)?.action !== "Ignore",
      ),
      terminating: present.filter((pod) => !isEnded(pod) && views.pods.isLeaving(pod)),
    };
  }

  function rememberGone(pod: Pod, jobUid: string): void {
    const ended: Pod = isEnded(pod) ? pod : { ...pod, status: { ...pod.status, phase: "Failed" } };
    const ofJob = gone.get(jobUid) ?? new Map<string, Pod>();
    gone.set(jobUid, ofJob.set(pod.metadata?.uid ?? "", ended));
  }

  function verdictOf(job: Job, { active, succeeded, failed }: Pace): Verdict | undefined {
    const { completions, parallelism = 1 } = job.spec;
    const failsJob = failed.map((pod) => failureMatch(job, pod)).find((match) => match?.action === "FailJob");
    if (failsJob !== undefined) {
      return { type: "Failed", reason: "PodFailurePolicy", message: failsJob.message };
    }
    const indexes = failedIndexes(job, failed, succeeded);
    const byIndex = indexes === undefined ? undefined : indexVerdict(job, indexes, completedIndexes(succeeded).size);
    const early = byIndex ?? successVerdict(job, succeeded);
    if (early !== undefined) {
      return early;
    }
    const done = isIndexed(job) ? completedIndexes(succeeded).size : succeeded.length;
    const isEnough = completions === undefined ? succeeded.length > 0 && active.length === 0 : done >= completions;
    if (isEnough || (completions === undefined && parallelism === 0)) {
      return isEnough
        ? { type: "Complete", reason: "CompletionsReached", message: "Reached expected number of succeeded pods" }
        : undefined;
    }
    const restarts = job.spec.template.spec.restartPolicy === "OnFailure" ? active.reduce((sum, pod) => sum + restartsOf(pod), 0) : 0;
    const failures = failed.filter(({ status }) => status?.phase === "Failed").length;
    if (failures + restarts > (job.spec.backoffLimit ?? 6)) {
      return { type: "Failed", reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
    }
    const deadline = deadlineLeftMs(job);
    return deadline !== undefined && deadline <= 0
      ? { type: "Failed", reason: "DeadlineExceeded", message: "Job was active longer than specified deadline" }
      : undefined;
  }

  async function createMissing(job: Job, pace: Pace): Promise<void> {
    const { active, succeeded, failed, terminating } = pace;
    const wished = widthOf(job, pace);
    if (active.length > wished) {
      await removePods(job, active.slice(wished));
      return;
    }
    const closed = [...completedIndexes(succeeded), ...(failedIndexes(job, failed, succeeded) ?? [])];
    const indexes = isIndexed(job) ? openIndexes(job.spec.completions ?? 0, active, closed) : [];
    const held = replacesEndedOnly(job) ? terminating.length : 0;
    for (let missing = wished - active.length - held; missing > 0; missing--) {
      const index = indexes.shift();
      if (isIndexed(job) && index === undefined) {
        return;
      }
      await createPod(job, index, failed.filter((pod) => indexOf(pod) === index).length);
    }
  }

  async function createPod(job: Job, index: number | undefined, failures: number): Promise<void> {
    const name = job.metadata?.name ?? "";
    const labels = {
      "batch.kubernetes.io/controller-uid": job.metadata?.uid ?? "",
      "batch.kubernetes.io/job-name": name,
      "controller-uid": job.metadata?.uid ?? "",
      "job-name": name,
      ...(index === undefined ? {} : { [INDEX_ANNOTATION]: String(index) }),
    };
    const counts: Record<string, string> =
      job.spec.backoffLimitPerIndex === undefined ? {} : { [FAILURE_COUNT_ANNOTATION]: String(failures) };
    const annotations = index === undefined ? undefined : { [INDEX_ANNOTATION]: String(index), ...counts };
    const generateName = index === undefined ? `${name}-` : `${name}-${index}-`;
    const owner = controllerReference(job, "batch/v1", "Job");
    const template = index === undefined ? job.spec.template : indexedTemplate(job, index);
    const pod = podFromTemplate(template, { namespace: job.metadata?.namespace ?? "", generateName, owner, labels, annotations });
    const created = await createPodOf(job, pod, { client, events });
    views.pods.wrote(created);
    events.publish(job, { reason: "SuccessfulCreate", message: `Created pod: ${created.metadata?.name}` });
  }

  async function removePods(job: Job, pods: readonly Pod[]): Promise<void> {
    for (const pod of pods) {
      views.pods.leaving(pod);
      removed.add(pod.metadata?.uid ?? "");
      try {
        await client.delete(Pods, parseKey(keyOf(pod)), { uid: pod.metadata?.uid });
        events.publish(job, { reason: "SuccessfulDelete", message: `Deleted pod: ${pod.metadata?.name}` });
      } catch (error) {
        if (!isNotFound(error)) {
          throw error;
        }
      }
    }
  }

  async function finish(job: Job, pace: Pace, { type, reason, message }: Verdict): Promise<void> {
    await removePods(job, pace.active);
    const nowMs = clock.wallMs();
    const first = type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
    const lastProbeTime = formatTime(nowMs);
    const before = withCondition(conditionsOf(job), { type: first, status: "True", lastProbeTime, reason, message }, nowMs);
    const conditions = withCondition(before, { type, status: "True", lastProbeTime, reason, message }, nowMs);
    const completion = type === "Complete" ? { completionTime: formatTime(nowMs) } : {};
    const now = paceOf(job);
    const startTime = job.status?.startTime ?? formatTime(nowMs);
    const counts = countsOf(job, { ...now, active: [] });
    // Pods that a failed Job cuts off have failed with it.
    const failed = type === "Failed" ? { failed: Number(counts.failed ?? 0) + pace.active.length || null } : {};
    const status = { ...counts, ...failed, startTime, active: null, ready: 0, conditions, ...completion };
    views.jobs.wrote(await writeStatus(client, Jobs, job, status));
    events.publish(job, type === "Complete" ? { reason: "Completed", message: "Job completed" } : { type: "Warning", reason, message });
  }

  async function updateStatus(job: Job, pace: Pace, conditions: ReturnType<typeof suspendedCondition>): Promise<void> {
    const startTime = job.spec.suspend === true ? null : (job.status?.startTime ?? formatTime(clock.wallMs()));
    const status = {
      ...countsOf(job, pace),
      startTime,
      ...(conditions.length === 0 && job.status?.conditions === undefined ? {} : { conditions }),
    };
    views.jobs.wrote(await writeStatus(client, Jobs, job, status));
    const was = conditionsOf(job).find(({ type }) => type === "Suspended")?.status;
    const is = conditions.find(({ type }) => type === "Suspended")?.status;
    if (was !== is && is !== undefined) {
      const isNow = is === "True" ? "suspended" : "resumed";
      events.publish(job, { reason: is === "True" ? "Suspended" : "Resumed", message: `Job ${isNow}` });
    }
  }

  function suspendedCondition(job: Job, isSuspended: boolean) {
    const before = conditionsOf(job);
    const nowMs = clock.wallMs();
    const old = before.find(({ type }) => type === "Suspended");
    if ((old?.status === "True") === isSuspended) {
      return before;
    }
    const lastProbeTime = formatTime(nowMs);
    const [reason, message] = isSuspended ? ["JobSuspended", "Job suspended"] : ["JobResumed", "Job resumed"];
    return withCondition(before, { type: "Suspended", status: isSuspended ? "True" : "False", lastProbeTime, reason, message }, nowMs);
  }

  /** Ten seconds after the last failure, doubling with each. */
  function backoffLeftMs(failed: readonly Pod[]): number {
    if (failed.length === 0) {
      return 0;
    }
    const lastMs = Math.max(...failed.map(endedMs));
    return lastMs + Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (failed.length - 1)) - clock.wallMs();
  }

  function deadlineLeftMs(job: Job): number | undefined {
    const seconds = job.spec.activeDeadlineSeconds;
    const startTime = job.status?.startTime;
    return typeof seconds !== "number" || typeof startTime !== "string" ? undefined : timeMs(startTime) + seconds * 1000 - clock.wallMs();
  }

  async function expire(job: Job): Promise<number | undefined> {
    const seconds = job.spec.ttlSecondsAfterFinished;
    if (typeof seconds !== "number") {
      return undefined;
    }
    const finished = conditionsOf(job).find(({ type, status }) => (type === "Complete" || type === "Failed") && status === "True");
    const leftMs = timeMs(finished?.lastTransitionTime) + seconds * 1000 - clock.wallMs();
    if (leftMs > 0) {
      return leftMs;
    }
    views.jobs.leaving(job);
    await client.delete(Jobs, parseKey(keyOf(job)), { uid: job.metadata?.uid, propagationPolicy: "Background" }).catch((error: unknown) => {
      if (!isNotFound(error)) {
        throw error;
      }
    });
    return undefined;
  }

  const loop = startWorkLoop({ name: "job-controller", context, reconcile });
  views.jobs.onChange(({ type, object }) => {
    loop.add(keyOf(object));
    if (type === "deleted" || isFinished(object)) {
      for (const pod of gone.get(object.metadata?.uid ?? "")?.keys() ?? []) {
        removed.delete(pod);
      }
      gone.delete(object.metadata?.uid ?? "");
    }
  });
  views.pods.onChange(({ type, object }) => {
    const owner = controllerOf(object);
    if (owner?.kind === "Job") {
      const job = views.jobs.find(`${object.metadata?.namespace}/${owner.name}`);
      if (type === "deleted" && job?.metadata?.uid === owner.uid && !isFinished(job)) {
        rememberGone(object, owner.uid);
      } else if (type === "deleted") {
        removed.delete(object.metadata?.uid ?? "");
      }
      loop.add(`${object.metadata?.namespace}/${owner.name}`);
    }
  });
}

/** How many pods should work now. */
function widthOf({ spec }: Job, { active, succeeded }: Pace): number {
  const { parallelism = 1, completions } = spec;
  const left = completions === undefined ? (succeeded.length > 0 ? active.length : parallelism) : completions - succeeded.length;
  return Math.min(parallelism, Math.max(0, left));
}

function isTooWide(job: Job, pace: Pace): boolean {
  return pace.active.length > widthOf(job, pace);
}

/** Pods that are being deleted are replaced only when they have ended. */
function replacesEndedOnly({ spec }: Job): boolean {
  return spec.podReplacementPolicy === "Failed" || spec.podFailurePolicy !== undefined;
}

/** A pod of an index knows it by its host name and by a variable in each container. */
function indexedTemplate({ metadata, spec }: Job, index: number): Job["spec"]["template"] {
  const { template } = spec;
  const variable = {
    name: "JOB_COMPLETION_INDEX",
    valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: `metadata.labels['${INDEX_ANNOTATION}']` } },
  };
  const withVariable = (container: Container): Container => {
    const { env = [] } = container as { readonly env?: readonly { readonly name: string }[] };
    return env.some(({ name }) => name === variable.name) ? container : ({ ...container, env: [...env, variable] } as Container);
  };
  const { containers, initContainers } = template.spec;
  const inits = initContainers === undefined ? {} : { initContainers: initContainers.map(withVariable) };
  const identity = { hostname: `${metadata?.name}-${index}` };
  return { ...template, spec: { ...template.spec, ...identity, containers: containers.map(withVariable), ...inits } };
}

/** When a failed pod ended: by its containers, else by its readiness, its deletion, or at the latest known its creation. */
function endedMs({ metadata, status }: Pod): number {
  const finished = (status?.containerStatuses ?? []).map(({ state }) =>
    timeMs((state as { readonly terminated?: { readonly finishedAt?: string } } | undefined)?.terminated?.finishedAt),
  );
  const ready = timeMs(status?.conditions?.find(({ type, status: is }) => type === "Ready" && is === "False")?.lastTransitionTime);
  return Math.max(0, ...finished) || ready || timeMs(metadata?.deletionTimestamp) || timeMs(metadata?.creationTimestamp);
}

function countsOf(job: Job, { active, succeeded, failed, terminating }: Pace): Record<string, unknown> {
  const ended = failed.filter(({ status }) => status?.phase === "Failed").length;
  const indexes = failedIndexes(job, failed, succeeded);
  const counts = {
    uncountedTerminatedPods: {},
    active: active.length === 0 ? null : active.length,
    ready: active.filter(isReady).length,
    // What was counted stays counted when its pod is deleted.
    succeeded: Math.max(succeeded.length, Number(job.status?.succeeded ?? 0)) || null,
    failed: Math.max(ended, Number(job.status?.failed ?? 0)) || null,
    terminating: terminating.length,
    ...(indexes === undefined || indexes.size === 0 ? {} : { failedIndexes: indexText([...indexes]) }),
  };
  return isIndexed(job) ? { ...counts, completedIndexes: indexText([...completedIndexes(succeeded)]) || null } : counts;
}

function conditionsOf(job: Job) {
  return (job.status?.conditions ?? []) as readonly {
    readonly type: string;
    readonly status: "True" | "False" | "Unknown";
    readonly lastTransitionTime?: string;
  }[];
}

function isFinished(job: Job): boolean {
  return conditionsOf(job).some(({ type, status }) => (type === "Complete" || type === "Failed") && status === "True");
}

function isIndexed(job: Job): boolean {
  return job.spec.completionMode === "Indexed";
}

function restartsOf({ status }: Pod): number {
  return (status?.containerStatuses ?? []).reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
}
