/** The peer's plan as one of ours, so that the reference checker can be asked about it. */

import { CORE_WELL_KNOWN_LABELS, sumResources } from "@joinery/api";
import { type Plan, type PlannedNode, type Problem, Requirements } from "@joinery/scheduling";
import { claimLabels } from "../../packages/scheduling/src/solve/planned-node.ts";
import type { PeerPlan } from "./peer.ts";

export function planOfPeer({ newNodes, existingNodes, unschedulable }: PeerPlan, problem: Problem): Plan {
  return {
    newNodes: newNodes.map((node, index) => plannedNode(node, index, problem)),
    existingNodes,
    unschedulable: unschedulable.map(({ pod, reasons }) => ({
      pod,
      reasons: reasons.map(({ message }) => ({ kind: "no-offering" as const, nodePool: "", message })),
    })),
    droppedPools: [],
  };
}

function plannedNode(node: PeerPlan["newNodes"][number], index: number, { pools, pods, options }: Problem): PlannedNode {
  const { nodePool, instanceTypes } = pools.find((offer) => offer.nodePool.metadata!.name === node.nodePool)!;
  const types = node.instanceTypes.map((name) => instanceTypes.find((type) => type.name === name)!);
  const requests = new Map(pods.map(({ key, shape }) => [key, shape.requests]));
  const { taints = [], startupTaints = [] } = nodePool.spec.template.spec;
  const wellKnown = new Set([...CORE_WELL_KNOWN_LABELS, ...(options.wellKnownLabels ?? [])]);
  return {
    name: `${node.nodePool}-peer-${index + 1}`,
    nodePool,
    requirements: node.requirements,
    labels: claimLabels(nodePool, Requirements.fromItems(node.requirements), wellKnown),
    annotations: {},
    taints,
    startupTaints,
    instanceTypes: types,
    cheapest: { instanceType: types[0]!.name, zone: "", capacityType: "", priceUsdPerHour: 0 },
    requests: sumResources(...node.pods.map((key) => requests.get(key)!)),
    daemonSetRequests: {},
    pods: node.pods,
  };
}
