/** What runs where, as constraints between pods ask for it: pods of one shape on one node are one record. Rules S-136, S-153. */
import type { BoundPods, PodShape } from "@joinery/scheduling";
import type { Caches } from "./caches.ts";
import type { Cluster } from "./cluster.ts";
import { isTerminal, type PodRecord } from "./pod-record.ts";
import { siteOf } from "./state-node.ts";

/** Of all Nodes, those that leave too, without pods that are to be placed. Cost: one record per shape and Node. */
export function boundPods(cluster: Pick<Cluster, "nodes" | "usageOf">, toPlace: Iterable<PodRecord>): BoundPods[] {
  const moving = new Map<string, Map<PodShape, { running: number; ending: number }>>();
  for (const pod of toPlace) if (pod.nodeName !== "" && !isTerminal(pod)) countMoving(moving, pod);
  const records: BoundPods[] = [];
  for (const state of cluster.nodes()) {
    const { node } = state;
    if (node === undefined) continue;
    const { running, ending } = cluster.usageOf(state);
    const gone = moving.get(node.metadata.name);
    const note = (shape: PodShape, runningCount: number, endingCount: number) => {
      const taken = gone?.get(shape);
      const record = { count: runningCount - (taken?.running ?? 0), endingCount: endingCount - (taken?.ending ?? 0) };
      if (record.count > 0 || record.endingCount > 0) records.push({ shape, site: siteOf(state), ...record });
    };
    for (const [shape, count] of running) note(shape, count, ending.get(shape) ?? 0);
    for (const [shape, count] of ending) if (!running.has(shape)) note(shape, 0, count);
  }
  return records;
}

function countMoving(moving: Map<string, Map<PodShape, { running: number; ending: number }>>, pod: PodRecord): void {
  const ofNode = moving.get(pod.nodeName) ?? new Map<PodShape, { running: number; ending: number }>();
  moving.set(pod.nodeName, ofNode);
  const counts = ofNode.get(pod.shape) ?? { running: 0, ending: 0 };
  ofNode.set(pod.shape, counts);
  if (pod.deletingAtMs === undefined) counts.running++;
  else counts.ending++;
}

/** S-156. */
export function labelsByNamespace({ namespaces }: Caches): ReadonlyMap<string, Readonly<Record<string, string>>> {
  return new Map(Array.from(namespaces.values(), ({ metadata }) => [metadata?.name ?? "", metadata?.labels ?? {}]));
}
