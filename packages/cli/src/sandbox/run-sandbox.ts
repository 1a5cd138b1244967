/** Day one of a cluster, step by step: nothing but an API server at first, all pods running on new nodes in the end. */
import { crdOf, type KubeObject, type Lease, Leases, OWNED_KINDS, type Pod, Pods } from "@joinery/api";
import { loadEc2Catalogue } from "@joinery/aws";
import { anchorNow, type Clock, createKubeClient, createRandom, createRealClock, createScaledClock, type KubeClient } from "@joinery/kube";
import { createSimulatedEc2, createWorld, type SimulatedEc2, type World } from "@joinery/sandbox";
import type { SandboxFlags } from "../commands/sandbox.ts";
import { onStopSignals } from "../controller/stop-signals.ts";
import { CommandError, type ExitStatus, exitStatus } from "../exit-status.ts";
import type { Surroundings } from "../surroundings.ts";
import { createClusterFolder, writeClusterFiles } from "./cluster-files.ts";
import { type ControllerProcesses, createControllerProcesses } from "./controller-process.ts";
import {
  CONTROLLER_NAME,
  CONTROLLER_NAMESPACE,
  CONTROLLER_REPLICAS,
  controllerObjects,
  coreDns,
  isControllerPod,
  LEASE_NAME,
} from "./day-one.ts";
import { createInstaller, type Installer } from "./install.ts";
import { findKubectl, runKubectl, serverTable } from "./kubectl.ts";
import { serveEc2 } from "./loopback-ec2.ts";
import { nodeTable } from "./node-table.ts";
import { createProgress, type Progress } from "./progress.ts";
import { readScenario, type Scenario } from "./scenario.ts";
import { startStepLimit } from "./step-limit.ts";
import { describePods, findObstacles, isEc2Node, isRunning } from "./world-facts.ts";

const CLUSTER_NAME = "sandbox";
const REGION = "us-east-1";
const ACCOUNT = "111122223333";
/** Of the machine's time. */
const LOOK_EVERY_MS = 100;

interface Sandbox {
  readonly world: World;
  readonly ec2: SimulatedEc2;
  readonly processes: ControllerProcesses;
  readonly client: KubeClient;
  readonly installer: Installer;
  readonly progress: Progress;
  readonly clock: Clock;
  readonly wallClock: Clock;
  readonly kubeconfig: string;
  readonly server: string;
  readonly signal: AbortSignal;
}

type Close = (hasFailed: boolean) => void | Promise<void>;

/** Ends with 0 after Ctrl-C once the cluster is up; with `--exit`, as soon as every pod runs. */
export async function runSandbox(flags: SandboxFlags, surroundings: Surroundings): Promise<ExitStatus> {
  const scenario = await readScenario(flags.scenario, flags.pods, CLUSTER_NAME, surroundings);
  const wallClock = createRealClock();
  const stop = onStopSignals(wallClock, () => process.exit(exitStatus.fault));
  if (surroundings.env.npm_command !== undefined || surroundings.env.JOINERY_LAUNCHED !== undefined) stop.followParent();
  const closing: Close[] = [() => stop.dispose()];
  let hasFailed = false;
  try {
    const sandbox = await open(flags, scenario, surroundings, wallClock, stop.signal, closing);
    await dayOne(sandbox, scenario);
    await report(sandbox, surroundings);
    if (!flags.exit) await stay(sandbox, stop.signal);
    return exitStatus.ok;
  } catch (error) {
    // Ctrl-C before the cluster was up is no success of `--exit`.
    if (stop.signal.aborted) return flags.exit ? exitStatus.fault : exitStatus.ok;
    hasFailed = true;
    throw new CommandError(error instanceof Error ? error.message : String(error), exitStatus.fault);
  } finally {
    for (const close of closing.reverse()) await close(hasFailed);
  }
}

