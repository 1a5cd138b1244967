/**
 * What the controller costs: `node bench/footprint/run.ts --json [--nodes N --pods M]… [--limit] [--in-cluster] [--node-flag FLAG]…`,
 * after `npm run build`. Without `--nodes` and `--pods`: an empty cluster, and 1,000 nodes with 15,000 pods.
 *
 * Each case has two processes of its own: the sandbox's API server over HTTPS, and the bundle with the kwok provider and leader election.
 * `--limit` runs each case a second time in a control group of 256 MiB and a quarter of a core (needs root).
 */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createCgroup, SMALLEST_BOX } from "./cgroup.ts";
import type { ClusterMessage, ClusterRequest } from "./cluster-process.ts";
import { ControllerDied, copyOfNode, type RunningController, startController, untilAtRest } from "./controller-process.ts";
import { kubeconfigLogin, serviceAccountLogin } from "./login.ts";
import { cpuSecondsOf, memoryOf } from "./process-figures.ts";
import { cgroupFigures, type Line, mebibytes, print, rounded, seconds } from "./report.ts";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    nodes: { type: "string", multiple: true, default: ["0", "1000"] },
    pods: { type: "string", multiple: true, default: ["0", "15000"] },
    burst: { type: "string", default: "500" },
    limit: { type: "boolean", default: false },
    "only-limit": { type: "boolean", default: false },
    "in-cluster": { type: "boolean", default: false },
    "node-flag": { type: "string", multiple: true, default: [] },
    "compile-cache": { type: "string" },
    "rest-seconds": { type: "string", default: "30" },
    bundle: { type: "string", default: "dist/joinery.mjs" },
  },
});

interface Case {
  readonly nodes: number;
  readonly pods: number;
  readonly isLimited: boolean;
}

if (!existsSync(options.bundle)) throw new Error(`${options.bundle} does not exist: run "npm run build" first`);
const limited = options["only-limit"] ? [true] : options.limit ? [false, true] : [false];
for (const [index, nodes] of options.nodes.entries()) {
  for (const isLimited of limited)
    print(await measure({ nodes: Number(nodes), pods: Number(options.pods[index] ?? 0), isLimited }), options.json);
}

async function measure(asked: Case): Promise<Line> {
  const folder = mkdtempSync(join(tmpdir(), "joinery-footprint-"));
  const cluster = await startCluster(asked);
  const cgroup = asked.isLimited ? createCgroup(`joinery-footprint-${process.pid}`, SMALLEST_BOX) : undefined;
  const metrics: Record<string, number> = {
    machineLoad: rounded(loadavg()[0] ?? 0),
    podBytes: cluster.facts.podBytes,
    nodeBytes: cluster.facts.nodeBytes,
  };
  const login = options["in-cluster"] ? serviceAccountLogin(cluster.facts, folder) : kubeconfigLogin(cluster.facts.kubeconfig, folder);
  let controller: RunningController | undefined;
  let failure: string | undefined;
  try {
    controller = await startController({
      node: asked.isLimited ? copyOfNode(folder) : process.execPath,
      bundle: options.bundle,
      args: login.args,
      env: { ...login.env, ...(options["compile-cache"] !== undefined && { NODE_COMPILE_CACHE: options["compile-cache"] }) },
      nodeFlags: options["node-flag"],
      memberFiles: cgroup?.memberFiles ?? [],
    });
    await observe(controller, cluster, metrics);
  } catch (error) {
    if (!(error instanceof ControllerDied)) throw error;
    failure = error.message;
  } finally {
    await controller?.stop();
    Object.assign(metrics, cgroupFigures(cgroup));
    cgroup?.remove();
    cluster.process.kill();
    rmSync(folder, { recursive: true, force: true });
  }
  const { nodes, pods, isLimited } = asked;
  return {
    name: "footprint/controller",
    params: {
      nodes,
      pods,
      limit: isLimited ? "256 MiB, 0.25 CPU" : "none",
      login: options["in-cluster"] ? "service account" : "kubeconfig",
      nodeFlags: options["node-flag"].join(" "),
      compileCache: options["compile-cache"] === undefined ? "no" : "yes",
    },
    metrics,
    ...(failure !== undefined && { failure }),
  };
}

