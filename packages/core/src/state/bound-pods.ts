/** What runs where, as constraints between pods ask for it: pods of one shape on one node are one record. Rules S-136, S-153. */
import type { BoundPods, PodShape, PodSite } from "@joinery/scheduling";
import type { Caches } from "./caches.ts";
import { isTerminal, type PodRecord, podKey } from "./pod-record.ts";
import { hostnameOf, labelsOf, nameOf, type StateNode, taintsOf } from "./state-node.ts";

/** Of all Nodes, those that leave too, without pods that are to be placed. Cost: one visit per pod, one record per shape and Node. */
export function boundPods(states: Iterable<StateNode>, caches: Caches, toPlace: ReadonlyMap<string, PodRecord>): BoundPods[] {
  const records: BoundPods[] = [];
  for (const state of states) {
    const { node } = state;
    if (node === undefined) continue;
    const counts = new Map<PodShape, { count: number; endingCount: number }>();
    for (const pod of caches.pods.by("node", node.metadata.name)) {
      if (isTerminal(pod) || toPlace.has(podKey(pod))) continue;
      const entry = counts.get(pod.shape) ?? { count: 0, endingCount: 0 };
      counts.set(pod.shape, entry);
      if (pod.deletingAtMs === undefined) entry.count++;
      else entry.endingCount++;
    }
    if (counts.size === 0) continue;
    const site = siteOf(state);
    for (const [shape, { count, endingCount }] of counts) records.push({ shape, site, count, endingCount });
  }
  return records;
}

/** S-156. */
export function labelsByNamespace({ namespaces }: Caches): ReadonlyMap<string, Readonly<Record<string, string>>> {
  return new Map(Array.from(namespaces.values(), ({ metadata }) => [metadata?.name ?? "", metadata?.labels ?? {}]));
}

function siteOf(state: StateNode): PodSite {
  return { name: nameOf(state), labels: { ...labelsOf(state), "kubernetes.io/hostname": hostnameOf(state) }, taints: taintsOf(state) };
}