/** Starts every part; what must end at last is put on `closing`. */
async function open(
  { seed, speed, port }: SandboxFlags,
  { networkTags }: Scenario,
  { out }: Surroundings,
  wallClock: Clock,
  signal: AbortSignal,
  closing: Close[],
): Promise<Sandbox> {
  const anchor = anchorNow();
  const clock = createScaledClock({ speed, anchor });
  const progress = createProgress({ terminal: out, clock: wallClock, clusterClock: clock, signal });
  return progress.step(
    "API server",
    async () => {
      const random = createRandom(seed);
      const folder = createClusterFolder();
      closing.push((hasFailed) => {
        // Logs are what people need then.
        if (!hasFailed) return folder.remove();
        folder.keepLogs();
        progress.say(`Logs of the controller and faults of the cluster are in ${folder.path}`);
      });
      const catalogue = await loadEc2Catalogue(REGION);
      const ec2 = createSimulatedEc2({ clock, random: random.split("ec2"), catalogue, clusterName: CLUSTER_NAME, networkTags });
      let processes: ControllerProcesses | undefined;
      const world = createWorld({
        clock,
        random: random.split("world"),
        ec2: ec2.control,
        region: REGION,
        account: ACCOUNT,
        clusterName: CLUSTER_NAME,
        findSubnet: (id) => {
          const subnet = ec2.control.network.subnets().find(({ SubnetId }) => SubnetId === id);
          return subnet && { id, zone: subnet.AvailabilityZone };
        },
        kubelets: { podRuntime: (pod) => (isControllerPod(pod) ? processes : undefined) },
        onFault: ({ component, key, error }) =>
          folder.note(`${component} ${key}: ${error instanceof Error ? error.message : String(error)}`),
      });
      closing.push(() => world.stop());
      await world.ready;
      const api = await world.apiServer.serve({ port });
      closing.push(() => api.close());
      const loopback = await serveEc2(ec2);
      closing.push(() => loopback.close());
      const files = writeClusterFiles(folder, api);
      processes = createControllerProcesses({
        clock,
        speed,
        clockAnchor: `${anchor.realMs},${anchor.wallMs}`,
        apiServer: { host: api.host, port: api.port },
        ec2Endpoint: loopback.url,
        serviceAccountDirectory: files.serviceAccountDirectory,
        logDirectory: files.logDirectory,
      });
      const started = processes;
      closing.push(() => started.stopAll());
      const client = createKubeClient(world.transport("kubectl"), { userAgent: "kubectl" });
      const { kubeconfig } = files;
      return {
        world,
        ec2,
        processes,
        client,
        installer: createInstaller(client),
        progress,
        clock,
        wallClock,
        kubeconfig,
        server: api.url,
        signal,
      };
    },
    ({ server, world }) => `${server} answers, ${world.nodes().length} nodes (${speed}x time, seed ${seed})`,
  );
}

