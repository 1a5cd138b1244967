/** A cluster with the simulated EC2 and two controller processes under the virtual clock; a process that ends is started anew, as its pod would be. */
import { type Deployment, Deployments, type NodeClaim, NodeClaims, NodePools, type Pod } from "@joinery/api";
import type { CoreOptions } from "@joinery/core";
import { createRandom, createVirtualClock, type KubeClient, type RandomSource, type VirtualClock } from "@joinery/kube";
import { createSimulatedEc2, createWorld, type SimulatedEc2, type World } from "@joinery/sandbox";
import { type Call, type KillableProcess, startProcess } from "./killable-process.ts";
import { aSmallPool, CLUSTER, installNodeClass, someTypes } from "./small-cluster.ts";

/** How long a pod takes to start its container again. */
const RESTART_MS = 20_000;

export interface Simulation {
  readonly clock: VirtualClock;
  readonly world: World;
  readonly ec2: SimulatedEc2;
  readonly user: KubeClient;
  readonly random: RandomSource;
  readonly processes: readonly KillableProcess[];
  /** Process names in the order of their ends, with why. */
  readonly ends: readonly string[];
  deploy(name: string, replicas: number, cpu: string, memory: string): Promise<void>;
  scale(name: string, replicas: number): Promise<void>;
  pendingPods(): readonly Pod[];
  nodeClaims(): Promise<readonly NodeClaim[]>;
  stop(): Promise<void>;
}

export interface SimulationOptions {
  readonly seed: string | number;
  /** Feature gates and the like. */
  readonly options?: Partial<CoreOptions>;
  readonly onCall?: (call: Call, process: KillableProcess) => void;
}

export async function aSimulation({ seed, options, onCall }: SimulationOptions): Promise<Simulation> {
  const catalogue = await someTypes();
  const clock = createVirtualClock({ startMs: Date.parse("2026-12-01T00:00:00Z") });
  const random = createRandom(seed);
  const ec2 = createSimulatedEc2({ clock, random: random.split("ec2"), catalogue, clusterName: CLUSTER });
  const world = createWorld({ clock, random: random.split("world"), ec2: ec2.control, clusterName: CLUSTER });
  await clock.settle();
  await world.ready;
  const user = world.client("kubectl");
  await settled(clock, install(user));

  const processes: KillableProcess[] = [];
  const ends: string[] = [];
  let count = 0;
  let isStopping = false;

  function start(): void {
    const name = `joinery-${++count}`;
    const process = startProcess({
      name,
      transport: world.transport(name),
      ec2,
      clock,
      random: random.split(name),
      catalogue,
      clusterName: CLUSTER,
      ...(options && { options }),
      onCall: (call, by) => {
        onCall?.(call, by);
        if (!by.isAlive) replace(by, "killed");
      },
    });
    processes.push(process);
    void process.ended.then((error) => replace(process, String(error)));
  }

  function replace(process: KillableProcess, why: string): void {
    const index = processes.indexOf(process);
    if (index < 0 || isStopping) return;
    processes.splice(index, 1);
    ends.push(`${process.name}: ${why}`);
    clock.after(RESTART_MS, start);
  }

  start();
  start();

  return {
    clock,
    world,
    ec2,
    user,
    random,
    processes,
    ends,
    deploy: (name, replicas, cpu, memory) =>
      settled(
        clock,
        user.create(Deployments, deployment(name, replicas, cpu, memory)).then(() => {}),
      ),
    scale: (name, replicas) =>
      settled(
        clock,
        user.patch(Deployments, { namespace: "default", name }, { type: "merge", body: { spec: { replicas } } }).then(() => {}),
      ),
    pendingPods: () =>
      world.pods().filter(({ status, metadata }) => status?.phase !== "Running" || metadata?.deletionTimestamp !== undefined),
    nodeClaims: () =>
      settled(
        clock,
        user.list(NodeClaims).then(({ items }) => items),
      ),
    async stop() {
      isStopping = true;
      for (const process of processes) process.kill();
      await world.stop();
      await clock.settle();
    },
  };
}

/** The call's answer, once all work of this instant has come to rest. */
async function settled<T>(clock: VirtualClock, call: Promise<T>): Promise<T> {
  await clock.settle();
  return call;
}

async function install(user: KubeClient): Promise<void> {
  await installNodeClass(user);
  await user.create(NodePools, aSmallPool("default", ["spot", "on-demand"], "Never"));
}

function deployment(name: string, replicas: number, cpu: string, memory: string): Deployment {
  const labels = { app: name };
  return {
    metadata: { name, namespace: "default" },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "main", image: "example.com/app", resources: { requests: { cpu, memory } } }] },
      },
    },
  };
}
