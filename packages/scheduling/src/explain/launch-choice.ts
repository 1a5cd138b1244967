/** What a planned node may be launched as, beside the cheapest: spot or on-demand, in which zones, at which prices. Rules S-56, S-178, V-61. */
import { isIn } from "../catalog/type-set.ts";
import { roundedPrice } from "../plan/plan-price.ts";
import type { PlannedNode } from "../plan.ts";
import { Requirements } from "../requirements/requirements.ts";
import type { Template } from "../solve/template.ts";

interface CapacityChoice {
  readonly capacityType: string;
  /** Types of the node's list that can be launched so. */
  readonly types: number;
  readonly zones: readonly string[];
  readonly cheapest: { readonly instanceType: string; readonly zone: string; readonly pricePerHour: number };
}

export interface LaunchChoice {
  /** The cheapest first. */
  readonly capacityTypes: readonly CapacityChoice[];
  /** Pairs of type, zone and capacity type: any of them will do. */
  readonly offerings: number;
  /** The cheapest of another type than the cheapest one; absent where there is none. */
  readonly nextPricePerHour?: number;
}

export function launchChoice({ catalog }: Template, node: PlannedNode): LaunchChoice {
  const listed = new Set(node.instanceTypes.map(({ name }) => name));
  const offerings = catalog.kindsUnder(Requirements.fromItems(node.requirements)).flatMap((kind) => {
    const { zone, capacityType, launchable, prices } = catalog.kinds[kind]!;
    const types = new Set<number>();
    for (let variant = 0; variant < catalog.variantCount; variant++)
      if (isIn(launchable, variant)) types.add(catalog.typeOfVariant[variant]!);
    return [...types]
      .map((type) => ({ instanceType: catalog.types[type]!.name, zone, capacityType, pricePerHour: roundedPrice(prices[type]!) }))
      .filter(({ instanceType }) => listed.has(instanceType));
  });
  offerings.sort((a, b) => a.pricePerHour - b.pricePerHour || compare(a.instanceType, b.instanceType) || compare(a.zone, b.zone));
  const next = offerings.find(({ instanceType }) => instanceType !== node.cheapest.instanceType);
  const capacityTypes = Array.from(
    Map.groupBy(offerings, ({ capacityType }) => capacityType),
    ([capacityType, group]): CapacityChoice => {
      const { instanceType, zone, pricePerHour } = group[0]!;
      return {
        capacityType,
        types: new Set(group.map((offering) => offering.instanceType)).size,
        zones: [...new Set(group.map((offering) => offering.zone))].sort(),
        cheapest: { instanceType, zone, pricePerHour },
      };
    },
  );
  return { capacityTypes, offerings: offerings.length, ...(next && { nextPricePerHour: next.pricePerHour }) };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
