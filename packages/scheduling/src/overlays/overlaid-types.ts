/** Instance types as overlays make them. Rules A-52…A-56, L-232, L-233, L-238…L-241, S-183, S-204, V-76. */
import { changedPrice, type NodePool, parseResources } from "@joinery/api";
import type { InstanceType, Offering } from "../instance-type.ts";
import { remembered } from "../memo.ts";
import type { Requirements } from "../requirements/requirements.ts";
import { type OverlayTerms, offeringsMeant, siteLabels } from "./overlay-terms.ts";

/** Overlays that hold, in force. */
export interface OverlaySet {
  /**
   * The types of a pool with their prices and capacities overlaid. Types and lists that no overlay speaks of are the given objects;
   * the same list gives the same list to all pools that overlays do not tell apart, as long as the given one lives.
   */
  typesFor(nodePool: NodePool, instanceTypes: readonly InstanceType[]): readonly InstanceType[];
}

/** `terms` in the order of `overlayTerms`, without those that do not hold. */
export function overlaySet(terms: readonly OverlayTerms[]): OverlaySet {
  const known = new WeakMap<readonly InstanceType[], Map<string, readonly InstanceType[]>>();
  return {
    typesFor(nodePool, instanceTypes) {
      if (terms.length === 0) return instanceTypes;
      const site = siteLabels(nodePool);
      const bySite = remembered(known, instanceTypes, () => new Map<string, readonly InstanceType[]>());
      return remembered(bySite, siteKey(terms, site), () => overlaidTypes(terms, site, instanceTypes));
    },
  };
}

/** Equal for pools that these overlays cannot tell apart. */
export function siteKey(terms: readonly OverlayTerms[], site: Requirements): string {
  const keys = new Set(terms.flatMap(({ wanted }) => Array.from(wanted, ({ key }) => key)));
  return JSON.stringify([...keys].sort().map((key) => site.find(key)?.values));
}

function overlaidTypes(terms: readonly OverlayTerms[], site: Requirements, types: readonly InstanceType[]): readonly InstanceType[] {
  const overlaid = types.map((type) => overlaidType(terms, site, type));
  return overlaid.every((type, index) => type === types[index]) ? types : overlaid;
}

/** The heaviest overlay that names a price or a resource decides about it; nothing adds up (L-232, L-233). */
function overlaidType(terms: readonly OverlayTerms[], site: Requirements, type: InstanceType): InstanceType {
  const prices = new Map<Offering, string>();
  let capacity: Record<string, string | number> | undefined;
  for (const { wanted, price, capacity: amounts } of terms) {
    const meant = offeringsMeant(wanted, site, type);
    if (meant.length === 0) continue;
    if (price !== undefined) for (const offering of meant) if (!prices.has(offering)) prices.set(offering, price);
    if (Object.keys(amounts).length > 0) capacity = { ...amounts, ...capacity };
  }
  if (prices.size === 0 && capacity === undefined) return type;
  return {
    ...type,
    ...(prices.size > 0 && { offerings: type.offerings.map((offering) => repriced(offering, prices.get(offering))) }),
    ...(capacity !== undefined && { capacity: { ...type.capacity, ...parseResources(capacity) } }),
    overlaid: { price: prices.size > 0, capacity: capacity !== undefined },
  };
}

/** What the offering changes of the type's capacity stays, which Karpenter loses (V-76, L-254). */
function repriced(offering: Offering, price: string | undefined): Offering {
  return price === undefined ? offering : { ...offering, priceUsdPerHour: changedPrice(offering.priceUsdPerHour, price) };
}
