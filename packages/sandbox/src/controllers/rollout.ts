/** The walk of a Deployment from its old ReplicaSets to the newest, within maxSurge and maxUnavailable. Pure. */
import type { Deployment, PodTemplateSpec, ReplicaSet } from "@joinery/api";
import { canonicalJson } from "./fnv.ts";

export const POD_TEMPLATE_HASH = "pod-template-hash";
export const REVISION = "deployment.kubernetes.io/revision";

export interface Rollout {
  readonly deployment: Deployment;
  readonly newest: ReplicaSet;
  readonly older: readonly ReplicaSet[];
  /** Pods of old revisions that have not gone yet, terminating ones included: Recreate waits for them. */
  readonly hasRunningOldPods: boolean;
}

export interface ScaleStep {
  readonly set: ReplicaSet;
  readonly replicas: number;
}

export function replicasOf(workload: { readonly spec: { readonly replicas?: number } }): number {
  return workload.spec.replicas ?? 1;
}

export function revisionOf(set: ReplicaSet): number {
  return Number(set.metadata?.annotations?.[REVISION] ?? 0) || 0;
}

export function byRevision(sets: readonly ReplicaSet[]): ReplicaSet[] {
  return [...sets].sort((a, b) => revisionOf(a) - revisionOf(b) || ((a.metadata?.name ?? "") < (b.metadata?.name ?? "") ? -1 : 1));
}

/** Equal but for the hash label, which only ReplicaSets carry. */
export function isSameTemplate(ofSet: PodTemplateSpec, wished: PodTemplateSpec): boolean {
  return canonicalJson(withoutHash(ofSet)) === canonicalJson(withoutHash(wished));
}

function withoutHash(template: PodTemplateSpec): unknown {
  const { [POD_TEMPLATE_HASH]: _, ...labels } = template.metadata?.labels ?? {};
  return { annotations: template.metadata?.annotations ?? {}, labels, spec: template.spec };
}

/** The absolute number behind `25%` or `1`. */
export function absoluteOf(value: unknown, total: number, round: "up" | "down"): number {
  if (typeof value === "string" && value.endsWith("%")) {
    const exact = (Number.parseInt(value, 10) * total) / 100;
    return round === "up" ? Math.ceil(exact) : Math.floor(exact);
  }
  return Number(value) || 0;
}

/** Both bounds of a rolling update; both zero would never move, so one pod may be missing then. */
export function rollingBounds(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const strategy = (deployment.spec.strategy ?? {}) as {
    readonly type?: string;
    readonly rollingUpdate?: Readonly<Record<string, unknown>>;
  };
  if (strategy.type === "Recreate") {
    return { surge: 0, unavailable: replicasOf(deployment) };
  }
  const total = replicasOf(deployment);
  const surge = absoluteOf(strategy.rollingUpdate?.maxSurge ?? "25%", total, "up");
  const unavailable = Math.min(total, absoluteOf(strategy.rollingUpdate?.maxUnavailable ?? "25%", total, "down"));
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable };
}

/** On each ReplicaSet: the replicas of the Deployment, and those plus its surge, when it was scaled last. */
export const DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas";
export const MAX_REPLICAS = "deployment.kubernetes.io/max-replicas";

/** What to scale now. Empty when the rollout waits for pods, or is complete. */
export function scaleSteps(rollout: Rollout): ScaleStep[] {
  const { deployment, newest, older } = rollout;
  const proportional = isRecreate(deployment) ? undefined : proportionalSteps(deployment, [...older, newest]);
  if (proportional !== undefined) {
    return proportional;
  }
  const total = replicasOf(deployment);
  const active = older.filter((set) => replicasOf(set) > 0);
  if (deployment.spec.paused === true || active.length === 0) {
    // Without old pods, a scale is just that; a paused rollout keeps its proportions except for one active set.
    const only = active.length === 0 ? newest : active.length === 1 && replicasOf(newest) === 0 ? active[0] : undefined;
    const isHeld = isRecreate(deployment) && rollout.hasRunningOldPods;
    return only === undefined || isHeld || replicasOf(only) === total ? [] : [{ set: only, replicas: total }];
  }
  if (isRecreate(deployment)) {
    return active.map((set) => ({ set, replicas: 0 }));
  }
  return rollingSteps(rollout, active, total);
}

