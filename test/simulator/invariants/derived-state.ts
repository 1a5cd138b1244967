/**
 * What a leader adds up from its caches, change by change, is what one gets who adds it up anew: nodes, what their pods ask for, what
 * NodePools hold, who waits. Rules L-22…L-36, L-55.
 */
import { NODE_POOL_LABEL, parseResources, podRequests } from "@joinery/api";
import type { Cluster } from "@joinery/core";
import { isEndedPod, type Truth } from "../truth.ts";

/** Why a replica's view of the cluster is not the cluster; to be asked when all NodeClaims are ready and none goes. */
export function* derivedFaults(cluster: Cluster, truth: Truth): Iterable<string> {
  if (!cluster.sync.isSynced) yield "holds the cluster for not synced";
  if (cluster.hasProvisionable) yield `wants capacity for ${[...cluster.provisionable()].map(({ metadata }) => metadata.name)}`;
  yield* nodeFaults(cluster, truth);
  yield* poolFaults(cluster, truth);
}

function* nodeFaults(cluster: Cluster, truth: Truth): Iterable<string> {
  const usage = usageByNode(truth);
  const nodes = new Map([...truth.nodes()].map((node) => [node.spec?.providerID ?? "", node]));
  for (const state of cluster.nodes()) {
    const node = nodes.get(state.key);
    nodes.delete(state.key);
    if (node === undefined) yield `counts ${state.key}, which has no Node`;
    else {
      const fault = difference(cluster.usageOf(state).requests, usage.get(node.metadata?.name ?? "") ?? {});
      if (fault !== undefined) yield `${node.metadata?.name}: pods ask for ${fault}`;
    }
    if (cluster.isMarked(state)) yield `${state.key} is marked`;
  }
  for (const id of nodes.keys()) yield `does not count ${id}`;
}

function* poolFaults(cluster: Cluster, truth: Truth): Iterable<string> {
  const held = new Map<string, Record<string, number>>();
  for (const { metadata, status } of truth.nodes()) {
    const pool = metadata?.labels?.[NODE_POOL_LABEL] ?? "";
    const total = held.get(pool) ?? {};
    held.set(pool, total);
    add(total, { ...parseResources(status?.capacity), nodes: 1 });
  }
  for (const { metadata } of truth.pools()) {
    const name = metadata?.name ?? "";
    const fault = difference(cluster.poolResources(name) ?? {}, held.get(name) ?? {});
    if (fault !== undefined) yield `NodePool ${name} holds ${fault}`;
  }
}

function usageByNode(truth: Truth): ReadonlyMap<string, Readonly<Record<string, number>>> {
  const usage = new Map<string, Record<string, number>>();
  for (const pod of truth.pods()) {
    if (!pod.spec.nodeName || isEndedPod(pod)) continue;
    const sum = usage.get(pod.spec.nodeName) ?? {};
    usage.set(pod.spec.nodeName, sum);
    add(sum, podRequests(pod));
  }
  return usage;
}

function add(into: Record<string, number>, amounts: Readonly<Record<string, number>>): void {
  for (const [name, amount] of Object.entries(amounts)) into[name] = (into[name] ?? 0) + amount;
}

/** The first that differs; what is absent is 0. */
function difference(shown: Readonly<Record<string, number>>, real: Readonly<Record<string, number>>): string | undefined {
  for (const name of new Set([...Object.keys(shown), ...Object.keys(real)])) {
    if ((shown[name] ?? 0) !== (real[name] ?? 0)) return `${shown[name] ?? 0} ${name}, and it is ${real[name] ?? 0}`;
  }
  return undefined;
}
