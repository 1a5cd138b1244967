/** Instance types without an AWS account: what `joinery plan` uses where it is given no catalogue. */
import type { Ec2NodeClass, Ec2NodeClassSpec } from "@joinery/api";
import type { InstanceType } from "@joinery/scheduling";
import { type ClassSettings, classSettings } from "../instance-types/class-settings.ts";
import { isUsable } from "../instance-types/compatibility.ts";
import { familyNamed } from "../instance-types/family.ts";
import { offeringsOf, resolveType } from "../instance-types/instance-types.ts";
import { ItemPool } from "../instance-types/item-pool.ts";
import { NO_KUBELET_SETTINGS, readKubelet } from "../instance-types/kubelet-settings.ts";
import { type CatalogueRegion, type Ec2Catalogue, loadEc2Catalogue, type Zone } from "./ec2-catalogue.ts";

/** `VM_MEMORY_OVERHEAD_PERCENT` by default. */
export const VM_MEMORY_OVERHEAD_DEFAULT = 0.075;

export interface BuiltInCatalogue {
  /** As nodes of the image family AL2023 in every zone would be. */
  readonly types: readonly InstanceType[];
  /** As nodes of the class would be. The same array for classes that do not differ in what types depend on, `types` among them. */
  typesOf(nodeClass: Pick<Ec2NodeClass, "spec" | "status"> | undefined): readonly InstanceType[];
  /** Which offerings carry modelled prices, with source and date of all figures. */
  readonly sources: Ec2Catalogue["sources"];
  readonly typesWithoutPrice: readonly string[];
}

interface Look {
  readonly zones: readonly Zone[];
  readonly settings: ClassSettings;
}

/**
 * All types of the region. Offerings without a known price, and those that the node class cannot use (I-803), are left out; the types
 * stay, so that a plan can say why they are of no use. Spot prices are estimates, as `sources.spotPrices.isEstimated` says.
 */
export async function loadBuiltInCatalogue(region: CatalogueRegion = "us-east-1"): Promise<BuiltInCatalogue> {
  const catalogue = await loadEc2Catalogue(region);
  const { sources, typesWithoutPrice } = catalogue;
  const pool = new ItemPool();
  const known = new Map<string, readonly InstanceType[]>();
  const typesFor = (look: Look) => {
    const key = JSON.stringify([look.zones, { ...look.settings, family: look.settings.family.name }]);
    const types = known.get(key) ?? resolveAll(catalogue, look, pool);
    known.set(key, types);
    return types;
  };
  const al2023 = { ...classSettings(undefined, NO_KUBELET_SETTINGS), family: familyNamed("AL2023") };
  const types = typesFor({ zones: catalogue.zones, settings: al2023 });
  return {
    types,
    typesOf: (nodeClass) => (nodeClass?.spec === undefined ? types : typesFor(lookOf(nodeClass, nodeClass.spec, catalogue))),
    sources,
    typesWithoutPrice,
  };
}

/** Of a class without status, or with one of another region, every zone; a kubelet that nobody can read counts as none. */
function lookOf({ status }: Pick<Ec2NodeClass, "status">, spec: Ec2NodeClassSpec, { zones }: Ec2Catalogue): Look {
  const selected = new Set(status?.subnets?.map(({ zone }) => zone));
  const own = zones.filter(({ name }) => selected.has(name));
  const kubelet = readKubelet(spec.kubelet);
  return {
    zones: own.length === 0 ? zones : own,
    settings: classSettings(spec, kubelet.kind === "settings" ? kubelet.settings : NO_KUBELET_SETTINGS),
  };
}

function resolveAll(catalogue: Ec2Catalogue, { zones, settings }: Look, pool: ItemPool): readonly InstanceType[] {
  const { region, zonesByType, tables } = catalogue;
  const machine = { ...settings, vmMemoryOverheadPercent: VM_MEMORY_OVERHEAD_DEFAULT, reservedEnis: 0 };
  return catalogue.types.map((info): InstanceType => {
    const offered = zonesByType.get(info.InstanceType) ?? [];
    const isAvailable = isUsable(info, settings);
    const offerings = offeringsOf(
      info,
      zones.filter(({ name }) => offered.includes(name)),
      pool,
      (capacityType, zone) => ({
        priceUsdPerHour:
          capacityType === "spot" ? catalogue.spotPrice(info.InstanceType, zone.name) : catalogue.onDemandPrice(info.InstanceType),
        isAvailable,
      }),
    );
    return {
      ...resolveType(info, offered, { region, zones, settings: machine, tables, pool }),
      offerings: offerings.filter((offering) => offering.isAvailable),
    };
  });
}

/** The types alone. */
export async function builtInCatalogue(region: CatalogueRegion = "us-east-1"): Promise<readonly InstanceType[]> {
  return (await loadBuiltInCatalogue(region)).types;
}
