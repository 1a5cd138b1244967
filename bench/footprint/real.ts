/**
 * What the built controller costs beside a real control plane: `node bench/footprint/real.ts [--json] [--kept DIR]`, after `npm run build`, as
 * root on Linux. Two replicas, each in a control group of 256 MiB and a quarter of a core; everything else runs outside. In order: the control
 * plane comes to rest, start of both, a burst of pending pods, the end of many pods, a clean stop of the leader. With `--from-empty`: no nodes,
 * all pods applied at once; with `--at-most-seconds` what is reached by then is told.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Deployments, NodePools } from "@joinery/api";
import { type Cgroup, createCgroup, SMALLEST_BOX } from "./cgroup.ts";
import { BURST_SHAPES, NAMESPACE, nodePool, POOL_NAME, podTemplate, type Shape, workloadLabels } from "./cluster-objects.ts";
import { ControllerDied, copyOfNode, type RunningController, startController, untilAtRest } from "./controller-process.ts";
import { createDeployments } from "./fill-cluster.ts";
import { serviceAccountLogin } from "./login.ts";
import { cpuSecondsOf, memoryOf } from "./process-figures.ts";
import { eventually, type RealCluster, startRealCluster, stop } from "./real-cluster.ts";
import { cgroupFigures, mebibytes, print, quantile, rounded, seconds } from "./report.ts";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    nodes: { type: "string", default: "1000" },
    pods: { type: "string", default: "15000" },
    deployments: { type: "string", default: "300" },
    burst: { type: "string", default: "1000" },
    deleted: { type: "string", default: "3000" },
    "from-empty": { type: "boolean", default: false },
    "at-most-seconds": { type: "string" },
    "memory-mebibytes": { type: "string" },
    cpus: { type: "string" },
    kept: { type: "string" },
    "node-flag": { type: "string", multiple: true, default: [] },
    bundle: { type: "string", default: "dist/joinery.mjs" },
    env: { type: "string", multiple: true, default: [] },
    only: { type: "string" },
    logs: { type: "string" },
  },
});

type Metrics = Record<string, number>;

interface Replica {
  readonly cgroup: Cgroup;
  readonly controller: RunningController;
}

const SMALL_TYPES = [{ key: "karpenter.kwok.sh/instance-cpu", operator: "Lt", values: ["5"] }];
const REST_MS_MAX = 180_000;
const BURST_MS_MAX = 600_000;
const FROM_EMPTY_MS_MAX = 3_000_000;

if (!existsSync(options.bundle)) throw new Error(`${options.bundle} does not exist: run "npm run build" first`);
const limits = {
  memoryBytes: options["memory-mebibytes"] === undefined ? SMALLEST_BOX.memoryBytes : Number(options["memory-mebibytes"]) * 2 ** 20,
  cpus: options.cpus === undefined ? SMALLEST_BOX.cpus : Number(options.cpus),
};
const isFromEmpty = options["from-empty"];
if (options.logs !== undefined) mkdirSync(options.logs, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "joinery-footprint-"));
const size = {
  nodes: isFromEmpty ? 0 : Number(options.nodes),
  pods: isFromEmpty ? 0 : Number(options.pods),
  deployments: Number(options.deployments),
};
const cluster = await startRealCluster(size, folder, options.kept);
const replicas: Replica[] = [];
const metrics: Metrics = {
  controlPlaneRestSeconds: seconds(cluster.rest.afterMs),
  controlPlaneRestCores: rounded(cluster.rest.cores),
  controlPlaneIsAtRest: cluster.rest.isAtRest ? 1 : 0,
};
let failure: string | undefined;
try {
  await (isFromEmpty ? fromEmpty(cluster) : atRest(cluster));
} catch (error) {
  if (!(error instanceof ControllerDied)) throw error;
  failure = error.message;
} finally {
  try {
    await Promise.all(replicas.map(({ controller }) => controller.stop()));
    for (const { cgroup } of replicas) cgroup.remove();
  } finally {
    await stop(cluster);
    rmSync(folder, { recursive: true, force: true });
  }
}
print(
  {
    name: isFromEmpty ? "footprint/real-from-empty" : "footprint/real",
    params: {
      ...size,
      ...(isFromEmpty && { pods: Number(options.pods) }),
      limit: `${limits.memoryBytes / 2 ** 20} MiB, ${limits.cpus} CPU`,
      nodeFlags: options["node-flag"].join(" "),
    },
    metrics,
    ...(failure !== undefined && { failure }),
  },
  options.json,
);

async function atRest(real: RealCluster): Promise<void> {
  const leader = await startReplica(real, "leader");
  await leader.controller.leading;
  if (options.only === "ready") return finish(leader, "leader");
  await rest(leader);
  noteMemory("rest", leader);
  metrics.restAfterSeconds = seconds(performance.now() - leader.controller.startedAtMs);
  metrics.restCpuSeconds = rounded(cpuSecondsOf(leader.controller.pid));
  if (options.only === "start") return finish(leader, "leader");
  const standby = await startReplica(real, "standby");
  await rest(standby);
  await burst(real, leader, "burst", Number(options.burst));
  await deletion(real, leader);
  finish(leader, "leader");
  noteMemory("standby", standby);
  const stoppedAtMs = performance.now();
  await Promise.all([
    leader.controller.stop().then(() => {
      metrics.stopSeconds = seconds(performance.now() - stoppedAtMs);
    }),
    standby.controller.leading,
  ]);
  metrics.handOverSeconds = seconds((await standby.controller.leading) - stoppedAtMs);
  await burst(real, standby, "successor", 20);
  finish(standby, "standby");
}

async function fromEmpty(real: RealCluster): Promise<void> {
  const narrowed = { spec: nodePool(SMALL_TYPES).spec };
  await real.client.patch(NodePools, { name: POOL_NAME }, { type: "merge", body: narrowed });
  const leader = await startReplica(real, "leader");
  await leader.controller.leading;
  await rest(leader);
  const { observer } = real;
  const pods = Number(options.pods);
  observer.reset();
  const cpuBefore = cpuSecondsOf(leader.controller.pid);
  const startedMs = performance.now();
  await createDeployments(real.client, size.deployments, pods);
  metrics.appliedSeconds = seconds(performance.now() - startedMs);
  const endsMs = startedMs + 1000 * Number(options["at-most-seconds"] ?? Number.POSITIVE_INFINITY);
  const missing = () => (performance.now() > endsMs ? 0 : pods - observer.runningCount);
  await eventually("pods to run", FROM_EMPTY_MS_MAX, whileAlive(leader, missing), 500);
  const isWhole = observer.runningCount === pods;
  metrics[isWhole ? "allRunSeconds" : "lookedAtAfterSeconds"] = seconds(performance.now() - startedMs);
  metrics[isWhole ? "allRunCpuSeconds" : "lookedAtAfterCpuSeconds"] = rounded(cpuSecondsOf(leader.controller.pid) - cpuBefore);
  metrics.running = observer.runningCount;
  metrics.nodes = observer.readyNodeCount;
  metrics.nodeClaims = observer.nodeClaimCount;
  noteWaits(real, leader, "");
  if (isWhole) await rest(leader);
  finish(leader, "leader");
}

async function startReplica({ url, certificate, token }: RealCluster, role: string): Promise<Replica> {
  const own = mkdtempSync(join(folder, `${role}-`));
  const cgroup = createCgroup(`joinery-footprint-${process.pid}-${role}`, limits);
  metrics[`${role}MachineLoad`] = rounded(loadavg()[0] ?? 0);
  const login = serviceAccountLogin({ url, certificate, token }, own);
  const extra = Object.fromEntries(options.env.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
  try {
    const controller = await startController({
      node: copyOfNode(own),
      bundle: options.bundle,
      args: [...login.args, "--log-level=debug"],
      env: { ...login.env, ...extra },
      nodeFlags: options["node-flag"],
      memberFiles: cgroup.memberFiles,
      ...(options.logs !== undefined && { logFile: join(options.logs, `${role}.log`) }),
    });
    const replica = { cgroup, controller };
    replicas.push(replica);
    metrics[`${role}ReadySeconds`] = seconds(controller.readyMs);
    metrics[`${role}ReadyCpuSeconds`] = rounded(controller.readyCpuSeconds);
    const { throttledPeriods, periods } = cgroup.figures();
    metrics[`${role}ReadyThrottledPeriods`] = throttledPeriods;
    metrics[`${role}ReadyCpuPeriods`] = periods;
    return replica;
  } catch (error) {
    Object.assign(metrics, cgroupFigures(cgroup));
    cgroup.remove();
    throw error;
  }
}

/** Pods of six Deployments at once, until the last runs. */
async function burst(real: RealCluster, replica: Replica, name: string, pods: number): Promise<void> {
  const { client, observer } = real;
  const before = { cpu: cpuSecondsOf(replica.controller.pid), running: observer.runningCount, claims: observer.nodeClaimCount };
  observer.reset();
  const startedMs = performance.now();
  for (const [index, shape] of BURST_SHAPES.entries()) {
    const replicaCount = Math.floor(pods / BURST_SHAPES.length) + (index < pods % BURST_SHAPES.length ? 1 : 0);
    await client.create(Deployments, burstDeployment(`${name}-${index}`, replicaCount, shape) as never);
  }
  const missing = () => before.running + pods - observer.runningCount;
  await eventually(`the pods of ${name} to run`, BURST_MS_MAX, whileAlive(replica, missing));
  metrics[`${name}Pods`] = pods;
  metrics[`${name}NodeClaims`] = observer.nodeClaimCount - before.claims;
  metrics[`${name}RunSeconds`] = seconds(performance.now() - startedMs);
  metrics[`${name}CpuSeconds`] = rounded(cpuSecondsOf(replica.controller.pid) - before.cpu);
  noteWaits(real, replica, name);
}

