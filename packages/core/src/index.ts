/** The control loops. */
export type * from "./cloud-provider.ts";
export {
  type Controller,
  type ControllerOptions,
  type ControllerState,
  createController,
  type ProviderContext,
  type ProviderFactory,
  type ProviderParts,
} from "./controller.ts";
export type { CoreEvent, EventSink, EventSubject } from "./events/event.ts";
export { subjectOf } from "./events/event.ts";
export type { LeaderElectionOptions } from "./leadership.ts";
export { type Logger, silentLogger } from "./logger.ts";
export type { Runnable } from "./loops.ts";
export { Counter, createMetricsRegistry, Gauge, type Registry, registerLiveGauge } from "./metrics/prometheus.ts";
export { type CoreOptions, DEFAULT_OPTIONS } from "./options.ts";
export { isUsable } from "./provisioning/usable-pools.ts";
export { createLoop, type Loop, type LoopOptions, type Source } from "./runtime/loop.ts";
export { changesOf } from "./runtime/source.ts";
export { again, asleep, type Reconciler, RetryLater, type Step, soonest } from "./runtime/step.ts";
export { type Caches, type CachesOptions, createCaches, type NodeClass } from "./state/caches.ts";
export { type Cluster, type ClusterOptions, createCluster, nominationMs } from "./state/cluster.ts";
export { isManaged, isManagedNode } from "./state/managed.ts";
export type { NodeRecord } from "./state/node-record.ts";
export type { PodRecord } from "./state/pod-record.ts";
export { type ProblemInputs, type ProblemView, problemAt, type RejectedPod } from "./state/problem.ts";
