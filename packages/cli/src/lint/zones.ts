/** Zones in which pools can launch something, and those that pods may go to. Rules S-53, S-131. */
import { ZONE_LABEL } from "@joinery/api";
import { Requirement } from "@joinery/scheduling";
import { nodeDemands } from "./node-demands.ts";
import type { PoolFacts } from "./pool-facts.ts";
import { offeringsUnder } from "./type-facts.ts";
import type { Workload } from "./workloads.ts";

/** Zones in which the pool can launch something. */
export function zonesOf({ requirements, types }: PoolFacts): ReadonlySet<string> {
  return new Set(
    types.flatMap((type) => offeringsUnder(requirements, type).flatMap((offering) => offering.find(ZONE_LABEL)?.values ?? [])),
  );
}

/** By the pod's own required node selector and affinity. */
export function mayGoTo(zone: string, workload: Workload): boolean {
  const demands = nodeDemands(workload).filter(({ item, firmness }) => firmness !== "preferred" && Requirement.of(item).key === ZONE_LABEL);
  const admits = demands.map(({ item, firmness }) => ({ firmness, isAdmitted: Requirement.of(item).has(zone) }));
  const alternatives = admits.filter(({ firmness }) => firmness === "alternative");
  const isOneOf = alternatives.length === 0 || alternatives.some(({ isAdmitted }) => isAdmitted);
  return isOneOf && admits.every(({ firmness, isAdmitted }) => firmness === "alternative" || isAdmitted);
}
