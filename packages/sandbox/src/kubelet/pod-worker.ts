/** One pod on one node: from bound to running to gone. Reacts to changes of the pod, to exits of its containers and to due times. */
import type { Node, Pod } from "@joinery/api";
import { Pods } from "@joinery/api";
import { isNotFound, type KubeClient, type Random } from "@joinery/kube";
import type { ContainerLog } from "../api-server/verbs/container-log.ts";
import { isEnded } from "../controllers/pod-facts.ts";
import type { ClusterContext } from "../world/context.ts";
import type { EventSink } from "../world/event-sink.ts";
import { between, deletionDeadlineMs, type PodExit, type PodRun, type PodRuntime } from "./pod-runtime.ts";
import { type ContainerRuns, crashedStatus, endedStatus, runningStatus, startingStatus } from "./pod-status.ts";

export interface PodWorkerOptions {
  readonly context: ClusterContext;
  readonly client: KubeClient;
  readonly events: EventSink;
  readonly random: Random;
  readonly runtime: PodRuntime;
  readonly node: () => Node;
  readonly hostIp: string;
  readonly podIp: string;
  /** From accepted to containers running: image pull and sandbox. */
  readonly startLatencyMs: readonly [number, number];
  /** False while a volume of the pod is not attached yet. */
  readonly hasVolumes: (pod: Pod) => boolean;
  readonly onGone: () => void;
}

export interface PodWorker {
  changed(pod: Pod): void;
  /** Of the run that goes on, or of the last that ended; `previous`: of the last that ended. */
  log(previous: boolean): ContainerLog | undefined;
  /** The machine died: nothing is written any more, and containers end at once. */
  die(): void;
}

/** Kubernetes waits so long before the second start, doubling up to the maximum; a run of ten minutes forgives. */
const RESTART_FIRST_MS = 10_000;
const RESTART_MAX_MS = 300_000;
const RESTART_FORGIVEN_MS = 600_000;
const GRACE_DEFAULT_SECONDS = 30;

