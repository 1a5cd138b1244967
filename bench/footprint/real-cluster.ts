/**
 * A real control plane with a cluster at rest: nodes with their NodeClaims that are full, and Deployments whose pods the real controllers made,
 * the real scheduler bound and kwok runs. Filling takes minutes; its data can be kept and used again.
 */
import { cpSync, existsSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createKubeClient, createRealClock, type KubeClient, loadTransport } from "@joinery/kube";
import { type ControlPlane, startControlPlane } from "../../test/kubernetes/control-plane/processes.ts";
import { type ClusterSize, fillCluster } from "./fill-cluster.ts";
import { type Observer, observe } from "./observer.ts";
import { cpuSecondsOf } from "./process-figures.ts";

export interface RealCluster extends ControlPlane {
  readonly client: KubeClient;
  readonly observer: Observer;
  /** How long it took to come to rest after its own start, and how much of a core it used then; kwok's heartbeats go on. */
  readonly rest: PlaneRest;
}

interface PlaneRest {
  readonly afterMs: number;
  readonly cores: number;
  /** False: it was waited for in vain, and what is measured is measured beside a busy control plane. */
  readonly isAtRest: boolean;
}

const REST_MS_MAX = 600_000;
/** The control plane is not what is measured: it goes before whatever else runs on the machine. */
const PRIORITY = -10;
/** Nodes that were written long ago shall not count as lost before kwok has renewed all their leases. */
const CONTROLLER_MANAGER_FLAGS = "--node-monitor-grace-period=2h";

/**
 * A control plane that has just been started reads 15,000 pods in four of its processes, on the cores of what is measured; once it is done, the
 * heartbeats of a thousand nodes take half of one.
 */
const REST_CORES_MAX = 0.7;
const REST_WINDOW_SECONDS = 10;
const PLANE_REST_MS_MAX = 300_000;

/** Starts it in `folder`. `kept` is where the data of an earlier fill of this size stands, or will. */
export async function startRealCluster(size: ClusterSize, folder: string, kept?: string): Promise<RealCluster> {
  const data = join(folder, "etcd");
  if (kept !== undefined && existsSync(kept)) cpSync(kept, data, { recursive: true });
  else {
    await fill(size, folder);
    if (kept !== undefined) cpSync(data, kept, { recursive: true });
  }
  const plane = await startControlPlane(folder, { controllerManagerFlags: CONTROLLER_MANAGER_FLAGS });
  process.once("exit", plane.stop); // an error that nobody catches ends this process without its finally blocks
  for (const pid of plane.pids) setPriority(pid, PRIORITY);
  try {
    const client = await clientOf(plane);
    const observer = await observe(client);
    const missing = () => size.nodes - observer.readyNodeCount + size.pods - observer.runningCount;
    await eventually("nodes to be Ready and pods to run", REST_MS_MAX, missing);
    return { ...plane, client, observer, rest: await untilPlaneAtRest(plane.pids) };
  } catch (error) {
    plane.stop();
    throw error;
  }
}

export async function stop({ observer, stop: stopPlane }: RealCluster): Promise<void> {
  try {
    await observer.stop();
  } finally {
    stopPlane();
  }
}

/** Until all of its processes together used little over some seconds. */
async function untilPlaneAtRest(pids: readonly number[]): Promise<PlaneRest> {
  const startedMs = performance.now();
  const used: number[] = [];
  for (;;) {
    const before = { cpu: cpuSecondsOfAll(pids), ms: performance.now() };
    await sleep(1000);
    used.push((1000 * (cpuSecondsOfAll(pids) - before.cpu)) / (performance.now() - before.ms));
    const window = used.slice(-REST_WINDOW_SECONDS);
    const cores = window.reduce((sum, share) => sum + share, 0) / window.length;
    const afterMs = performance.now() - startedMs;
    const isAtRest = window.length === REST_WINDOW_SECONDS && cores <= REST_CORES_MAX;
    if (isAtRest || afterMs > PLANE_REST_MS_MAX) return { afterMs, cores, isAtRest };
  }
}

function cpuSecondsOfAll(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0);
}

async function fill(size: ClusterSize, folder: string): Promise<void> {
  const plane = await startControlPlane(folder, { isApiOnly: true });
  try {
    await fillCluster(await clientOf(plane), size);
  } finally {
    plane.stop();
  }
}

async function clientOf({ kubeconfig }: ControlPlane): Promise<KubeClient> {
  const { transport } = await loadTransport({ clock: createRealClock(), env: { KUBECONFIG: kubeconfig } });
  return createKubeClient(transport, { userAgent: "bench" });
}

/** Looks until nothing is missing. */
export async function eventually(what: string, timeoutMs: number, missing: () => number, everyMs = 200): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  for (let count = missing(); count !== 0; count = missing()) {
    if (performance.now() > deadlineMs) throw new Error(`waited ${timeoutMs / 1000} s for ${what}: ${count} are missing`);
    await sleep(everyMs);
  }
}