/** Fills `metrics` step by step, so that a controller that dies on the way leaves what was seen before. */
async function observe(controller: RunningController, cluster: Cluster, metrics: Record<string, number>): Promise<void> {
  const { pid } = controller;
  const dead = () => {
    if (controller.hasExited) throw new ControllerDied(`the controller ended\n${controller.log.join("\n")}`);
  };
  metrics.readySeconds = seconds(controller.readyMs);
  metrics.readyCpuSeconds = rounded(controller.readyCpuSeconds);
  metrics.leadingSeconds = seconds((await controller.leading) - controller.startedAtMs);
  await untilAtRest(controller, 120_000);
  metrics.restAfterSeconds = seconds(performance.now() - controller.startedAtMs);
  dead();
  const started = memoryOf(pid);
  metrics.startCpuSeconds = rounded(cpuSecondsOf(pid));
  metrics.startRssPeakMiB = mebibytes(started.rssPeakBytes);
  metrics.startWrites = (await ask(cluster, { kind: "count-writes" }, "writes")).count;
  const restSeconds = Number(options["rest-seconds"]);
  const cpuBefore = cpuSecondsOf(pid);
  await sleep(restSeconds * 1000);
  dead();
  const resting = memoryOf(pid);
  metrics.restCpuPercent = rounded(((cpuSecondsOf(pid) - cpuBefore) / restSeconds) * 100);
  metrics.restRssMiB = mebibytes(resting.rssBytes);
  metrics.restAnonymousMiB = mebibytes(resting.anonymousBytes);
  const burstPods = Number(options.burst);
  if (burstPods === 0) return;
  const cpuBeforeBurst = cpuSecondsOf(pid);
  const burst = await Promise.race([ask(cluster, { kind: "burst", pods: burstPods }, "burst"), untilGone(controller)]);
  dead();
  metrics.burstPods = burstPods;
  metrics.burstNodeClaims = burst?.nodeClaims ?? 0;
  metrics.burstClaimedSeconds = seconds(burst?.claimedMs ?? 0);
  metrics.burstLaunchedSeconds = seconds(burst?.launchedMs ?? 0);
  metrics.burstCpuSeconds = rounded(cpuSecondsOf(pid) - cpuBeforeBurst);
  await untilAtRest(controller, 60_000);
  dead();
  const after = memoryOf(pid);
  metrics.burstRssPeakMiB = mebibytes(after.rssPeakBytes);
  metrics.afterRssMiB = mebibytes(after.rssBytes);
  metrics.totalCpuSeconds = rounded(cpuSecondsOf(pid));
}

async function untilGone(controller: RunningController): Promise<undefined> {
  while (!controller.hasExited) await sleep(500);
}

interface Cluster {
  readonly process: ChildProcess;
  readonly facts: Extract<ClusterMessage, { kind: "filled" }>;
}

async function startCluster({ nodes, pods }: Case): Promise<Cluster> {
  const child = fork(join(import.meta.dirname, "cluster-process.ts"), [String(nodes), String(pods)], {
    execArgv: ["--max-old-space-size=6144"],
  });
  return { process: child, facts: await reply(child, "filled") };
}

async function ask<K extends ClusterMessage["kind"]>({ process: child }: Cluster, request: ClusterRequest, kind: K) {
  child.send(request);
  return reply(child, kind);
}

function reply<K extends ClusterMessage["kind"]>(child: ChildProcess, kind: K): Promise<Extract<ClusterMessage, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`the cluster's process ended with ${code}`));
    const heard = (message: ClusterMessage) => {
      if (message.kind !== kind) return;
      child.off("message", heard);
      child.off("exit", ended);
      resolve(message as Extract<ClusterMessage, { kind: K }>);
    };
    child.on("message", heard);
    child.once("exit", ended);
  });
}