export function createPodWorker(options: PodWorkerOptions, first: Pod): PodWorker {
  const { context, client, events, random, runtime, hostIp, podIp } = options;
  const { clock } = context;
  let pod = first;
  let run: PodRun | undefined;
  let lastRun: PodRun | undefined;
  let runs: ContainerRuns = { restartCount: 0, startedMs: clock.wallMs() };
  let phase: "new" | "waiting" | "starting" | "running" | "backing-off" | "ended" | "stopping" | "gone" = "new";
  let cancelDue: (() => void) | undefined;
  let crashes = 0;
  let tail: Promise<void> = Promise.resolve();

  function write(makeStatus: () => object): void {
    inOrder("status", async () => {
      const status = makeStatus();
      const key = { name: pod.metadata?.name ?? "", namespace: pod.metadata?.namespace };
      const body = { metadata: { uid: pod.metadata?.uid }, status };
      const written = await client.patch(Pods, key, { type: "merge", body }, { subresource: "status" });
      pod = written.metadata?.uid === pod.metadata?.uid ? written : pod;
    });
  }

  function inOrder(what: string, action: () => Promise<void>): void {
    tail = tail
      .then(() => (phase === "gone" ? undefined : action()))
      .catch((error: unknown) => {
        if (phase !== "gone" && !context.signal.aborted && !isNotFound(error)) {
          context.report("kubelet", `${what} of ${pod.metadata?.namespace}/${pod.metadata?.name}`, error);
        }
      });
  }

  function accept(): void {
    if (isEnded(pod)) {
      phase = "ended";
      return;
    }
    if (pod.status?.phase === "Running") {
      begin(); // the kubelet came back: containers run on
      return;
    }
    phase = "waiting";
    write(() => startingStatus(pod, { hostIp, nowMs: clock.wallMs() }));
    prepare();
  }

  function prepare(): void {
    if (!options.hasVolumes(pod)) {
      return; // the change of the attachment comes back here
    }
    phase = "starting";
    cancelDue = clock.after(between(random, options.startLatencyMs), begin);
  }

  function begin(): void {
    cancelDue = undefined;
    phase = "running";
    runs = { ...runs, startedMs: clock.wallMs() };
    for (const { name, image = "" } of pod.spec.containers) {
      events.publish(pod, { reason: "Pulled", message: `Container image "${image}" already present on machine` });
      events.publish(pod, { reason: "Created", message: `Created container: ${name}` });
      events.publish(pod, { reason: "Started", message: `Started container ${name}` });
    }
    const own = runtime.start(pod, options.node());
    run = own;
    let isReady = false;
    let hasShown = false;
    own.ready.then(() => {
      isReady = true;
      if (run === own && phase === "running" && hasShown) {
        show();
      }
    });
    const show = (): void => {
      hasShown = true;
      write(() => runningStatus(pod, isReady, runs, { hostIp, podIp, nowMs: clock.wallMs() }));
    };
    // A pod that is ready at once is written once.
    Promise.resolve().then(() => {
      if (run === own && phase === "running") {
        show();
      }
    });
    own.exited.then((exit) => {
      if (run === own) {
        ended(exit);
      }
    });
  }

  function ended(exit: PodExit): void {
    lastRun = run;
    run = undefined;
    const atMs = clock.wallMs();
    if (phase === "gone") {
      return;
    }
    if (phase === "stopping") {
      write(() => endedStatus(pod, exit, runs, atMs));
      confirmDeletion();
      return;
    }
    const policy = pod.spec.restartPolicy ?? "Always";
    if (policy === "Never" || (policy === "OnFailure" && exit.exitCode === 0)) {
      phase = "ended";
      write(() => endedStatus(pod, exit, runs, atMs));
      return;
    }
    phase = "backing-off";
    crashes = atMs - runs.startedMs >= RESTART_FORGIVEN_MS ? 0 : crashes;
    const waitMs = crashes === 0 ? 0 : Math.min(RESTART_MAX_MS, RESTART_FIRST_MS * 2 ** (crashes - 1));
    crashes += 1;
    runs = { ...runs, restartCount: runs.restartCount + 1, lastExit: { ...exit, atMs } };
    write(() => crashedStatus(pod, runs, waitMs, atMs));
    if (waitMs > 0) {
      events.publish(pod, {
        type: "Warning",
        reason: "BackOff",
        message: `Back-off restarting failed container ${pod.spec.containers[0]?.name} in pod ${pod.metadata?.name}_${pod.metadata?.namespace}(${pod.metadata?.uid})`,
      });
    }
    cancelDue = clock.after(waitMs, begin);
  }

  function stop(): void {
    const graceMs = graceMsOf(pod);
    if (phase === "stopping") {
      run?.stop(graceMs); // a second delete may shorten the grace period
      return;
    }
    const hadRun = run !== undefined;
    cancelDue?.();
    cancelDue = undefined;
    phase = "stopping";
    if (hadRun) {
      for (const { name } of pod.spec.containers) {
        events.publish(pod, { reason: "Killing", message: `Stopping container ${name}` });
      }
      run?.stop(graceMs);
    } else {
      confirmDeletion();
    }
  }

  function confirmDeletion(): void {
    inOrder("deletion", async () => {
      const key = { name: pod.metadata?.name ?? "", namespace: pod.metadata?.namespace };
      await client.delete(Pods, key, { uid: pod.metadata?.uid, gracePeriodSeconds: 0 });
    });
  }

  function graceMsOf({ metadata, spec }: Pod): number {
    const seconds = metadata?.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? GRACE_DEFAULT_SECONDS;
    const deadlineMs = deletionDeadlineMs(pod);
    const leftMs = deadlineMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, deadlineMs - clock.wallMs());
    return Math.min(seconds * 1000, leftMs);
  }

  return {
    changed(next) {
      if (phase === "gone") {
        return;
      }
      const shortened = next.metadata?.deletionGracePeriodSeconds !== pod.metadata?.deletionGracePeriodSeconds;
      pod = next;
      if (next.metadata?.deletionTimestamp !== undefined) {
        if (phase !== "stopping" || shortened) {
          stop();
        }
      } else if (phase === "new") {
        accept();
      } else if (phase === "waiting") {
        prepare();
      }
    },
    log: (previous) => (previous ? lastRun : (run ?? lastRun))?.log,
    die() {
      phase = "gone";
      cancelDue?.();
      run?.stop(0);
      run = undefined;
      options.onGone();
    },
  };
}
