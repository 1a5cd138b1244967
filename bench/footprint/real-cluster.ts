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

export interface RealCluster extends ControlPlane {
  readonly client: KubeClient;
  readonly observer: Observer;
}

const REST_MS_MAX = 600_000;
/** The control plane is not what is measured: it goes before whatever else runs on the machine. */
const PRIORITY = -10;
/** Nodes that were written long ago shall not count as lost before kwok has renewed all their leases. */
const CONTROLLER_MANAGER_FLAGS = "--node-monitor-grace-period=2h";

/** Starts it in `folder`. `kept` is where the data of an earlier fill of this size stands, or will. */
export async function startRealCluster(size: ClusterSize, folder: string, kept?: string): Promise<RealCluster> {
  const data = join(folder, "etcd");
  if (kept !== undefined && existsSync(kept)) cpSync(kept, data, { recursive: true });
  else {
    await fill(size, folder);
    if (kept !== undefined) cpSync(data, kept, { recursive: true });
  }
  const plane = await startControlPlane(folder, { controllerManagerFlags: CONTROLLER_MANAGER_FLAGS });
  for (const pid of plane.pids) setPriority(pid, PRIORITY);
  try {
    const client = await clientOf(plane);
    const observer = await observe(client);
    const missing = () => size.nodes - observer.readyNodeCount + size.pods - observer.runningCount;
    await eventually("nodes to be Ready and pods to run", REST_MS_MAX, missing);
    return { ...plane, client, observer };
  } catch (error) {
    plane.stop();
    throw error;
  }
}

export async function stop({ observer, stop: stopPlane }: RealCluster): Promise<void> {
  await observer.stop();
  stopPlane();
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
