/**
 * A whole cluster in one process: API server, controllers, scheduler, kubelets, EC2's machines and Fargate, all on one clock and one
 * source of chance. Under the virtual clock the same seed gives the same writes, byte for byte.
 */
import { type Node, type Pod, Pods } from "@joinery/api";
import {
  type Clock,
  createKubeClient,
  type KubeClient,
  keyOf,
  parseKey,
  type Random,
  type RandomSource,
  type Transport,
} from "@joinery/kube";
import { type ApiServer, type ApiServerOptions, createApiServer } from "../api-server/api-server.ts";
import { createGarbageCollector } from "../api-server/gc/garbage-collector.ts";
import { startControllers } from "../controllers/controllers.ts";
import type { InstanceListeners, Machine } from "../ec2/index.ts";
import { admitFargatePod } from "../fargate/admission.ts";
import { startFargate } from "../fargate/fargate-scheduler.ts";
import { createFargateProfiles, type FargateProfiles, type FargateSubnet } from "../fargate/profiles.ts";
import { FARGATE_PROFILE_LABEL } from "../fargate/selectors.ts";
import { createKubelets, type Kubelets, type KubeletsOptions } from "../kubelet/kubelets.ts";
import { startScheduler } from "../scheduler/scheduler.ts";
import { startAttacher } from "../storage/attacher.ts";
import { startClaimProtection } from "../storage/claim-protection.ts";
import { startProvisioner } from "../storage/provisioner.ts";
import { createBaseObjects } from "./base-objects.ts";
import type { ClusterContext } from "./context.ts";
import { startEventExpiry } from "./event-expiry.ts";
import { createEventSink, type EventSink } from "./event-sink.ts";
import { readsNodeLeases, refreshLeases } from "./lease-reading.ts";
import { MACHINE_TIMING, type Machines, type MachineTiming, startMachines } from "./machines.ts";
import { scopedClock } from "./scoped-clock.ts";
import { startViews } from "./views.ts";

export interface WorldOptions {
  readonly clock: Clock;
  /** All chance of the world; each part draws from a stream of its own. */
  readonly random: RandomSource;
  /** Default: the room's own, with its defaults. For another watch window or version. */
  readonly createApiServer?: (options: ApiServerOptions) => ApiServer;
  /** Machines come and go with these instances; without them only Fargate and nodes without machine exist. */
  readonly ec2?: InstanceListeners;
  readonly region?: string;
  readonly account?: string;
  readonly clusterName?: string;
  /** Of volumes without a chosen node; `a` to `c` of the region when absent. */
  readonly zones?: readonly string[];
  /** For Fargate profiles; any private subnet with a name when absent. */
  readonly findSubnet?: (id: string) => FargateSubnet | undefined;
  readonly kubelets?: KubeletsOptions;
  readonly timing?: Partial<WorldTiming>;
  /** A part of the control plane failed and tries again. */
  readonly onFault?: (fault: WorldFault) => void;
}

export interface WorldFault {
  readonly component: string;
  readonly key: string;
  readonly error: unknown;
}

/** Spans are drawn evenly between both ends, in milliseconds. */
export interface WorldTiming extends MachineTiming {
  /** Until a Fargate profile is active or gone (F-14). */
  readonly profileMs: readonly [number, number];
  /** From a Fargate pod's creation to its node, and from there to Ready. */
  readonly fargateStartMs: readonly [number, number];
  readonly fargateReadyMs: readonly [number, number];
  readonly volumeCreateMs: readonly [number, number];
  readonly attachMs: readonly [number, number];
  readonly detachMs: readonly [number, number];
  /** Silence after which a node is unreachable. */
  readonly nodeGraceMs: number;
}

export const WORLD_TIMING: WorldTiming = {
  ...MACHINE_TIMING,
  profileMs: [60_000, 120_000],
  fargateStartMs: [25_000, 50_000],
  fargateReadyMs: [4_000, 9_000],
  volumeCreateMs: [1_500, 4_000],
  attachMs: [1_500, 4_000],
  detachMs: [2_000, 8_000],
  nodeGraceMs: 50_000,
};

export interface World {
  readonly clock: Clock;
  readonly apiServer: ApiServer;
  readonly fargate: FargateProfiles;
  readonly kubelets: Kubelets;
  /** Undefined without EC2. */
  readonly machines: Machines | undefined;
  /** A way to the API server in process, under a name of one's own. */
  transport(name: string): Transport;
  client(name: string): KubeClient;
  /** As the control plane sees them now. */
  nodes(): readonly Node[];
  pods(): readonly Pod[];
  /** Machines of EC2 that live now. */
  instances(): readonly Machine[];
  /** Resolves when every cache is filled and the base objects are there. */
  readonly ready: Promise<void>;
  /** Ends every part; nothing is written any more afterwards. */
  stop(): Promise<void>;
}

