/** A pod that has a node carries the node's zone and region as labels of its own, so that its containers can be told them. */
import { type ApiObject, ensureObject, textAt } from "../objects/json.ts";
import type { RuleContext } from "../registry/resource.ts";

const topologyKeys = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/** The node's word wins over a label that the pod brought. Does nothing for a pod without node, or when the node is not there. */
export function labelTopology(pod: ApiObject, context: RuleContext): void {
  const name = textAt(pod, "spec", "nodeName") ?? "";
  const node = name === "" ? undefined : context.find("nodes", name);
  for (const key of topologyKeys) {
    const value = textAt(node, "metadata", "labels", key);
    if (value !== undefined) ensureObject(pod.metadata, "labels")[key] = value;
  }
}
