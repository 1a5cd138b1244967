/**
 * The controller as a whole: caches are warm from the start, the loops run while this replica leads, and all that a term of leadership
 * made dies with it. Everything it touches is a parameter, so it can run twice in one process, and be stopped at any moment.
 * Rules L-248…L-249d, O-73…O-83.
 */
import type { Kind, LabelVocabulary, NodeClaim } from "@joinery/api";
import type { Cache, Clock, KubeClient, RandomSource } from "@joinery/kube";
import { createDefaultSpread } from "@joinery/scheduling";
import { type ConnectionOptions, connect } from "./api-server/connection.ts";
import { createBufferStore } from "./buffers/buffer-store.ts";
import type { CloudProvider } from "./cloud-provider.ts";
import type { EventSink } from "./events/event.ts";
import { createEventSink } from "./events/event-sink.ts";
import { createLeadership, type LeaderElectionOptions, type Leadership } from "./leadership.ts";
import { type Logger, silentLogger } from "./logger.ts";
import { createLoops, type Runnable } from "./loops.ts";
import { type BuildInfo, registerBuildInfo } from "./metrics/build-info.ts";
import { createConditionWatches } from "./metrics/condition-watches.ts";
import { createCoreMetrics } from "./metrics/core-metrics.ts";
import { createInstanceTypeMetrics } from "./metrics/instance-type-metrics.ts";
import { createLeadershipMetrics } from "./metrics/leadership-metrics.ts";
import { createPodMetrics } from "./metrics/pod-metrics.ts";
import { createMetricsRegistry, type Registry } from "./metrics/prometheus.ts";
import { createProviderMetrics } from "./metrics/provider-metrics.ts";
import { createRuntimeMetrics } from "./metrics/runtime-metrics.ts";
import { registerStateMetrics } from "./metrics/state-metrics.ts";
import { createRegistrationHealth } from "./node-pool/registration-health.ts";
import { type CoreOptions, DEFAULT_OPTIONS } from "./options.ts";
import { startProvider } from "./provider-start.ts";
import type { Rooms } from "./rooms.ts";
import { messageOf } from "./runtime/answers.ts";
import { guarded } from "./runtime/guard.ts";
import { durationText } from "./runtime/log-context.ts";
import { createWrites } from "./runtime/writes.ts";
import { createAssignments } from "./state/assignments.ts";
import { type Caches, createCaches } from "./state/caches.ts";
import { type Cluster, createCluster, nominationMs } from "./state/cluster.ts";
import { createNodeSlots } from "./state/node-slots.ts";
import { createPodTimes } from "./state/pod-times.ts";
import { createPoolCosts } from "./state/pool-costs.ts";

/** What a provider is made of, once per term of leadership. */
export interface ProviderContext {
  /** Refuses to write once the term is over. */
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Logger;
  readonly events: EventSink;
  readonly registry: Registry;
  /** Core's own cache, warm already: a provider needs no second one. */
  readonly nodeClaims: Cache<NodeClaim>;
}

export interface ProviderParts {
  readonly cloud: CloudProvider;
  /** Loops of the provider's own, e.g. for its node classes. They run with the others, while this replica leads. */
  readonly loops?: readonly Runnable[];
}

export interface ProviderFactory {
  readonly nodeClassKinds: readonly Kind[];
  readonly vocabulary: LabelVocabulary;
  create(context: ProviderContext): ProviderParts | Promise<ProviderParts>;
}

export interface ControllerOptions extends ConnectionOptions {
  readonly provider: ProviderFactory;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log?: Logger;
  /** One's own per controller; made when absent. */
  readonly registry?: Registry;
  readonly options?: Partial<CoreOptions>;
  /** Shown as `karpenter_build_info`; not shown when absent. */
  readonly build?: BuildInfo;
  /** Absent: this replica leads from the start, and nobody may run beside it (O-81). */
  readonly leaderElection?: LeaderElectionOptions;
  /** O-15: a replica that stands by reads nothing before it leads. */
  readonly isStandbyCold?: boolean;
}

