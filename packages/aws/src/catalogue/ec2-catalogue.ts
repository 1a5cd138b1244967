/** The built-in knowledge of EC2, decoded when first asked for: types, zones, prices, and the tables that no API tells. */
import type { InstanceTypeInfo } from "../ec2/instance-type-info.ts";
import { type CatalogueFile, decodeInfo, type Source } from "./columns.ts";
import { estimateSpotPrice } from "./spot-model.ts";

export interface Zone {
  readonly name: string;
  readonly id: string;
}

/** Facts about types that the EC2 API does not tell (appendices A and B of the instance type chapter). */
export interface StaticTables {
  /** Baseline, Mbit/s. */
  readonly networkMbps: ReadonlyMap<string, number>;
  /** 0 = in the table, but not trunk capable. */
  readonly branchInterfaces: ReadonlyMap<string, number>;
}

export interface Ec2Catalogue {
  readonly region: string;
  readonly zones: readonly Zone[];
  readonly types: readonly InstanceTypeInfo[];
  /** Type → names of the zones that offer it. */
  readonly zonesByType: ReadonlyMap<string, readonly string[]>;
  readonly tables: StaticTables;
  /** USD per hour; undefined where no price is known. */
  onDemandPrice(instanceType: string): number | undefined;
  /** An estimate (see `sources.spotPrices`), USD per hour; undefined where the on-demand price is not known. */
  spotPrice(instanceType: string, zone: string): number | undefined;
  readonly sources: {
    readonly instanceTypes: Source;
    readonly offerings: Source;
    readonly onDemandPrices: Source;
    readonly spotPrices: Source;
    readonly networkBandwidth: Source;
    readonly branchInterfaces: Source;
  };
  /** Types without a price, which therefore nobody can buy here. */
  readonly typesWithoutPrice: readonly string[];
}

/** Regions with a catalogue of their own. Prices of others are not known offline (I-901). */
export const CATALOGUE_REGIONS = ["us-east-1"] as const;
export type CatalogueRegion = (typeof CATALOGUE_REGIONS)[number];

/** Decodes anew on each call (some milliseconds): who needs it often keeps it. */
export async function loadEc2Catalogue(region: CatalogueRegion = "us-east-1"): Promise<Ec2Catalogue> {
  return decodeCatalogue(JSON.parse(await textOf(region)) as CatalogueFile);
}

/** A literal per region, so that a bundler sees what may be imported. */
async function textOf(region: CatalogueRegion): Promise<string> {
  switch (region) {
    case "us-east-1":
      return (await import("./ec2-us-east-1.generated.ts")).text;
  }
}

function decodeCatalogue(file: CatalogueFile): Ec2Catalogue {
  const { names, zones, zoneBits } = file;
  const zoneLists = new Map<number, readonly string[]>();
  const zonesOf = (bits: number) => {
    const list = zoneLists.get(bits) ?? zones.filter((_, index) => bits & (1 << index)).map(({ name }) => name);
    zoneLists.set(bits, list);
    return list;
  };
  const onDemand = toMap(names, file.onDemand);
  return {
    region: file.region,
    zones,
    types: decodeInfo(names, file.info),
    zonesByType: new Map(names.map((name, row) => [name, zonesOf(zoneBits[row] ?? 0)])),
    tables: { networkMbps: toMap(names, file.networkMbps), branchInterfaces: toMap(names, file.branchInterfaceCounts) },
    onDemandPrice: (instanceType) => onDemand.get(instanceType),
    spotPrice(instanceType, zone) {
      const price = onDemand.get(instanceType);
      return price === undefined ? undefined : estimateSpotPrice(instanceType, zone, price);
    },
    sources: file,
    typesWithoutPrice: file.onDemandPrices.withoutPrice,
  };
}

function toMap(names: readonly string[], cells: readonly (number | null)[]): ReadonlyMap<string, number> {
  const map = new Map<string, number>();
  for (const [row, name] of names.entries()) {
    const cell = cells[row];
    if (cell !== null && cell !== undefined) map.set(name, cell);
  }
  return map;
}
