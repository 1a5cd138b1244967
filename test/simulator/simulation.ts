/**
 * A cluster of the sandbox with two replicas of the controller in it, observed from outside: whatever they or anybody does is written
 * into the journal and held against the laws.
 */
import { type KubeObject, type Node, type NodeClaim, type NodePool, NodePools, type Pod } from "@joinery/api";
import {
  type ApiRequest,
  type ApiResponse,
  createRandom,
  createVirtualClock,
  type KubeClient,
  type RandomSource,
  type VirtualClock,
} from "@joinery/kube";
import { createSimulatedEc2, createWorld, type SimulatedEc2, type World } from "@joinery/sandbox";
import { aSmallPool, CLUSTER, installNodeClass, someTypes } from "../failover/small-cluster.ts";
import { installCapacity } from "./capacity-people.ts";
import { type Gates, optionsOf } from "./gates.ts";
import { createDepartures } from "./invariants/departures.ts";
import { checkLeads, isAction, isCloudAction } from "./invariants/leadership.ts";
import { createLimits } from "./invariants/limits.ts";
import { checkNodePatch, checkPodPatch } from "./invariants/own-fields.ts";
import { createOwnership } from "./invariants/ownership.ts";
import { createJournal, type Journal } from "./journal.ts";
import { type Replica, startReplica } from "./replica.ts";
import { createTruth, IDS, isOurs, isReadyPod, type Truth } from "./truth.ts";
import { Violation } from "./violation.ts";
import { CALM, createFaultCounts, type FaultCounts, type Weather } from "./weather.ts";

/** How long a pod takes to start its container again. */
const RESTART_MS = 20_000;
/** What EC2 tells is up to so late. */
const LAG_MS: readonly [number, number] = [0, 6000];
const REPLICAS = 2;

