/** What runs the containers of a pod. Simulated unless the world is given a runtime that starts real processes. */
import type { Node, Pod } from "@joinery/api";
import type { Clock, Random } from "@joinery/kube";
import type { ContainerLog } from "../api-server/verbs/container-log.ts";
import { timeMs } from "../controllers/pod-facts.ts";

export interface PodExit {
  readonly exitCode: number;
  /** `Completed`, `Error`, `OOMKilled` …; by default after the exit code. */
  readonly reason?: string;
}

/** One run of a pod's containers, from start to exit. */
export interface PodRun {
  /** Resolves when the readiness probe succeeds. Never, when the run ends before. */
  readonly ready: Promise<void>;
  /** Resolves when the containers have exited by themselves or after `stop`. */
  readonly exited: Promise<PodExit>;
  /** What the first container writes, where it is a real process. */
  readonly log?: ContainerLog;
  /** As SIGTERM, and SIGKILL after `graceMs`. */
  stop(graceMs: number): void;
}

export interface PodRuntime {
  /** Called again for each restart of the containers. */
  start(pod: Pod, node: Node): PodRun;
}

/** How long the containers of a pod run until they end by themselves, e.g. `90` or `1.5`; only where `restartPolicy` is not Always. */
export const RUN_SECONDS_ANNOTATION = "sandbox.joinery.dev/run-seconds";
/** With which code they exit then; default 0. */
export const EXIT_CODE_ANNOTATION = "sandbox.joinery.dev/exit-code";
/** From start to ready; default 0. */
export const READY_SECONDS_ANNOTATION = "sandbox.joinery.dev/ready-seconds";
/** From SIGTERM to exit; default below a second. Not longer than the grace period. */
export const STOP_SECONDS_ANNOTATION = "sandbox.joinery.dev/stop-seconds";

export interface SimulatedRuntimeOptions {
  readonly clock: Clock;
  readonly chance: (name: string) => Random;
  /** Jobs without annotation run so long, drawn per pod. */
  readonly jobRunMs?: readonly [number, number];
}

/** Time that most programs need to end after SIGTERM. */
const STOP_MS: readonly [number, number] = [200, 1500];
const JOB_RUN_MS: readonly [number, number] = [20_000, 60_000];

export function createSimulatedRuntime({ clock, chance, jobRunMs = JOB_RUN_MS }: SimulatedRuntimeOptions): PodRuntime {
  return {
    start(pod) {
      const random = chance(`run/${pod.metadata?.uid}`);
      const annotation = (name: string): number | undefined => secondsOf(pod.metadata?.annotations?.[name]);
      const cancels: (() => void)[] = [];
      const endsItself = (pod.spec.restartPolicy ?? "Always") !== "Always" || annotation(RUN_SECONDS_ANNOTATION) !== undefined;
      const { promise: exited, resolve: exit } = Promise.withResolvers<PodExit>();
      const { promise: ready, resolve: becomeReady } = Promise.withResolvers<void>();
      const readyMs = annotation(READY_SECONDS_ANNOTATION) ?? 0;
      if (readyMs > 0) {
        cancels.push(clock.after(readyMs, becomeReady));
      } else {
        becomeReady();
      }
      if (endsItself) {
        const runMs = annotation(RUN_SECONDS_ANNOTATION) ?? between(random, jobRunMs);
        const exitCode = Number(pod.metadata?.annotations?.[EXIT_CODE_ANNOTATION] ?? 0) || 0;
        cancels.push(clock.after(runMs, () => exit({ exitCode })));
      }
      return {
        ready,
        exited,
        stop(graceMs) {
          for (const cancel of cancels.splice(0)) {
            cancel();
          }
          const wishMs = annotation(STOP_SECONDS_ANNOTATION) ?? between(random, STOP_MS);
          // A server ends in order on SIGTERM; a batch program is cut off in its work.
          const exitCode = wishMs > graceMs ? 137 : endsItself ? 143 : 0;
          clock.after(Math.min(wishMs, graceMs), () => exit({ exitCode }));
        },
      };
    },
  };
}

export function between(random: Random, [fromMs, toMs]: readonly [number, number]): number {
  return fromMs + random.below(Math.max(1, Math.floor(toMs - fromMs) + 1));
}

function secondsOf(text: string | undefined): number | undefined {
  const seconds = text === undefined ? Number.NaN : Number(text);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

/** When the pod's deletion must be complete, in epoch milliseconds. */
export function deletionDeadlineMs(pod: Pod): number | undefined {
  return pod.metadata?.deletionTimestamp === undefined ? undefined : timeMs(pod.metadata.deletionTimestamp);
}
