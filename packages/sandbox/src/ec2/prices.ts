/** Prices of the simulated EC2: on demand as in the catalogue, spot around the catalogue's model, moving slowly and repeatably. */
import type { Ec2Catalogue, SpotPrice } from "@joinery/aws";

/** Spot prices move from one level to the next in this time, and no further than this share of the modelled price. */
const PERIOD_MS = 6 * 3_600_000;
const SWING = 0.08;

export class Prices {
  readonly #catalogue: Ec2Catalogue;
  readonly #seed: number;
  /** `type/zone` → factor, for tests and demonstrations. */
  readonly #overrides = new Map<string, number>();

  constructor(catalogue: Ec2Catalogue, seed: number) {
    this.#catalogue = catalogue;
    this.#seed = seed;
  }

  onDemand(instanceType: string): number | undefined {
    return this.#catalogue.onDemandPrice(instanceType);
  }

  spot(instanceType: string, zone: string, nowMs: number): number | undefined {
    const fixed = this.#overrides.get(`${instanceType}/${zone}`);
    const model = this.#catalogue.spotPrice(instanceType, zone);
    if (fixed !== undefined || model === undefined) return fixed;
    const period = Math.floor(nowMs / PERIOD_MS);
    const share = nowMs / PERIOD_MS - period;
    const level = (at: number) => noise(`${this.#seed}/${instanceType}/${zone}/${at}`);
    const swing = level(period) * (1 - share) + level(period + 1) * share;
    return Math.round(model * (1 + SWING * swing) * 1e6) / 1e6;
  }

  setSpot(instanceType: string, zone: string, priceUsdPerHour: number): void {
    this.#overrides.set(`${instanceType}/${zone}`, priceUsdPerHour);
  }

  /** What DescribeSpotPriceHistory says when it is asked from now on: the price of each pool. */
  history(nowMs: number): SpotPrice[] {
    const Timestamp = new Date(nowMs).toISOString();
    return this.#catalogue.types.flatMap(({ InstanceType, SupportedUsageClasses }) => {
      if (!SupportedUsageClasses?.includes("spot")) return [];
      return (this.#catalogue.zonesByType.get(InstanceType) ?? []).flatMap((AvailabilityZone) => {
        const price = this.spot(InstanceType, AvailabilityZone, nowMs);
        return price === undefined
          ? []
          : [{ InstanceType, AvailabilityZone, SpotPrice: price.toFixed(6), Timestamp, ProductDescription: "Linux/UNIX" }];
      });
    });
  }
}

/** From -1 to 1, by the text alone. */
function noise(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 31 - 1;
}
