/** The kinds whose conditions are followed. Rules O-17, O-231, O-233, O-234. */
import { CapacityBuffers, INITIALIZED_LABEL, NODE_POOL_LABEL, NodeClaims, NodePools, Nodes, nodeClassLabel } from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { EventSink } from "../events/event.ts";
import type { Caches } from "../state/caches.ts";
import { DEFAULT_BUCKETS } from "./buckets.ts";
import { type Conditioned, createConditionWatch, createTwins, type Watched } from "./condition-watch.ts";
import type { Registry } from "./prometheus.ts";

export interface WatchedKinds {
  /** Those of core; node classes are followed in any case (O-17). */
  readonly hasCoreKinds: boolean;
  readonly hasBuffers: boolean;
}

/** Registers the series; what is given back begins to count and tell, and gives what ends that. */
export function createConditionWatches(
  registry: Registry,
  caches: Caches,
  clock: Clock,
  { hasCoreKinds, hasBuffers }: WatchedKinds,
): (events: EventSink) => () => void {
  const { nodeClaims, nodePools, nodes, buffers, nodeClasses } = caches;
  const twins = createTwins(registry);
  const claimKeys = [...nodeClasses.map(({ kind }) => nodeClassLabel(kind)), NODE_POOL_LABEL];
  const watch = <T extends Conditioned>(watched: Watched<T>) => createConditionWatch(registry, watched, twins, clock);
  const coreKinds = () => [
    watch({ kind: NodeClaims, cache: nodeClaims, labelKeys: claimKeys, hasTwins: true }),
    watch({ kind: NodePools, cache: nodePools, hasTwins: true }),
    watch({ kind: Nodes, cache: nodes, labelKeys: [...claimKeys, INITIALIZED_LABEL], hasTwins: false }),
    ...(hasBuffers ? [watch({ kind: CapacityBuffers, cache: buffers, hasTwins: true })] : []),
  ];
  const watches = [
    ...nodeClasses.map(({ kind, cache }) => watch({ kind, cache, hasTwins: true, buckets: DEFAULT_BUCKETS })),
    ...(hasCoreKinds ? coreKinds() : []),
  ];
  return (events) => {
    const ends = watches.map(({ start }) => start(events));
    return () => {
      for (const end of ends) end();
    };
  };
}
