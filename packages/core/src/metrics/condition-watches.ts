/** The kinds whose conditions are followed. Rules O-231, O-233, O-234. */
import {
  CapacityBuffers,
  INITIALIZED_LABEL,
  type Kind,
  type KubeObject,
  NODE_POOL_LABEL,
  NodeClaims,
  NodePools,
  Nodes,
  nodeClassLabel,
} from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { EventSink } from "../events/event.ts";
import type { Caches } from "../state/caches.ts";
import { createConditionWatch, createTwins } from "./condition-watch.ts";
import type { Registry } from "./prometheus.ts";

/** Registers the series; what is given back begins to count and tell, and gives what ends that. */
export function createConditionWatches(
  registry: Registry,
  caches: Caches,
  nodeClassKinds: readonly Kind[],
  clock: Clock,
  hasBuffers: boolean,
): (events: EventSink) => () => void {
  const twins = createTwins(registry);
  const claimLabels = seriesLabels([...nodeClassKinds.map(nodeClassLabel), NODE_POOL_LABEL]);
  const nodeLabels = seriesLabels([...nodeClassKinds.map(nodeClassLabel), NODE_POOL_LABEL, INITIALIZED_LABEL]);
  const watches = [
    createConditionWatch(registry, { kind: NodeClaims, cache: caches.nodeClaims, labels: claimLabels, hasTwins: true }, twins, clock),
    createConditionWatch(registry, { kind: NodePools, cache: caches.nodePools, hasTwins: true }, twins, clock),
    createConditionWatch(registry, { kind: Nodes, cache: caches.nodes, labels: nodeLabels, hasTwins: false }, twins, clock),
    ...(hasBuffers ? [createConditionWatch(registry, { kind: CapacityBuffers, cache: caches.buffers, hasTwins: true }, twins, clock)] : []),
  ];
  return (events) => {
    const ends = watches.map(({ start }) => start(events));
    return () => {
      for (const end of ends) end();
    };
  };
}

/** O-233: labels of the object as labels of its series, their keys made safe for Prometheus. */
function seriesLabels(keys: readonly string[]): (object: KubeObject) => Record<string, string> {
  const names = keys.map((key) => [key, key.replace(/[^a-zA-Z0-9_]/g, "_")] as const);
  return ({ metadata }) => Object.fromEntries(names.map(([key, name]) => [name, metadata?.labels?.[key] ?? ""]));
}
