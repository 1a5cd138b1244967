/** CronJobs: a Job at each hit of a schedule. Schedules are in UTC; another time zone is said to be unknown and nothing runs. */
import { formatTime, type Job, Jobs, type KubeObject, kind, parseSchedule } from "@joinery/api";
import { isAlreadyExists, isNotFound, keyOf, parseKey } from "@joinery/kube";
import type { ClusterContext } from "../world/context.ts";
import { startWorkLoop } from "../world/work-loop.ts";
import { controllerOf, timeMs } from "./pod-facts.ts";
import { controllerReference } from "./pod-template.ts";
import { writeStatus } from "./status-writer.ts";

export interface CronJob extends KubeObject {
  readonly spec: {
    readonly schedule: string;
    readonly timeZone?: string;
    readonly suspend?: boolean;
    readonly concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
    readonly startingDeadlineSeconds?: number;
    readonly successfulJobsHistoryLimit?: number;
    readonly failedJobsHistoryLimit?: number;
    readonly jobTemplate: { readonly metadata?: Job["metadata"]; readonly spec: Job["spec"] };
  };
  readonly status?: { readonly lastScheduleTime?: string; readonly lastSuccessfulTime?: string; readonly active?: readonly unknown[] };
}

export const CronJobs = kind<CronJob>("batch", "v1", "CronJob", "cronjobs", true);

export function startCronJobs(context: ClusterContext): void {
  const { views, clock } = context;
  const client = context.client("cronjob-controller");
  const events = context.events("cronjob-controller");

  async function reconcile(key: string): Promise<number | undefined> {
    const cron = views.cronJobs.find(key);
    if (cron === undefined || views.cronJobs.isLeaving(cron)) {
      return undefined;
    }
    const jobs = views.jobs.by("owner", cron.metadata?.uid ?? "").filter((job) => !views.jobs.isLeaving(job));
    await dropHistory(cron, jobs);
    const parse = parseSchedule(cron.spec.schedule);
    const isForeign = cron.spec.timeZone !== undefined && !/^(etc\/)?(utc|gmt)$/i.test(cron.spec.timeZone);
    if ("error" in parse || isForeign) {
      const reason = isForeign ? "UnknownTimeZone" : "UnparseableSchedule";
      const message =
        "error" in parse ? `unparseable schedule: ${cron.spec.schedule}: ${parse.error}` : `unknown time zone ${cron.spec.timeZone}`;
      events.publish(cron, { type: "Warning", reason, message });
      return undefined;
    }
    const nowMs = clock.wallMs();
    const sinceMs = timeMs(cron.status?.lastScheduleTime ?? cron.metadata?.creationTimestamp);
    const hitMs = cron.spec.suspend === true ? undefined : lastHit(parse.schedule.next, sinceMs, nowMs);
    const isLate = hitMs !== undefined && nowMs - hitMs > (cron.spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
    let latest = cron;
    if (hitMs !== undefined && !isLate) {
      latest = await start(cron, jobs.filter(isActive), hitMs);
    }
    await updateStatus(latest);
    const nextMs = parse.schedule.next(nowMs);
    return nextMs === undefined || cron.spec.suspend === true ? undefined : nextMs - nowMs;
  }

  async function start(cron: CronJob, active: readonly Job[], hitMs: number): Promise<CronJob> {
    if (active.length > 0 && cron.spec.concurrencyPolicy === "Forbid") {
      events.publish(cron, {
        reason: "JobAlreadyActive",
        message: "Not starting job because prior execution is running and concurrency policy is Forbid",
      });
      return cron;
    }
    if (cron.spec.concurrencyPolicy === "Replace") {
      for (const job of active) {
        await remove(job);
      }
    }
    // The name tells the hit, so that a start that is repeated makes no second Job.
    const name = `${cron.metadata?.name}-${Math.floor(hitMs / 60_000)}`;
    const { jobTemplate } = cron.spec;
    const job: Job = {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: {
        name,
        namespace: cron.metadata?.namespace,
        labels: jobTemplate.metadata?.labels ?? {},
        annotations: { ...jobTemplate.metadata?.annotations, "batch.kubernetes.io/cronjob-scheduled-timestamp": formatTime(hitMs) },
        ownerReferences: [controllerReference(cron, "batch/v1", "CronJob")],
      },
      spec: jobTemplate.spec,
    };
    try {
      views.jobs.wrote(await client.create(Jobs, job));
      events.publish(cron, { reason: "SuccessfulCreate", message: `Created job ${name}` });
    } catch (error) {
      if (!isAlreadyExists(error)) {
        throw error;
      }
    }
    const written = await writeStatus(client, CronJobs, cron, { lastScheduleTime: formatTime(hitMs) });
    views.cronJobs.wrote(written);
    return written;
  }

  async function updateStatus(cron: CronJob): Promise<void> {
    const jobs = views.jobs.by("owner", cron.metadata?.uid ?? "").filter((job) => !views.jobs.isLeaving(job));
    const active = jobs.filter(isActive).map(({ metadata }) => {
      return { apiVersion: "batch/v1", kind: "Job", name: metadata?.name, namespace: metadata?.namespace, uid: metadata?.uid };
    });
    const ends = jobs.flatMap(({ status }) => (typeof status?.completionTime === "string" ? [status.completionTime] : [])).sort();
    const lastSuccessfulTime = ends.at(-1) ?? cron.status?.lastSuccessfulTime ?? null;
    views.cronJobs.wrote(await writeStatus(client, CronJobs, cron, { active: active.length > 0 ? active : null, lastSuccessfulTime }));
  }

  /** The oldest ended Jobs beyond the limits go. */
  async function dropHistory({ spec }: CronJob, jobs: readonly Job[]): Promise<void> {
    const byAge = [...jobs].sort((a, b) => timeMs(a.metadata?.creationTimestamp) - timeMs(b.metadata?.creationTimestamp));
    for (const [type, limit] of [
      ["Complete", spec.successfulJobsHistoryLimit ?? 3],
      ["Failed", spec.failedJobsHistoryLimit ?? 1],
    ] as const) {
      const ended = byAge.filter((job) => hasCondition(job, type));
      for (const job of ended.slice(0, Math.max(0, ended.length - limit))) {
        await remove(job);
      }
    }
  }

  async function remove(job: Job): Promise<void> {
    views.jobs.leaving(job);
    await client.delete(Jobs, parseKey(keyOf(job)), { uid: job.metadata?.uid, propagationPolicy: "Background" }).catch((error: unknown) => {
      if (!isNotFound(error)) {
        throw error;
      }
    });
  }

  const loop = startWorkLoop({ name: "cronjob-controller", context, reconcile });
  views.cronJobs.onChange(({ object }) => loop.add(keyOf(object)));
  views.jobs.onChange(({ object }) => {
    const owner = controllerOf(object);
    if (owner?.kind === "CronJob") {
      loop.add(`${object.metadata?.namespace}/${owner.name}`);
    }
  });
}

/** The newest hit in (since, now]; those that were missed before it are not made up for. */
function lastHit(next: (afterMs: number) => number | undefined, sinceMs: number, nowMs: number): number | undefined {
  let last: number | undefined;
  for (let hit = next(sinceMs); hit !== undefined && hit <= nowMs; hit = next(hit)) {
    last = hit;
  }
  return last;
}

function isActive(job: Job): boolean {
  return !hasCondition(job, "Complete") && !hasCondition(job, "Failed");
}

function hasCondition({ status }: Job, type: string): boolean {
  const conditions = (status?.conditions ?? []) as readonly { readonly type: string; readonly status: string }[];
  return conditions.some((condition) => condition.type === type && condition.status === "True");
}