/**
 * From a pod's creation, and from the scheduler's word that it waits, to the NodeClaim of the node that it runs on (pods on older nodes do not
 * count); and of each NodeClaim, since its controller said that a batch window closed, the next of which comes only after all of a plan's are made,
 * and since it said that the NodeClaims of the plan before have their instances (S-5), so that it solves.
 */
function noteWaits({ observer }: RealCluster, { controller: { windowClosesMs, solveStartsMs } }: Replica, name: string): void {
  const key = (text: string) => (name === "" ? text[0]!.toLowerCase() + text.slice(1) : name + text);
  const lives = [...observer.pods.values()];
  const own = lives.flatMap(({ createdMs, unschedulableMs, nodeName }) => {
    const claimedMs = observer.claimedMs.get(nodeName ?? "");
    return claimedMs === undefined || unschedulableMs === undefined ? [] : [{ createdMs, unschedulableMs, claimedMs }];
  });
  const sinceLast = (momentsMs: readonly number[]) =>
    [...observer.claimedMs.values()].flatMap((claimedMs) => {
      const lastMs = momentsMs.findLast((ms) => ms <= claimedMs);
      return lastMs === undefined ? [] : [claimedMs - lastMs];
    });
  const spans = {
    CreatedToOwnClaim: own.map(({ createdMs, claimedMs }) => claimedMs - createdMs),
    PendingToOwnClaim: own.map(({ unschedulableMs, claimedMs }) => claimedMs - unschedulableMs),
    // kube-scheduler may give the node that was made for a pod to another one; what a plan takes is told by the NodeClaims alone.
    WindowToClaim: sinceLast(windowClosesMs),
    SolveToClaim: sinceLast(solveStartsMs),
  };
  metrics[key("PodsOnNewNodes")] = own.length;
  for (const [span, values] of Object.entries(spans)) {
    for (const share of [50, 99, 100]) metrics[key(`${span}P${share}Seconds`)] = seconds(quantile(values, share / 100));
  }
}

