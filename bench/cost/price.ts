/** What a plan costs: one price for plans of every origin. Rule V-60. */
import { type InstanceType, isLaunchable, itemsMeet, type RequirementItem, Requirements } from "@joinery/scheduling";

export interface PricedNode {
  readonly requirements: readonly RequirementItem[];
  readonly instanceTypes: readonly string[];
}

/** Each new node at the cheapest offering that may be launched for it, in USD per hour. Throws when there is none. */
export function priceUsdPerHour(nodes: readonly PricedNode[], catalogue: readonly InstanceType[]): number {
  const types = new Map(catalogue.map((type) => [type.name, type]));
  return nodes.reduce((sum, node) => sum + cheapestUsdPerHour(node, types), 0);
}

function cheapestUsdPerHour({ requirements, instanceTypes }: PricedNode, types: ReadonlyMap<string, InstanceType>): number {
  const wanted = Requirements.fromItems(requirements);
  let cheapest = Number.POSITIVE_INFINITY;
  for (const name of instanceTypes) {
    for (const offering of types.get(name)!.offerings) {
      if (offering.priceUsdPerHour < cheapest && isLaunchable(offering) && itemsMeet(wanted, offering.requirements)) {
        cheapest = offering.priceUsdPerHour;
      }
    }
  }
  if (cheapest === Number.POSITIVE_INFINITY) throw new Error(`no offering of ${instanceTypes.join(", ")} may be launched for a node`);
  return cheapest;
}
