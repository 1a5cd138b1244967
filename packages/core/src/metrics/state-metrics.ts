/** Gauges of the cluster's state, computed when somebody looks. A replica that does not lead shows none (O-77). Rules O-189…O-193, O-222, L-38. */
import { type Kind, type LabelVocabulary, type NodePool, parseResources, parseTime, type Resources } from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { Caches } from "../state/caches.ts";
import type { Cluster } from "../state/cluster.ts";
import { isManaged } from "../state/managed.ts";
import type { NodeRecord } from "../state/node-record.ts";
import type { PoolCosts } from "../state/pool-costs.ts";
import { allocatableOf, type StateNode } from "../state/state-node.ts";
import { seconds } from "./core-metrics.ts";
import { type Registry, registerLiveGauge, type Sample } from "./prometheus.ts";

export interface StateSource {
  readonly caches: Caches;
  readonly costs: PoolCosts;
  readonly vocabulary: LabelVocabulary;
  readonly nodeClassKinds: readonly Kind[];
  readonly clock: Clock;
  /** undefined while this replica does not lead. */
  readonly cluster: () => Cluster | undefined;
}

export function registerStateMetrics(registry: Registry, source: StateSource, isObservable: boolean): void {
  const { caches, clock, cluster, costs, vocabulary, nodeClassKinds } = source;
  const gauge = (name: string, help: string, samples: (cluster: Cluster) => Iterable<Sample>) =>
    registerLiveGauge(registry, `karpenter_${name}`, help, () => {
      const current = cluster();
      return current === undefined ? [] : samples(current);
    });

  gauge("cluster_state_node_count", "Nodes known, whoever made them.", ({ nodes }) => [{ labels: {}, value: count(nodes()) }]);
  gauge("cluster_state_synced", "Whether plans may be made.", ({ sync }) => [{ labels: {}, value: sync.isSynced ? 1 : 0 }]);
  gauge("cluster_state_unsynced_time_seconds", "Since when plans may not be made.", ({ sync }) => [
    { labels: {}, value: seconds(sync.unsyncedMs) },
  ]);
  if (!isObservable) return;

  const labelNames = nodeLabelNames(vocabulary);
  const perNode = (name: string, help: string, amounts: (state: KnownNode, cluster: Cluster) => Resources) =>
    gauge(name, help, function* (current) {
      for (const state of knownNodes(current)) {
        const labels = nodeLabels(state, labelNames);
        for (const [resource, amount] of Object.entries(amounts(state, current))) {
          yield { labels: { ...labels, resource_type: resourceLabel(resource) }, value: inUnits(resource, amount) };
        }
      }
    });
  perNode("nodes_allocatable", "What nodes offer to pods.", ({ node }) => node.allocatable);
  perNode("nodes_total_pod_requests", "What bound pods request, DaemonSets' included.", (state, { usageOf }) => usageOf(state).requests);
  perNode(
    "nodes_total_daemon_requests",
    "What bound pods of DaemonSets request.",
    (state, { usageOf }) => usageOf(state).daemonSetRequests,
  );
  perNode(
    "nodes_total_pod_limits",
    "The most that bound pods may use, DaemonSets' included.",
    (state, { usageOf }) => usageOf(state).limits,
  );
  perNode(
    "nodes_total_daemon_limits",
    "The most that bound pods of DaemonSets may use.",
    (state, { usageOf }) => usageOf(state).daemonSetLimits,
  );
  perNode("nodes_system_overhead", "What nodes keep for themselves.", overheadOf);
  gauge("nodes_current_lifetime_seconds", "Age of nodes.", function* (current) {
    for (const state of knownNodes(current)) {
      const createdAtMs = parseTime(state.node.metadata.creationTimestamp);
      if (createdAtMs === undefined) continue;
      yield { labels: nodeLabels(state, labelNames), value: seconds(clock.wallMs() - createdAtMs) };
    }
  });
  gauge("cluster_utilization_percent", "Requests per hundred of what nodes offer.", utilization);
  gauge("nodepools_cost_total", "USD per hour that NodePools cost.", function* () {
    for (const [nodepool, value] of costs.perHour()) if (isOurs(caches.nodePools.find(nodepool))) yield { labels: { nodepool }, value };
  });
  /** O-193: pools of another provider have no series. */
  const isOurs = (pool: NodePool | undefined) => pool !== undefined && isManaged(pool.spec.template.spec.nodeClassRef, nodeClassKinds);
  // O-193: what has no limits has no series of them; what it holds is told all the same.
  registerPoolGauge("usage", "What NodePools hold.", (pool) => pool.status?.resources);
  registerPoolGauge("limit", "What NodePools may hold.", (pool) => pool.spec.limits);

  function registerPoolGauge(
    name: string,
    help: string,
    textsOf: (pool: ReturnType<Caches["nodePools"]["find"]> & object) => Readonly<Record<string, string | number>> | undefined,
  ): void {
    gauge(`nodepools_${name}`, help, function* () {
      for (const pool of caches.nodePools.values()) {
        if (!isOurs(pool)) continue;
        const nodepool = pool.metadata?.name ?? "";
        for (const [resource, amount] of Object.entries(parseResources(textsOf(pool)))) {
          yield { labels: { nodepool, resource_type: resourceLabel(resource) }, value: inUnits(resource, amount) };
        }
      }
    });
  }
}