function burstDeployment(name: string, replicaCount: number, { cpu, memory, selector }: Shape) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { ...podTemplate(name, { cpu, memory }), nodeSelector: selector } };
  return {
    metadata: { name, namespace: NAMESPACE, labels },
    spec: { replicas: replicaCount, selector: { matchLabels: labels }, template },
  };
}

/** So many of the resting pods go at once, with their Deployments' wish for them. */
async function deletion({ client, observer }: RealCluster, replica: Replica): Promise<void> {
  const deployments = Math.round((Number(options.deleted) / size.pods) * size.deployments);
  const before = { cpu: cpuSecondsOf(replica.controller.pid), pods: observer.podCount };
  const gone = deployments * (size.pods / size.deployments);
  const startedMs = performance.now();
  for (let index = 0; index < deployments; index++) {
    const key = { namespace: NAMESPACE, name: workloadLabels(index).app ?? "" };
    await client.patch(Deployments, key, { type: "merge", body: { spec: { replicas: 0 } } });
  }
  const missing = () => Math.max(0, observer.podCount - before.pods + gone);
  await eventually("pods to be gone", BURST_MS_MAX, whileAlive(replica, missing));
  metrics.deletedPods = gone;
  metrics.deletedSeconds = seconds(performance.now() - startedMs);
  await rest(replica);
  metrics.deletedCpuSeconds = rounded(cpuSecondsOf(replica.controller.pid) - before.cpu);
}

async function rest(replica: Replica): Promise<void> {
  await untilAtRest(replica.controller, REST_MS_MAX);
  if (replica.controller.hasExited) throw diedOf(replica);
}

function diedOf({ controller, cgroup }: Replica): ControllerDied {
  Object.assign(metrics, cgroupFigures(cgroup));
  return new ControllerDied(`the controller ended\n${controller.log.join("\n")}`);
}

/** What is missing; there is nothing to wait for when the controller has ended. */
function whileAlive(replica: Replica, missing: () => number): () => number {
  return () => {
    if (replica.controller.hasExited) throw diedOf(replica);
    return missing();
  };
}

function noteMemory(name: string, { controller: { pid } }: Replica): void {
  const { rssBytes, anonymousBytes } = memoryOf(pid);
  metrics[`${name}RssMiB`] = mebibytes(rssBytes);
  metrics[`${name}AnonymousMiB`] = mebibytes(anonymousBytes);
}

/** The sums of one replica's life until now. */
function finish({ controller: { pid }, cgroup }: Replica, role: string): void {
  metrics[`${role}RssPeakMiB`] = mebibytes(memoryOf(pid).rssPeakBytes);
  metrics[`${role}CpuSeconds`] = rounded(cpuSecondsOf(pid));
  for (const [name, value] of Object.entries(cgroupFigures(cgroup))) {
    metrics[`${role}${name[0]!.toUpperCase()}${name.slice(1)}`] = value;
  }
}