/**
 * The Deployment was scaled in the middle of a rollout: all revisions grow or shrink by their share, the rollout goes on afterwards.
 * Undefined when there is no such thing to do. Sizes that stay are steps too, which note the new figures.
 */
export function proportionalSteps(deployment: Deployment, sets: readonly ReplicaSet[]): ScaleStep[] | undefined {
  const active = sets.filter((set) => replicasOf(set) > 0);
  const wished = replicasOf(deployment);
  const isScaled = active.some(({ metadata }) => {
    const noted = metadata?.annotations?.[DESIRED_REPLICAS];
    return noted !== undefined && Number(noted) !== wished;
  });
  if (!isScaled || active.length < 2) {
    return undefined;
  }
  const allowed = wished === 0 ? 0 : wished + rollingBounds(deployment).surge;
  const difference = allowed - active.reduce((sum, set) => sum + replicasOf(set), 0);
  const newerFirst = difference > 0 ? 1 : -1;
  const ordered = [...active].sort(
    (a, b) =>
      replicasOf(b) - replicasOf(a) ||
      newerFirst * (revisionOf(b) - revisionOf(a)) ||
      ((a.metadata?.name ?? "") < (b.metadata?.name ?? "") ? -1 : 1),
  );
  let left = difference;
  const shares = ordered.map((set) => {
    const before = Number(set.metadata?.annotations?.[MAX_REPLICAS] ?? 0) || Number(deployment.status?.replicas ?? 0) || allowed;
    const share = Math.round((replicasOf(set) * allowed) / before) - replicasOf(set);
    const granted = difference > 0 ? Math.max(0, Math.min(share, left)) : Math.min(0, Math.max(share, left));
    left -= granted;
    return granted;
  });
  return ordered.map((set, at) => ({ set, replicas: Math.max(0, replicasOf(set) + (shares[at] ?? 0) + (at === 0 ? left : 0)) }));
}

function isRecreate(deployment: Deployment): boolean {
  return (deployment.spec.strategy as { readonly type?: string } | undefined)?.type === "Recreate";
}

function rollingSteps({ deployment, newest, older }: Rollout, active: readonly ReplicaSet[], total: number): ScaleStep[] {
  const { surge, unavailable } = rollingBounds(deployment);
  const all = [...older, newest];
  const existing = all.reduce((sum, set) => sum + replicasOf(set), 0);
  const room = Math.max(0, total + surge - existing);
  const grown = replicasOf(newest) > total ? total : Math.min(total, replicasOf(newest) + room);
  const steps: ScaleStep[] = grown === replicasOf(newest) ? [] : [{ set: newest, replicas: grown }];
  if (steps.length > 0) {
    return steps; // one thing at a time: the next look sees the new counts
  }
  const newUnavailable = Math.max(0, replicasOf(newest) - availableOf(newest));
  let mayGo = existing - (total - unavailable) - newUnavailable;
  // Pods that do not work cost nothing to remove; then working ones, while enough of them stay.
  let available = all.reduce((sum, set) => sum + availableOf(set), 0);
  for (const set of active) {
    const broken = Math.min(Math.max(0, replicasOf(set) - availableOf(set)), Math.max(0, mayGo));
    const working = Math.max(0, Math.min(replicasOf(set) - broken, mayGo - broken, available - (total - unavailable)));
    if (broken + working > 0) {
      steps.push({ set, replicas: replicasOf(set) - broken - working });
      mayGo -= broken + working;
      available -= working;
    }
  }
  return steps;
}

function availableOf(set: ReplicaSet): number {
  return Math.min(replicasOf(set), Number(set.status?.availableReplicas ?? 0));
}