/** O-189…O-192 are about Nodes: a NodeClaim whose Node has not come yet has no name that `kubectl get nodes` knows. */
type KnownNode = StateNode & { readonly node: NodeRecord };

function* knownNodes({ nodes }: Cluster): Iterable<KnownNode> {
  for (const state of nodes()) if (state.node !== undefined) yield state as KnownNode;
}

/** O-192. */
function* utilization(cluster: Cluster): Iterable<Sample> {
  const offered: Record<string, number> = {};
  const requested: Record<string, number> = {};
  const { usageOf } = cluster;
  for (const state of knownNodes(cluster)) {
    for (const [name, amount] of Object.entries(allocatableOf(state))) offered[name] = (offered[name] ?? 0) + amount;
    for (const [name, amount] of Object.entries(usageOf(state).requests)) requested[name] = (requested[name] ?? 0) + amount;
  }
  for (const [name, amount] of Object.entries(offered)) {
    if (amount > 0) yield { labels: { resource_type: resourceLabel(name) }, value: (100 * (requested[name] ?? 0)) / amount };
  }
}

function overheadOf({ node: { capacity, allocatable } }: KnownNode): Resources {
  return Object.fromEntries(Object.entries(capacity).map(([name, amount]) => [name, amount - (allocatable[name] ?? 0)]));
}

/** O-191: label key by the name that its series label gets; what two keys share is kept once. */
function nodeLabelNames({ wellKnown }: LabelVocabulary): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const key of [...wellKnown].sort()) names.set(labelText(key.slice(key.lastIndexOf("/") + 1)), key);
  return names;
}

function nodeLabels({ node, claim }: KnownNode, labelNames: ReadonlyMap<string, string>): Record<string, string> {
  const { name, labels: held = {} } = node.metadata;
  // No kubelet sets `status.phase` any more.
  const labels: Record<string, string> = { node_name: name, phase: "", managed: String(claim !== undefined) };
  for (const [label, key] of labelNames) labels[label] = held[key] ?? "";
  return labels;
}

/** O-173. */
function resourceLabel(resource: string): string {
  return labelText(resource);
}

function labelText(text: string): string {
  return text.toLowerCase().replaceAll("-", "_");
}

function inUnits(resource: string, amount: number): number {
  return resource === "cpu" ? amount / 1000 : amount;
}

function count(items: Iterable<unknown>): number {
  let total = 0;
  for (const _ of items) total++;
  return total;
}
