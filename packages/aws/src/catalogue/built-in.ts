/** Instance types without an AWS account: what `joinery plan` uses where it is given no catalogue. */
import type { InstanceType } from "@joinery/scheduling";
import { familyNamed } from "../instance-types/family.ts";
import { offeringsOf, resolveType } from "../instance-types/instance-types.ts";
import { ItemPool } from "../instance-types/item-pool.ts";
import { type CatalogueRegion, type Ec2Catalogue, loadEc2Catalogue } from "./ec2-catalogue.ts";

/** `VM_MEMORY_OVERHEAD_PERCENT` by default. */
export const VM_MEMORY_OVERHEAD_DEFAULT = 0.075;

export interface BuiltInCatalogue {
  readonly types: readonly InstanceType[];
  /** Which offerings carry modelled prices, with source and date of all figures. */
  readonly sources: Ec2Catalogue["sources"];
  readonly typesWithoutPrice: readonly string[];
}

/**
 * All types of the region as nodes of the image family AL2023 in every zone would be. Offerings without a known price, and those
 * that AL2023 cannot use (I-803), are left out; the types stay, so that a plan can say why they are of no use. Spot prices are
 * estimates, as `sources.spotPrices.isEstimated` says.
 */
export async function loadBuiltInCatalogue(region: CatalogueRegion = "us-east-1"): Promise<BuiltInCatalogue> {
  const catalogue = await loadEc2Catalogue(region);
  const { zones, zonesByType, tables, sources, typesWithoutPrice } = catalogue;
  const settings = { family: familyNamed("AL2023"), vmMemoryOverheadPercent: VM_MEMORY_OVERHEAD_DEFAULT, reservedEnis: 0 };
  const pool = new ItemPool();
  const types = catalogue.types.map((info): InstanceType => {
    const offered = zonesByType.get(info.InstanceType) ?? [];
    const isUsable = !info.InstanceType.startsWith("a1.");
    const offerings = offeringsOf(
      info,
      zones.filter(({ name }) => offered.includes(name)),
      pool,
      (capacityType, zone) => ({
        priceUsdPerHour:
          capacityType === "spot" ? catalogue.spotPrice(info.InstanceType, zone.name) : catalogue.onDemandPrice(info.InstanceType),
        isAvailable: isUsable,
      }),
    );
    return {
      ...resolveType(info, offered, { region, zones, settings, tables, pool }),
      offerings: offerings.filter(({ isAvailable }) => isAvailable),
    };
  });
  return { types, sources, typesWithoutPrice };
}

/** The types alone. */
export async function builtInCatalogue(region: CatalogueRegion = "us-east-1"): Promise<readonly InstanceType[]> {
  return (await loadBuiltInCatalogue(region)).types;
}