export function createWorld(options: WorldOptions): World {
  const { random, region = "us-east-1", account = "111122223333", clusterName = "sandbox", onFault } = options;
  const timing: WorldTiming = { ...WORLD_TIMING, ...options.timing };
  const zones = options.zones ?? ["a", "b", "c"].map((letter) => `${region}${letter}`);
  const findSubnet = options.findSubnet ?? ((id: string): FargateSubnet => ({ id, zone: zones[id.length % zones.length] ?? "" }));
  const stopping = new AbortController();
  const { signal } = stopping;
  const clock = scopedClock(options.clock, signal);
  const chance = (name: string): Random => random.split(name);
  const report = (component: string, key: string, error: unknown): void => {
    if (!signal.aborted) {
      onFault?.({ component, key, error });
    }
  };
  const profiles = createFargateProfiles({
    clock,
    random: chance("fargate-profiles"),
    region,
    account,
    clusterName,
    findSubnet,
    changeMs: timing.profileMs,
    onDeleting: ({ name }) =>
      void deleteProfilePods(client("eks-fargate"), name).catch((error: unknown) => report("eks-fargate", name, error)),
  });
  const apiServer = (options.createApiServer ?? createApiServer)({
    clock,
    random: random.split("api-server"),
    admitPod: (pod) => admitFargatePod(pod, profiles.active()),
    containerLog: (pod, container, previous) =>
      pod.spec.containers[0]?.name === container ? kubelets.find(pod.spec.nodeName ?? "")?.logOf(pod, previous) : undefined,
    beforeRead(id, { namespace, name }) {
      // A world that has stopped writes nothing, whoever reads.
      if (readsNodeLeases(id, namespace) && !signal.aborted) {
        refreshLeases({ apiServer, clock, isBeating: (node) => kubelets.heartbeatOf(node) === "beating" }, name);
      }
    },
  });
  const garbage = createGarbageCollector({ server: apiServer, clock });
  garbage.start();
  startEventExpiry({ apiServer, clock });
  const clients = new Map<string, KubeClient>();
  const sinks = new Map<string, EventSink>();

  function client(name: string): KubeClient {
    let known = clients.get(name);
    if (known === undefined) {
      known = createKubeClient(apiServer.transport(name), { userAgent: name });
      clients.set(name, known);
    }
    return known;
  }

  function events(component: string): EventSink {
    let known = sinks.get(component);
    if (known === undefined) {
      known = createEventSink({ client: client(component), clock, component, report });
      sinks.set(component, known);
    }
    return known;
  }

  const { views, whenSynced } = startViews({ client: client("kube-controller-manager"), clock, chance, signal, report });
  const context: ClusterContext = { client, clock, chance, views, events, signal, report };
  const kubelets = createKubelets(context, options.kubelets);
  const machines = options.ec2 === undefined ? undefined : startMachines(context, { instances: options.ec2, kubelets, timing });
  startControllers(context, {
    nodes: { heartbeatOf: kubelets.heartbeatOf, onDeath: kubelets.onDeath, graceMs: timing.nodeGraceMs },
    cloud: machines ?? { isMine: () => false, instanceOf: () => undefined },
  });
  startScheduler(context);
  startClaimProtection(context);
  startProvisioner(context, { zones, createMs: timing.volumeCreateMs });
  startAttacher(context, { attachMs: timing.attachMs, detachMs: timing.detachMs });
  startFargate(context, {
    kubelets,
    profiles,
    region,
    findSubnet,
    startMs: timing.fargateStartMs,
    readyMs: timing.fargateReadyMs,
  });
  const ready = createBaseObjects(client("bootstrap")).then(whenSynced);
  ready.catch((error: unknown) => report("bootstrap", "base objects", error));

  return {
    clock: options.clock,
    apiServer,
    fargate: profiles,
    kubelets,
    machines,
    transport: (name) => apiServer.transport(name),
    client,
    nodes: () => views.nodes.values(),
    pods: () => views.pods.values(),
    instances: () => [...(machines?.living.values() ?? [])],
    ready,
    async stop() {
      stopping.abort(new Error("the world has stopped"));
      kubelets.stop();
      garbage.stop();
      await apiServer.close();
    },
  };
}

/** F-30: the pods of a profile go with it. */
async function deleteProfilePods(client: KubeClient, profile: string): Promise<void> {
  const labelSelector = `${FARGATE_PROFILE_LABEL}=${profile}`;
  for await (const pod of client.listAll(Pods, { labelSelector })) {
    await client.delete(Pods, parseKey(keyOf(pod)), { uid: pod.metadata?.uid });
  }
}