export interface Simulation {
  readonly clock: VirtualClock;
  readonly world: World;
  readonly ec2: SimulatedEc2;
  readonly user: KubeClient;
  readonly truth: Truth;
  readonly journal: Journal;
  readonly faults: FaultCounts;
  readonly random: RandomSource;
  readonly gates: Gates;
  readonly replicas: () => readonly Replica[];
  setWeather(weather: Weather): void;
  /** Moves time, and checks after every step. Throws the first Violation. */
  run(ms: number, isDone?: () => boolean): Promise<boolean>;
  /** Awaits what somebody asks of the API server. */
  done<T>(call: Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

export interface SimulationOptions {
  readonly seed: string | number;
  readonly gates: Gates;
  readonly onLine?: (line: string) => void;
}

export async function createSimulation({ seed, gates, onLine }: SimulationOptions): Promise<Simulation> {
  const catalogue = await someTypes();
  const clock = createVirtualClock({ startMs: Date.parse("2026-12-01T00:00:00Z") });
  const random = createRandom(`simulate/${seed}`);
  const journal = createJournal(clock, onLine);
  const faults = createFaultCounts(() => {});
  const ec2 = createSimulatedEc2({ clock, random: random.split("ec2"), catalogue, clusterName: CLUSTER, timing: { lagMs: LAG_MS } });
  const world = createWorld({
    clock,
    random: random.split("world"),
    ec2: ec2.control,
    clusterName: CLUSTER,
    onFault: ({ component, key, error }) => journal.write(`control plane: ${component} ${key}: ${error}`),
  });
  const truth = createTruth(world, ec2);
  const ownership = createOwnership(truth, clock);
  const departures = createDepartures(truth, clock.monotonicMs);
  const limits = createLimits(truth, clock);
  let weather: Weather = CALM;
  let violation: Violation | undefined;
  let isDirty = false;
  let count = 0;
  let isStopping = false;
  let replicas: readonly Replica[] = [];

  /** A law that is broken inside of somebody's call ends the run, not the call. */
  function judge(check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      if (violation === undefined) journal.write(`VIOLATION ${error.message}`);
      violation ??= error;
    }
  }

  world.apiServer.onChange((id, { type, key, object, previous }) => {
    if (id !== IDS.leases || object.metadata.namespace !== "kube-node-lease")
      journal.write(`${type} ${id} ${key} ${gist(id, object as KubeObject)}`);
    if (id === IDS.claims) {
      isDirty = true;
      const claim = object as unknown as NodeClaim;
      if (type === "ADDED") judge(() => limits.created(claim));
      if (type === "DELETED") {
        departures.claimGone(claim);
        judge(() => ownership.claimGone(claim));
      }
      const hadCapacity = (previous as NodeClaim | undefined)?.status?.capacity !== undefined;
      if (type === "MODIFIED" && !hadCapacity && claim.status?.capacity !== undefined) judge(() => limits.launched(claim));
    } else if (id === IDS.nodes && type === "DELETED") {
      const last = (previous ?? object) as unknown as Node;
      if (isOurs(last)) judge(() => ownership.nodeGone(last));
    } else if (id === IDS.pools && type !== "DELETED") {
      limits.poolChanged(object as unknown as NodePool);
    } else if (id === IDS.pods) {
      const pod = object as unknown as Pod;
      const before = previous as unknown as Pod | undefined;
      const isMoved =
        before === undefined ||
        isReadyPod(before) !== isReadyPod(pod) ||
        before.metadata?.deletionTimestamp !== pod.metadata?.deletionTimestamp;
      if (isMoved && calls.get(key)?.isEviction !== true) departures.podMoved(pod, clock.monotonicMs());
    }
  });
  const dirty = () => {
    isDirty = true;
  };
  ec2.control.onInstanceRunning((machine) => {
    dirty();
    journal.write(`instance ${machine.instanceId} runs`);
  });
  ec2.control.onInstanceStopping((machine) => {
    dirty();
    journal.write(`instance ${machine.instanceId} stops`);
  });
  ec2.control.onInstanceTerminated(dirty);

  /** Pods that the API server is just asked to change, as they were. An eviction counts in its budget at once, nothing else does. */
  const calls = new Map<string, { readonly before: Pod | undefined; readonly isEviction: boolean }>();
  /** The same for Nodes, by name. */
  const nodesBefore = new Map<string, Node | undefined>();

  function beforeRequest(request: ApiRequest): void {
    if (request.method === "GET") return;
    const nodeName = nodeNameOf(request.path);
    if (nodeName !== undefined) nodesBefore.set(nodeName, truth.findNode(nodeName));
    const key = podKeyOf(request.path);
    if (key === undefined) return;
    calls.set(key, { before: truth.findPod(key), isEviction: request.path.endsWith("/eviction") });
  }

  function onRequest(replica: Replica, { method, path, body }: ApiRequest, { status }: ApiResponse): void {
    if (isAction(method, path)) judge(() => checkLeads(truth, replica.name, `${method} ${path}`));
    const nodeBefore = nodesBefore.get(nodeNameOf(path) ?? "");
    if (nodeBefore !== undefined && method === "PATCH" && status < 300) judge(() => judgeNodePatch(nodeBefore, body as Partial<Node>));
    const key = podKeyOf(path);
    if (key === undefined || method === "GET") return;
    const { before, isEviction } = calls.get(key) ?? {};
    calls.delete(key);
    if (before === undefined || status >= 300) return;
    journal.write(`${replica.name} ${method} ${path}`);
    if (method === "POST" && isEviction) judge(() => departures.evicted(before));
    else if (method === "PATCH") judge(() => checkPodPatch(before, body as Partial<Pod>));
    else if (method === "DELETE")
      judge(() => departures.deleted(before, (body as { gracePeriodSeconds?: number })?.gracePeriodSeconds, replica.clockReadings()));
  }

  function judgeNodePatch(before: Node, body: Partial<Node>): void {
    const id = before.spec?.providerID;
    const claim = id ? [...truth.claims()].find(({ status }) => status?.providerID === id) : undefined;
    checkNodePatch(before, body, claim);
  }

  function onCloudCall(replica: Replica, name: string, request: unknown): void {
    if (!isCloudAction(name)) return;
    journal.write(`${replica.name} ${name}`);
    isDirty = true;
    judge(() => checkLeads(truth, replica.name, name));
    if (name !== "terminateInstances") return;
    for (const id of (request as { InstanceIds: readonly string[] }).InstanceIds)
      judge(() => departures.ending(id, replica.clockReadings()));
  }

  function start(): void {
    if (isStopping) return;
    const name = `joinery-${++count}`;
    journal.write(`${name} starts`);
    const replica = startReplica({
      name,
      transport: world.transport(name),
      ec2,
      clock,
      random: random.split(name),
      catalogue,
      clusterName: CLUSTER,
      options: optionsOf(gates),
      weather: () => weather,
      onFault: (kind, detail) => {
        faults.count(kind);
        journal.write(`fault ${kind}: ${detail}`);
      },
      beforeRequest,
      onRequest,
      onCloudCall,
    });
    replicas = [...replicas, replica];
    replica.process.onDeath(() => {
      journal.write(`${name} ends`);
      replicas = replicas.filter((other) => other !== replica);
      clock.after(RESTART_MS, start);
    });
  }

  /** After every step. */
  function check(): void {
    if (isDirty || clock.monotonicMs() >= ownership.nextDeadlineMs) {
      isDirty = false;
      judge(() => ownership.check());
    }
    if (violation !== undefined) throw violation;
  }

  await clock.settle();
  await world.ready;
  const user = world.client("kubectl");
  const done = async <T>(call: Promise<T>): Promise<T> => {
    await clock.settle();
    return call;
  };
  await done(install(user));
  if (gates === "all") await done(installCapacity(user));
  for (let replica = 0; replica < REPLICAS; replica++) start();

  return {
    clock,
    world,
    ec2,
    user,
    truth,
    journal,
    faults,
    random,
    gates,
    replicas: () => replicas,
    setWeather(next) {
      weather = next;
      ownership.countFrom(next.isCalm ? clock.monotonicMs() : Number.POSITIVE_INFINITY);
      if (next.isCalm) for (const replica of replicas) replica.clearUp();
    },
    run: (ms, isDone = () => false) =>
      clock.runUntil(() => {
        check();
        return isDone();
      }, ms),
    done,
    async stop() {
      isStopping = true;
      for (const { process } of replicas) process.kill();
      await world.stop();
      await clock.settle();
    },
  };
}

/** Version, and what one wants to see of a change. */
function gist(id: string, object: KubeObject): string {
  const { resourceVersion, deletionTimestamp } = object.metadata ?? {};
  const leaving = deletionTimestamp === undefined ? "" : " leaving";
  const conditions = ({ status }: Pod | Node | NodeClaim) =>
    (status?.conditions ?? []).map(({ type, status: is }) => `${type}=${is}`).join();
  switch (id) {
    case IDS.pods: {
      const { spec, status } = object as Pod;
      return `${resourceVersion}${leaving} ${status?.phase} on ${spec.nodeName ?? "-"}${isReadyPod(object as Pod) ? " ready" : ""}`;
    }
    case IDS.claims:
      return `${resourceVersion}${leaving} ${(object as NodeClaim).status?.providerID ?? "-"} ${conditions(object as NodeClaim)}`;
    case IDS.nodes:
      return `${resourceVersion}${leaving} ${((object as Node).spec?.taints ?? []).map(({ key }) => key).join()}`;
    default:
      return `${resourceVersion}${leaving}`;
  }
}

function nodeNameOf(path: string): string | undefined {
  return /^\/api\/v1\/nodes\/([^/]+)$/.exec(path)?.[1];
}

/** `namespace/name` of the pod that a request speaks of. */
function podKeyOf(path: string): string | undefined {
  const match = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)(\/eviction)?$/.exec(path);
  return match === null ? undefined : `${match[1]}/${match[2]}`;
}

async function install(user: KubeClient): Promise<void> {
  await installNodeClass(user);
  await user.create(NodePools, aSmallPool("default", ["spot", "on-demand"], "20h"));
  await user.create(NodePools, aSmallPool("spot", ["spot"], "6h"));
}
