/** What the nodes of each NodePool cost. Rules L-72, L-73, O-194. */
import { CAPACITY_TYPE_LABEL, INSTANCE_TYPE_LABEL, type NodeClaim, ZONE_LABEL } from "@joinery/api";
import type { InstanceType } from "@joinery/scheduling";
import type { Caches } from "./caches.ts";

export interface PoolCosts {
  /** Takes the prices of a pool; offerings that it no longer has keep the price that was known. */
  note(pool: string, types: readonly InstanceType[]): void;
  knows(pool: string): boolean;
  forget(pool: string): void;
  /** USD per hour, by NodePool; nodes of unknown price count nothing. */
  perHour(): ReadonlyMap<string, number>;
  clear(): void;
}

export function createPoolCosts({ nodeClaims, nodePools }: Pick<Caches, "nodeClaims" | "nodePools">): PoolCosts {
  const prices = new Map<string, Map<string, number>>();
  return {
    note(pool, types) {
      const known = prices.get(pool) ?? new Map<string, number>();
      prices.set(pool, known);
      for (const { name, offerings } of types) {
        for (const { requirements, priceUsdPerHour } of offerings) {
          const single = (key: string) => requirements.find((item) => item.key === key)?.values?.[0] ?? "";
          known.set(offeringKey(name, single(CAPACITY_TYPE_LABEL), single(ZONE_LABEL)), priceUsdPerHour);
        }
      }
    },
    knows: (pool) => prices.has(pool),
    forget: (pool) => void prices.delete(pool),
    perHour() {
      const costs = new Map<string, number>();
      for (const { metadata } of nodePools.values()) {
        const pool = metadata?.name ?? "";
        let cost = 0;
        for (const claim of nodeClaims.by("nodePool", pool)) cost += prices.get(pool)?.get(offeringOf(claim) ?? "") ?? 0;
        costs.set(pool, cost);
      }
      return costs;
    },
    clear: () => prices.clear(),
  };
}

/** undefined until the launch has said what it became. */
function offeringOf({ metadata }: NodeClaim): string | undefined {
  const labels = metadata?.labels ?? {};
  const [type, capacityType, zone] = [labels[INSTANCE_TYPE_LABEL], labels[CAPACITY_TYPE_LABEL], labels[ZONE_LABEL]];
  return type && capacityType && zone ? offeringKey(type, capacityType, zone) : undefined;
}

function offeringKey(type: string, capacityType: string, zone: string): string {
  return `${type}/${capacityType}/${zone}`;
}
