/** Instance types as the solver wants them, from what EC2 says about them and what a node class asks for. Sections 2, 3, 4, 6, 8.1. */
import type { InstanceType, Offering } from "@joinery/scheduling";
import type { StaticTables, Zone } from "../catalogue/ec2-catalogue.ts";
import type { InstanceTypeInfo } from "../ec2/instance-type-info.ts";
import { capacityOf, type MachineSettings } from "./capacity.ts";
import type { ItemPool } from "./item-pool.ts";
import { capacityTypesOf, labelRequirements } from "./labels.ts";
import { overheadOf } from "./overhead.ts";

export interface TypeContext {
  readonly region: string;
  /** Of the node class's subnets. */
  readonly zones: readonly Zone[];
  readonly settings: MachineSettings;
  readonly tables: StaticTables;
  readonly pool: ItemPool;
}

export type PlainType = Omit<InstanceType, "offerings">;

/** Labels, capacity and overhead; offerings come and go, and are attached by `attachOfferings`. */
export function resolveType(
  info: InstanceTypeInfo,
  offeredZones: readonly string[],
  { region, zones, settings, tables, pool }: TypeContext,
): PlainType {
  const capacity = capacityOf(info, settings, tables.branchInterfaces);
  return {
    name: info.InstanceType,
    requirements: labelRequirements(info, { region, zones, offeredZones, family: settings.family, networkMbps: tables.networkMbps, pool }),
    capacity,
    overhead: overheadOf(info, settings, capacity),
  };
}

export interface OfferingFacts {
  /** undefined: not known, so nobody can buy it (I-802). */
  readonly priceUsdPerHour: number | undefined;
  readonly isAvailable: boolean;
}

/** I-801: one per zone and capacity type. Their requirements are shared between the types. */
export function offeringsOf(
  info: InstanceTypeInfo,
  zones: readonly Zone[],
  pool: ItemPool,
  look: (capacityType: string, zone: Zone) => OfferingFacts,
): Offering[] {
  return zones.flatMap((zone) =>
    capacityTypesOf(info).map((capacityType) => {
      const { priceUsdPerHour, isAvailable } = look(capacityType, zone);
      return {
        requirements: pool.offering(capacityType, zone),
        priceUsdPerHour: priceUsdPerHour ?? 0,
        isAvailable: isAvailable && priceUsdPerHour !== undefined,
      };
    }),
  );
}
