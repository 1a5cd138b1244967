/** What every controller of one term of leadership works with. */
import type { Kind, LabelVocabulary } from "@joinery/api";
import type { Clock, KubeClient, RandomSource } from "@joinery/kube";
import type { DefaultSpread } from "@joinery/scheduling";
import type { BufferStore } from "./buffers/buffer-store.ts";
import type { CloudProvider } from "./cloud-provider.ts";
import type { EventSink } from "./events/event.ts";
import type { Logger } from "./logger.ts";
import type { CoreMetrics } from "./metrics/core-metrics.ts";
import type { ShowInstanceTypes } from "./metrics/instance-type-metrics.ts";
import type { LoopMetrics } from "./metrics/runtime-metrics.ts";
import type { RegistrationHealth } from "./node-pool/registration-health.ts";
import type { CoreOptions } from "./options.ts";
import type { Writes } from "./runtime/writes.ts";
import type { Assignments } from "./state/assignments.ts";
import type { Caches } from "./state/caches.ts";
import type { Cluster } from "./state/cluster.ts";
import type { NodeSlots } from "./state/node-slots.ts";
import type { PodTimes } from "./state/pod-times.ts";
import type { PoolCosts } from "./state/pool-costs.ts";

export interface Rooms {
  /** Refuses to write once the term is over. */
  readonly kube: KubeClient;
  readonly writes: Writes;
  readonly caches: Caches;
  readonly cluster: Cluster;
  readonly assignments: Assignments;
  readonly podTimes: PodTimes;
  readonly costs: PoolCosts;
  /** Room that CapacityBuffers keep, and on which nodes. */
  readonly buffers: BufferStore;
  /** Nodes that static NodePools are about to get. */
  readonly slots: NodeSlots;
  readonly provider: CloudProvider;
  /** How registrations went, per NodePool. */
  readonly health: RegistrationHealth;
  readonly vocabulary: LabelVocabulary;
  readonly clock: Clock;
  readonly random: RandomSource;
  /** Says which controller speaks, where it is one controller's. */
  readonly log: Logger;
  /** Of the objects that one controller reconciles. */
  readonly kind?: Kind;
  readonly events: EventSink;
  readonly metrics: CoreMetrics;
  /** Hooks for the queue of one controller. */
  readonly observe: (controller: string, workers: number) => LoopMetrics;
  readonly showInstanceTypes: ShowInstanceTypes;
  readonly options: CoreOptions;
  /** Made of the options once, because it remembers shapes from solve to solve. */
  readonly defaultSpread: DefaultSpread;
}
