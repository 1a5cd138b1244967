/** The statuses that a kubelet writes for a pod, phase by phase. Pure. */
import { type Condition, type Container, type ContainerStatus, formatTime, type Pod, type PodStatus } from "@joinery/api";
import { withCondition } from "../controllers/condition-list.ts";
import { fnv1a32 } from "../controllers/fnv.ts";
import type { PodExit } from "./pod-runtime.ts";

export interface PodPlace {
  readonly hostIp: string;
  readonly podIp: string;
  readonly nowMs: number;
}

export interface ContainerRuns {
  readonly restartCount: number;
  readonly startedMs: number;
  readonly lastExit?: PodExit & { readonly atMs: number };
}

type StatusPatch = PodStatus & { readonly [field: string]: unknown };

/** Accepted by the kubelet; images are being pulled. */
export function startingStatus(pod: Pod, { hostIp, nowMs }: Omit<PodPlace, "podIp">): StatusPatch {
  const waiting = { waiting: { reason: pod.spec.initContainers?.length ? "PodInitializing" : "ContainerCreating" } };
  const isInitialized = (pod.spec.initContainers ?? []).length === 0;
  return {
    phase: "Pending",
    hostIP: hostIp,
    hostIPs: [{ ip: hostIp }],
    startTime: formatTime(nowMs),
    conditions: conditionsOf(pod, nowMs, {
      PodReadyToStartContainers: false,
      Initialized: isInitialized,
      Ready: false,
      ContainersReady: false,
      PodScheduled: true,
    }),
    containerStatuses: pod.spec.containers.map((container) =>
      statusOf(pod, container, { ready: false, started: false, restartCount: 0, state: waiting }),
    ),
    ...initStatuses(pod, { waiting: { reason: "PodInitializing" } }, false),
  };
}

/** Containers run; ready as the probe says. */
export function runningStatus(pod: Pod, isReady: boolean, runs: ContainerRuns, { hostIp, podIp, nowMs }: PodPlace): StatusPatch {
  const state = { running: { startedAt: formatTime(runs.startedMs) } };
  return {
    phase: "Running",
    hostIP: hostIp,
    hostIPs: [{ ip: hostIp }],
    podIP: podIp,
    podIPs: [{ ip: podIp }],
    conditions: conditionsOf(pod, nowMs, {
      PodReadyToStartContainers: true,
      Initialized: true,
      Ready: isReady,
      ContainersReady: isReady,
      PodScheduled: true,
    }),
    containerStatuses: pod.spec.containers.map((container) =>
      statusOf(pod, container, { ready: isReady, started: true, restartCount: runs.restartCount, state, lastState: lastState(runs) }),
    ),
    ...initStatuses(pod, finished({ exitCode: 0 }, runs.startedMs, runs.startedMs), true, state),
  };
}

/** Between two runs: waits for the back-off to pass. */
export function crashedStatus(pod: Pod, runs: ContainerRuns, waitMs: number, nowMs: number): StatusPatch {
  const message = `back-off ${Math.round(waitMs / 1000)}s restarting failed container=${pod.spec.containers[0]?.name} pod=${pod.metadata?.name}_${pod.metadata?.namespace}(${pod.metadata?.uid})`;
  const state = { waiting: { reason: "CrashLoopBackOff", message } };
  return {
    phase: "Running",
    conditions: conditionsOf(pod, nowMs, { Ready: false, ContainersReady: false }),
    containerStatuses: pod.spec.containers.map((container) =>
      statusOf(pod, container, { ready: false, started: false, restartCount: runs.restartCount, state, lastState: lastState(runs) }),
    ),
  };
}

/** All containers have exited for good. */
export function endedStatus(pod: Pod, exit: PodExit, runs: ContainerRuns, nowMs: number): StatusPatch {
  const hasSucceeded = exit.exitCode === 0;
  const reason = hasSucceeded ? "PodCompleted" : "PodFailed";
  return {
    phase: hasSucceeded ? "Succeeded" : "Failed",
    conditions: conditionsOf(
      pod,
      nowMs,
      { PodReadyToStartContainers: false, Initialized: true, Ready: false, ContainersReady: false },
      reason,
    ),
    containerStatuses: pod.spec.containers.map((container) =>
      statusOf(pod, container, {
        ready: false,
        started: false,
        restartCount: runs.restartCount,
        state: finished(exit, runs.startedMs, nowMs),
        lastState: lastState(runs),
      }),
    ),
  };
}

function conditionsOf(pod: Pod, nowMs: number, wishes: Readonly<Record<string, boolean>>, reason?: string): readonly Condition[] {
  let conditions: readonly Condition[] = pod.status?.conditions ?? [];
  for (const [type, isTrue] of Object.entries(wishes)) {
    const why =
      isTrue || type === "PodScheduled" ? {} : { reason: reason ?? "ContainersNotReady", message: unreadyMessage(pod, type, reason) };
    conditions = withCondition(conditions, { type, status: isTrue ? "True" : "False", ...why }, nowMs);
  }
  return conditions;
}

function unreadyMessage(pod: Pod, type: string, reason: string | undefined): string | undefined {
  if (reason !== undefined || type === "PodReadyToStartContainers") {
    return undefined;
  }
  const names = (type === "Initialized" ? (pod.spec.initContainers ?? []) : pod.spec.containers).map(({ name }) => name);
  return type === "Initialized"
    ? `containers with incomplete status: [${names.join(" ")}]`
    : `containers with unready status: [${names.join(" ")}]`;
}

function statusOf(pod: Pod, container: Container, rest: Readonly<Record<string, unknown>>): ContainerStatus {
  const image = container.image ?? "";
  const id = [1, 2, 3, 4, 5, 6, 7, 8].map((part) =>
    fnv1a32(`${pod.metadata?.uid}/${container.name}/${rest.restartCount}/${part}`).toString(16).padStart(8, "0"),
  );
  const isWaiting = rest.started === false && typeof rest.state === "object" && rest.state !== null && "waiting" in rest.state;
  return {
    name: container.name,
    image,
    imageID:
      isWaiting && rest.restartCount === 0 ? "" : `${image.split("@")[0]}@sha256:${fnv1a32(image).toString(16).padStart(8, "0").repeat(8)}`,
    ...(isWaiting && rest.restartCount === 0 ? {} : { containerID: `containerd://${id.join("")}` }),
    ...rest,
  };
}

/** A sidecar (an init container that is always restarted) runs on beside the others; `sidecarState` says how. */
function initStatuses(
  pod: Pod,
  state: unknown,
  isDone: boolean,
  sidecarState = state,
): { readonly initContainerStatuses?: readonly ContainerStatus[] } {
  const all = pod.spec.initContainers ?? [];
  if (all.length === 0) {
    return {};
  }
  const statuses = all.map((container) => {
    const isSidecar = container.restartPolicy === "Always";
    return statusOf(pod, container, {
      ready: isDone,
      started: isDone && isSidecar,
      restartCount: 0,
      state: isSidecar ? sidecarState : state,
    });
  });
  return { initContainerStatuses: statuses };
}

function finished({ exitCode, reason }: PodExit, startedMs: number, finishedMs: number) {
  const why = reason ?? (exitCode === 0 ? "Completed" : "Error");
  return { terminated: { exitCode, reason: why, startedAt: formatTime(startedMs), finishedAt: formatTime(finishedMs) } };
}

function lastState({ lastExit, startedMs }: ContainerRuns): unknown {
  return lastExit === undefined ? {} : finished(lastExit, Math.min(startedMs, lastExit.atMs), lastExit.atMs);
}
