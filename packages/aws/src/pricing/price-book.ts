/** What instances cost: the built-in table first, then what AWS says. Rules I-901…I-911. */
import type { Clock } from "@joinery/kube";
import type { Ec2Catalogue } from "../catalogue/ec2-catalogue.ts";
import type { Ec2Port } from "../ec2/ec2-port.ts";
import { allPages } from "../ec2/pages.ts";

const SPOT_PRODUCTS = ["Linux/UNIX", "Linux/UNIX (Amazon VPC)"];
const SPOT_PAGE = 2000;

export interface PriceBookOptions {
  readonly ec2: Ec2Port;
  readonly clock: Clock;
  readonly region: string;
  /** Prices until AWS has been asked; those of us-east-1 where the region has none of its own. */
  readonly initial: Pick<Ec2Catalogue, "onDemandPrice">;
  /** I-909: the price list cannot be reached. */
  readonly isIsolatedVpc: boolean;
}

export class PriceBook {
  readonly #options: PriceBookOptions;
  readonly #onDemand = new Map<string, number>();
  readonly #spot = new Map<string, Map<string, number>>();
  #version = 0;

  constructor(options: PriceBookOptions) {
    this.#options = options;
  }

  /** Changes when a price may have changed. */
  get version(): number {
    return this.#version;
  }

  onDemandPrice(instanceType: string): number | undefined {
    return this.#onDemand.get(instanceType) ?? this.#options.initial.onDemandPrice(instanceType);
  }

  /** I-903: until the first answer every zone costs what on demand costs; afterwards a zone without a price has none. */
  spotPrice(instanceType: string, zone: string): number | undefined {
    return this.#spot.size === 0 ? this.onDemandPrice(instanceType) : this.#spot.get(instanceType)?.get(zone);
  }

  /** I-904: both questions in parallel; what failed keeps its old prices and is told. */
  async refresh(signal?: AbortSignal): Promise<void> {
    const results = await Promise.allSettled([this.#refreshOnDemand(signal), this.#refreshSpot(signal)]);
    const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    if (errors.length > 0) throw new AggregateError(errors, `refreshing prices: ${errors.map(String).join("; ")}`);
  }

  async #refreshOnDemand(signal: AbortSignal | undefined): Promise<void> {
    const { ec2, region, isIsolatedVpc } = this.#options;
    if (isIsolatedVpc || region.startsWith("us-gov")) return;
    const { prices } = await ec2.getOnDemandPrices({ regionCode: region }, signal);
    if (prices.length === 0) throw new Error("the price list is empty");
    let hasChanged = false;
    for (const { instanceType, pricePerHour } of prices) {
      if (!(pricePerHour > 0) || this.onDemandPrice(instanceType) === pricePerHour) continue;
      this.#onDemand.set(instanceType, pricePerHour);
      hasChanged = true;
    }
    if (hasChanged) this.#version++;
  }

  async #refreshSpot(signal: AbortSignal | undefined): Promise<void> {
    const { ec2, clock } = this.#options;
    const query = { ProductDescriptions: SPOT_PRODUCTS, StartTime: new Date(clock.wallMs()).toISOString(), MaxResults: SPOT_PAGE };
    const records = await allPages(
      (token) => ec2.describeSpotPriceHistory({ ...query, ...token }, signal),
      ({ SpotPriceHistory }) => SpotPriceHistory,
    );
    const usable = records.filter(({ SpotPrice, Timestamp }) => Timestamp !== "" && Number(SpotPrice) > 0);
    if (usable.length === 0) throw new Error("no spot prices were found");
    for (const { InstanceType, AvailabilityZone, SpotPrice } of usable) {
      const zones = this.#spot.get(InstanceType) ?? new Map<string, number>();
      this.#spot.set(InstanceType, zones.set(AvailabilityZone, Number(SpotPrice)));
    }
    this.#version++;
  }
}