export type ControllerState = "new" | "starting" | "standby" | "leading" | "stopped";

export interface Controller {
  /** Works until the signal aborts; hands leadership over before it resolves. Rejects when leadership was lost (O-78). */
  run(signal: AbortSignal): Promise<void>;
  readonly state: ControllerState;
  /** The process works at all. */
  readonly isHealthy: boolean;
  /** Caches are filled; a standby is ready too (O-76). */
  readonly isReady: boolean;
  /** What keeps it from being ready, or from working though it leads. */
  readonly waitsFor: string | undefined;
  readonly registry: Registry;
  /** What this replica has read, leading or not. Borrowed. */
  readonly caches: Caches;
  /** What a leader knows of the cluster; undefined on a standby. */
  readonly cluster: Cluster | undefined;
}

/** How long a loop that fell over stays down. It should never happen, and then must not take the others along. */
const RESTART_MS = 1000;

/** Everything of one replica: caches, loops, leader election. It can be run once. */
export function createController(settings: ControllerOptions): Controller {
  const { provider: factory, clock, random, log = silentLogger } = settings;
  const registry = settings.registry ?? createMetricsRegistry();
  const options: CoreOptions = { ...DEFAULT_OPTIONS, ...settings.options };
  const { kube, leaseKube, reachability } = connect(settings, { clock, log, registry, version: settings.build?.version });
  const { nodeClassKinds, vocabulary } = factory;
  const defaultSpread = createDefaultSpread(options.defaultSpread);
  const wants = {
    defaultSpread: !defaultSpread.isEmpty,
    nodeOverlays: options.isNodeOverlayOn,
    buffers: options.isCapacityBufferOn,
    resourceSlices: !options.isDraIgnored,
  };
  const caches = createCaches({ kube, clock, random: random.split("caches"), nodeClassKinds, log, wants });
  if (settings.build !== undefined) registerBuildInfo(registry, settings.build);
  const metrics = createCoreMetrics(registry, clock);
  const observe = createRuntimeMetrics(registry, clock);
  const measure = createProviderMetrics(registry, clock);
  const { isReservedCapacityOn } = options;
  const showInstanceTypes = createInstanceTypeMetrics(registry, { caches, clock, isReservedCapacityOn });
  const podTimes = createPodTimes(clock);
  const costs = createPoolCosts(caches);
  // O-17: series per object, and events about their conditions.
  const hasCoreKinds = !options.isClusterStateObservabilityDisabled;
  const observers = [
    createConditionWatches(registry, caches, clock, { hasCoreKinds, hasBuffers: options.isCapacityBufferOn }),
    ...(hasCoreKinds ? [createPodMetrics(registry, caches, podTimes, clock)] : []),
  ];
  const { master, slowPath } = createLeadershipMetrics(registry);
  const leadership: Leadership = createLeadership(settings.leaderElection, {
    kube: leaseKube,
    clock,
    random: random.split("lease"),
    log,
    onSlowPath: () => slowPath.inc({ name: leadership.name }),
  });
  const isStandbyCold = settings.isStandbyCold === true && settings.leaderElection !== undefined;
  let state: ControllerState = "new";
  let cloudFault: string | undefined;
  let cluster: Cluster | undefined;
  registerStateMetrics(registry, { caches, costs, vocabulary, nodeClassKinds, clock, cluster: () => cluster }, hasCoreKinds);

  /** O-81: without an election nobody is the master. */
  function showMaster(value: 0 | 1): void {
    if (settings.leaderElection !== undefined) master.set({ name: leadership.name }, value);
  }

  async function run(signal: AbortSignal): Promise<void> {
    if (state !== "new") throw new Error("Cannot run the controller: it ran before, make a new one");
    state = "starting";
    const stop = new AbortController();
    const forward = () => stop.abort(signal.reason);
    signal.addEventListener("abort", forward, { once: true });
    if (signal.aborted) forward();
    let watching: Promise<void> | undefined;
    const fill = () => {
      watching ??= caches.run(stop.signal);
      return caches.whenSynced(stop.signal);
    };
    try {
      if (!isStandbyCold) await fill();
      state = "standby";
      showMaster(0);
      await leadership.run(stop.signal, async (term) => {
        await fill();
        await lead(term);
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      state = "stopped";
      stop.abort(new Error("the controller has stopped"));
      signal.removeEventListener("abort", forward);
      await watching;
    }
  }

  /** One term. Ends when its signal aborts; nothing is written afterwards. */
  async function lead(term: AbortSignal): Promise<void> {
    state = "leading";
    showMaster(1);
    log.info({}, "leading");
    const current = createCluster({
      caches,
      clock,
      nodeClassKinds,
      nominationMs: nominationMs(options.batchMaxMs),
      onLate: (unsyncedMs) => log.error({ duration: durationText(unsyncedMs) }, "cluster is waiting on sync for extended duration"),
    });
    cluster = current;
    const termKube = guarded(kube, term);
    const events = createEventSink(termKube, { clock, random: random.split("events"), log });
    const observations = observers.map((start) => start(events));
    try {
      const parts = await startProvider(
        factory,
        { kube: termKube, clock, random: random.split("provider"), log, events, registry, nodeClaims: caches.nodeClaims },
        { clock, log, onFault: (why) => (cloudFault = why) },
        term,
      );
      const writes = createWrites(termKube, caches);
      const rooms: Rooms = {
        kube: termKube,
        writes,
        caches,
        cluster: current,
        assignments: createAssignments(),
        podTimes,
        costs,
        buffers: createBufferStore(),
        slots: createNodeSlots(),
        provider: parts.cloud,
        health: createRegistrationHealth({ caches, writes, clock }),
        vocabulary,
        clock,
        random,
        log,
        events,
        metrics,
        observe,
        showInstanceTypes,
        options,
        defaultSpread,
      };
      const loops = [...createLoops(rooms, (name) => measure(parts.cloud, name)), ...(parts.loops ?? [])];
      const catchUp: Runnable = { name: "state.sync", run: (until) => current.sync.catchUp(termKube, until) };
      await keepRunning(catchUp, term);
      await Promise.all(loops.map((loop) => keepRunning(loop, term)));
      await whenAborted(term);
    } catch (error) {
      if (!term.aborted) throw error;
    } finally {
      for (const end of observations) end();
      podTimes.clear();
      costs.clear();
      metrics.endTerm();
      observe.endTerm();
      current.dispose();
      cluster = undefined;
      cloudFault = undefined;
      showMaster(0);
      if (state === "leading") state = "standby";
    }
  }

  /** A loop that throws is a fault of ours: it is told, and started again. */
  async function keepRunning({ name, run }: Runnable, term: AbortSignal): Promise<void> {
    while (!term.aborted) {
      try {
        await run(term);
        return;
      } catch (error) {
        if (term.aborted) return;
        log.error({ controller: name, error: messageOf(error) }, "loop failed, starting it again");
        await clock.sleep(RESTART_MS, term).catch(() => {});
      }
    }
  }

  function waitsFor(): string | undefined {
    if (state === "new") return "its start";
    if (state === "stopped") return "its end: it has stopped";
    if (isStandbyCold && state === "standby") return undefined;
    if (!caches.hasSynced) {
      return reachability.fault === undefined ? `the caches of ${caches.missing.join(", ")}` : `the API server: ${reachability.fault}`;
    }
    return cloudFault === undefined ? undefined : `the cloud provider: ${cloudFault}`;
  }

  return {
    run,
    registry,
    caches,
    get state() {
      return state;
    },
    get isHealthy() {
      return state !== "stopped";
    },
    get isReady() {
      return waitsFor() === undefined;
    },
    get waitsFor() {
      return waitsFor();
    },
    get cluster() {
      return cluster;
    },
  };
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