async function dayOne(sandbox: Sandbox, scenario: Scenario): Promise<void> {
  const { world, ec2, client, installer, progress, signal } = sandbox;

  await progress.step("Fargate profile and pod execution role", async (tell) => {
    tell("being created");
    const creation = world.fargate.create({
      name: CONTROLLER_NAME,
      podExecutionRoleArn: `arn:aws:iam::${ACCOUNT}:role/AmazonEKSFargatePodExecutionRole`,
      subnetIds: ec2.control.network.subnets().map(({ SubnetId }) => SubnetId),
      selectors: [{ namespace: CONTROLLER_NAMESPACE }],
    });
    const profile = await unlessStopped(creation, signal);
    tell(`${profile.name} is ${profile.status}, for pods in namespace ${CONTROLLER_NAMESPACE}`);
  });

  await progress.step("CustomResourceDefinitions", async (tell) => {
    await installer.create(OWNED_KINDS.map(crdOf) as readonly KubeObject[], signal);
    tell(OWNED_KINDS.map(({ kind }) => kind).join(", "));
  });

  await progress.step("Controller, two replicas on Fargate", async (tell) => {
    await installer.create(controllerObjects(CLUSTER_NAME), signal);
    const leader = await until(sandbox, async () => {
      const pods = world.pods().filter(isControllerPod);
      tell(`${pods.filter(isRunning).length} of ${CONTROLLER_REPLICAS} run`);
      return pods.filter(isRunning).length === CONTROLLER_REPLICAS ? await holderOf(sandbox) : undefined;
    });
    tell(`${CONTROLLER_REPLICAS} processes run, ${leader} leads`);
  });

  await progress.step("Node class and NodePools", async (tell) => {
    await installer.create(scenario.pools, signal);
    tell(scenario.pools.map(({ kind, metadata }) => `${kind}/${metadata?.name}`).join(", "));
  });

  await progress.step("CoreDNS and workload", async (tell) => {
    await installer.create([...coreDns(), ...scenario.workload], signal);
    const pending = await until(sandbox, async () => {
      const before = world.pods().length;
      await sandbox.wallClock.sleep(LOOK_EVERY_MS, signal);
      const waiting = world.pods().filter(({ spec }) => !spec.nodeName);
      return waiting.length > 0 && world.pods().length === before ? waiting.length : undefined;
    });
    tell(`${pending} pods wait, nothing can take them`);
  });

  await progress.step("Nodes appear, pods run", async (tell) => {
    await until(sandbox, async () => {
      const pods = world.pods();
      const nodes = world.nodes().filter(isEc2Node).length;
      const obstacles = nodes === 0 ? await findObstacles(client, signal) : [];
      tell([`${nodes} nodes, ${describePods(pods)}`, ...obstacles].join("; "));
      return pods.every(isRunning) && (await hasSettled(sandbox)) ? true : undefined;
    });
  });
}

/** Workload controllers may still be about to create pods: twice the same picture, a little later. */
async function hasSettled({ world, wallClock, signal }: Sandbox): Promise<boolean> {
  const before = world.pods().length;
  await wallClock.sleep(10 * LOOK_EVERY_MS, signal);
  const pods = world.pods();
  return pods.length === before && pods.every(isRunning);
}

async function holderOf({ client, signal }: Sandbox): Promise<string | undefined> {
  const lease: Lease | undefined = await client.find(Leases, { name: LEASE_NAME, namespace: CONTROLLER_NAMESPACE }, signal);
  return lease?.spec?.holderIdentity?.split("_")[0] || undefined;
}

/** Rejects at once when people stop the sandbox, whatever `work` waits for. */
async function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, stopped]);
}

/** Looks again and again; gives up at the limit of a step. */
async function until<T>({ clock, wallClock, signal, world }: Sandbox, look: () => Promise<T | undefined>): Promise<T> {
  const limit = startStepLimit(clock, wallClock);
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (limit.isOver()) throw new Error(`gave up after ${limit.minutes()} minutes of the cluster's time: ${describePods(world.pods())}`);
    await wallClock.sleep(LOOK_EVERY_MS, signal);
  }
}

/** What people would look at first. */
async function report({ world, ec2, kubeconfig, progress, clock }: Sandbox, { out, env }: Surroundings): Promise<void> {
  const kubectl = findKubectl(env);
  const args = ["get", "pods", "-n", CONTROLLER_NAMESPACE, "-o", "wide"];
  const own = () => serverTable(world.transport("kubectl"), Pods as never, CONTROLLER_NAMESPACE);
  const table = (kubectl && (await runKubectl(kubectl, kubeconfig, args))) ?? (await own());
  progress.say(`\n${out.style("bold", `$ kubectl ${args.join(" ")}`)}\n${table.trimEnd()}\n`);
  const { prices } = ec2.control;
  progress.say(
    nodeTable(world.nodes(), world.pods() as readonly Pod[], {
      priceOf: (type, zone, capacityType) => (capacityType === "spot" ? prices.spot(type, zone, clock.wallMs()) : prices.onDemand(type)),
      estimatedCapacityTypes: new Set(["spot"]),
    }).trimEnd(),
  );
}

async function stay({ progress, kubeconfig }: Sandbox, signal: AbortSignal): Promise<void> {
  progress.say(`\nThe cluster stays up. In another terminal:\n\n  export KUBECONFIG=${kubeconfig}\n\nCtrl-C ends it.`);
  if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  progress.say("\nEnding the cluster and its processes.");
}
