/** The place that a pod has, or what a node is, as lines: prices, types, and what other places lacked. */
import type { CheaperPlan, CheaperTypes, LaunchChoice, NewNodeDocument, OwnNode, RefusedPlaces } from "@joinery/scheduling";
import { amounts, namesText } from "./render-text.ts";

export function nodeLines(
  { cheapest, instanceTypes, requests, daemonSetRequests, pods, nodePool }: NewNodeDocument,
  hasPods: boolean,
): string[] {
  const daemons = Object.keys(daemonSetRequests).length === 0 ? "" : ` and DaemonSets' ${amounts(daemonSetRequests)}`;
  const { instanceType, zone, capacityType, pricePerHour } = cheapest;
  const isOnly = instanceTypes.length === 1;
  const which = isOnly
    ? "the only type that meets its requirements, has"
    : `the cheapest of ${instanceTypes.length} types that meet its requirements, have`;
  return [
    `  NodePool ${nodePool}: the first in the order of weights that takes it`,
    `  ${instanceType} in ${zone}, ${capacityType}, ${price(pricePerHour)}: ${which} an available offering and ${isOnly ? "holds" : "hold"} ${amounts(requests)} of ${pods.length === 1 ? "its pod" : `its ${pods.length} pods`}${daemons}`,
    ...(hasPods ? [`  pods: ${namesText(pods)}`, `  types: ${namesText(instanceTypes)}`] : []),
  ];
}

export function launchLines({ capacityTypes, offerings, nextPricePerHour }: LaunchChoice): string[] {
  const next = nextPricePerHour === undefined ? "" : `; the next type costs ${price(nextPricePerHour)}`;
  return [
    `  may be launched as ${offerings} ${offerings === 1 ? "offering" : "offerings"} of type, zone and capacity type${next}`,
    ...capacityTypes.map(
      ({ capacityType, types, zones, cheapest }) =>
        `    ${capacityType}: ${types} ${types === 1 ? "type" : "types"} in ${zones.join(", ")}, from ${price(cheapest.pricePerHour)} (${cheapest.instanceType})`,
    ),
  ];
}

export function cheaperLines({ types, count, groups }: CheaperTypes, isGrouped: boolean): string[] {
  if (count === 0) return ["  no type of the pool is cheaper"];
  const lines = types.map(({ instanceType, pricePerHour, lacked }) => `    ${instanceType}  ${pricePerHour.toFixed(4)}  ${lacked}`);
  const told = [`  cheaper, but not fit (${types.length} of ${count}):`, ...lines];
  if (!isGrouped || count <= types.length) return told;
  const all = groups.map(
    (group) => `    ${String(group.count).padStart(4)}  ${group.lacked}: ${namesText(group.instanceTypes, group.count)}`,
  );
  return [...told, "  all of them by what they lack:", ...all];
}

/** What the search for a cheaper plan has changed. */
export function cheaperPlanLines({ nodes, pricePerHour, greedyNodes, greedyPricePerHour, movedFrom }: CheaperPlan): string[] {
  const plan = `  the plan was made cheaper: ${nodes} new nodes for ${price(pricePerHour)} instead of ${greedyNodes} for ${price(greedyPricePerHour)}`;
  if (movedFrom === undefined) return [`${plan}; this pod stayed where it was`];
  const { node, instanceType, pricePerHour: before, otherPods } = movedFrom;
  const beside = otherPods === 0 ? "alone" : `beside ${otherPods} other ${otherPods === 1 ? "pod" : "pods"}`;
  const where = node === undefined ? `on a ${instanceType} (${price(before)})` : `on ${node}`;
  return [plan, `  that moved this pod: place by place it would be ${where}, ${beside}`];
}

/** What the place saves against a node for the pod alone. */
export function ownNodeLines(ownNode: OwnNode | undefined, node: NewNodeDocument | undefined, outcome: string): string[] {
  if (ownNode === undefined || (outcome !== "existing-node" && (node === undefined || node.pods.length === 1))) return [];
  const { nodePool, instanceType, pricePerHour } = ownNode;
  return [`  a new node for it alone would have cost ${price(pricePerHour)} (${instanceType} of NodePool ${nodePool})`];
}

export function placeLines(title: string, places: readonly RefusedPlaces[] = []): string[] {
  if (places.length === 0) return [];
  return [
    "",
    `${title}:`,
    ...places.map(({ count, reason, names }) => `  ${String(count).padStart(4)}  ${reason} (${namesText(names, count)})`),
  ];
}

function price(usdPerHour: number): string {
  return `${usdPerHour.toFixed(4)} $ per hour`;
}
