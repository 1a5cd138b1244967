/** What a Deployment says of itself: counts, Available and Progressing. Pure. */
import { type Condition, type Deployment, formatTime, type ReplicaSet } from "@joinery/api";
import { withCondition } from "./condition-list.ts";
import { timeMs } from "./pod-facts.ts";
import { replicasOf, rollingBounds } from "./rollout.ts";
import { withoutZeros } from "./status-writer.ts";

export interface DeploymentFacts {
  readonly deployment: Deployment;
  readonly older: readonly ReplicaSet[];
  readonly newest: ReplicaSet | undefined;
  /** The newest ReplicaSet was made in this very step. */
  readonly isNew: boolean;
  readonly nowMs: number;
}

interface ProgressCondition extends Condition {
  readonly lastUpdateTime?: string;
}

export interface DeploymentVerdict {
  readonly status: Readonly<Record<string, unknown>>;
  /** When the progress deadline would pass. */
  readonly afterMs?: number;
}

export function deploymentConditions({ deployment, older, newest, isNew, nowMs }: DeploymentFacts): DeploymentVerdict {
  const all = newest === undefined ? older : [...older, newest];
  const sum = (field: string): number => all.reduce((total, set) => total + Number(set.status?.[field] ?? 0), 0);
  const wished = replicasOf(deployment);
  const counts = {
    observedGeneration: deployment.metadata?.generation ?? 0,
    replicas: sum("replicas"),
    updatedReplicas: Number(newest?.status?.replicas ?? 0),
    readyReplicas: sum("readyReplicas"),
    availableReplicas: sum("availableReplicas"),
    unavailableReplicas: Math.max(0, all.reduce((total, set) => total + replicasOf(set), 0) - sum("availableReplicas")),
  };
  const before = (deployment.status?.conditions ?? []) as readonly ProgressCondition[];
  const isAvailable = counts.availableReplicas >= wished - rollingBounds(deployment).unavailable;
  const withAvailable = withCondition(before, availableCondition(isAvailable), nowMs);
  const progress = progressOf({ deployment, newest, isNew, nowMs, counts, before });
  const conditions = stampUpdates(withCondition(withAvailable, progress.wish, nowMs), before, progress.hasMoved, nowMs);
  const { observedGeneration, ...replicaCounts } = counts;
  const status = { observedGeneration, ...withoutZeros(replicaCounts), terminatingReplicas: sum("terminatingReplicas"), conditions };
  return { status, ...(progress.afterMs === undefined ? {} : { afterMs: progress.afterMs }) };
}

function availableCondition(isAvailable: boolean) {
  return isAvailable
    ? ({ type: "Available", status: "True", reason: "MinimumReplicasAvailable", message: "Deployment has minimum availability." } as const)
    : ({
        type: "Available",
        status: "False",
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      } as const);
}

interface ProgressFacts extends Omit<DeploymentFacts, "older"> {
  readonly counts: {
    readonly replicas: number;
    readonly updatedReplicas: number;
    readonly readyReplicas: number;
    readonly availableReplicas: number;
  };
  readonly before: readonly ProgressCondition[];
}

function progressOf({ deployment, newest, isNew, nowMs, counts, before }: ProgressFacts) {
  const old = before.find(({ type }) => type === "Progressing");
  const wish = (status: "True" | "False" | "Unknown", reason: string, message: string) => ({
    type: "Progressing",
    status,
    reason,
    message,
  });
  const name = newest?.metadata?.name ?? "";
  const total = replicasOf(deployment);
  const isComplete = counts.updatedReplicas === total && counts.replicas === total && counts.availableReplicas === total;
  if (deployment.spec.paused === true || newest === undefined) {
    return { wish: wish("Unknown", "DeploymentPaused", "Deployment is paused"), hasMoved: false };
  }
  if (isComplete) {
    return { wish: wish("True", "NewReplicaSetAvailable", `ReplicaSet "${name}" has successfully progressed.`), hasMoved: false };
  }
  if (isNew) {
    return { wish: wish("True", "NewReplicaSetCreated", `Created new replica set "${name}"`), hasMoved: true };
  }
  const was = deployment.status ?? {};
  const hasMoved =
    counts.updatedReplicas > Number(was.updatedReplicas ?? 0) ||
    counts.readyReplicas > Number(was.readyReplicas ?? 0) ||
    counts.availableReplicas > Number(was.availableReplicas ?? 0) ||
    (counts.replicas < Number(was.replicas ?? 0) && counts.replicas >= counts.updatedReplicas);
  const progressing = wish("True", "ReplicaSetUpdated", `ReplicaSet "${name}" is progressing.`);
  if (hasMoved || old === undefined || old.reason === "NewReplicaSetAvailable" || old.reason === "DeploymentPaused") {
    return { wish: progressing, hasMoved: hasMoved || old?.reason !== "ReplicaSetUpdated" };
  }
  const deadlineMs = timeMs(old.lastUpdateTime) + Number(deployment.spec.progressDeadlineSeconds ?? 600) * 1000;
  if (nowMs >= deadlineMs) {
    const message = `ReplicaSet "${name}" has timed out progressing.`;
    return { wish: wish("False", "ProgressDeadlineExceeded", message), hasMoved: false };
  }
  const { status, reason = "", message = "" } = old;
  return { wish: wish(status, reason, message), hasMoved: false, afterMs: deadlineMs - nowMs };
}

/** `lastUpdateTime` moves with each sign of progress, not only with the status. */
function stampUpdates(
  after: readonly ProgressCondition[],
  before: readonly ProgressCondition[],
  hasMoved: boolean,
  nowMs: number,
): readonly ProgressCondition[] {
  return after.map((condition) => {
    const isTouched = !before.includes(condition) || (hasMoved && condition.type === "Progressing");
    return isTouched || condition.lastUpdateTime === undefined ? { ...condition, lastUpdateTime: formatTime(nowMs) } : condition;
  });
}
