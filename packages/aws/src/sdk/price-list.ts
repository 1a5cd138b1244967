/** On-demand prices from AWS's price list. Rules I-905…I-908. */
import { PricingClient, paginateGetProducts } from "@aws-sdk/client-pricing";

const COMMON = {
  serviceCode: "AmazonEC2",
  preInstalledSw: "NA",
  operatingSystem: "Linux",
  capacitystatus: "Used",
  marketoption: "OnDemand",
};
const VARIANTS = [
  { tenancy: "Shared", productFamily: "Compute Instance" },
  { tenancy: "Dedicated", productFamily: "Compute Instance (bare metal)" },
];

export interface PriceListOptions {
  readonly region: string;
  readonly endpoint?: string | undefined;
}

/** Instance type → USD per hour; bare metal last. Throws when a variant has no answer at all (I-906). */
export async function fetchOnDemandPrices({ region, endpoint }: PriceListOptions): Promise<Map<string, number>> {
  const client = new PricingClient({ region: endpointRegion(region), ...(endpoint === undefined ? {} : { endpoint }) });
  const prices = new Map<string, number>();
  for (const variant of VARIANTS) {
    const fields = Object.entries({ regionCode: region, ...COMMON, ...variant });
    const Filters = fields.map(([Field, Value]) => ({ Type: "TERM_MATCH" as const, Field, Value }));
    const before = prices.size;
    for await (const page of paginateGetProducts({ client, pageSize: 100 }, { ServiceCode: "AmazonEC2", Filters })) {
      for (const item of page.PriceList ?? []) {
        const price = readItem(String(item));
        if (price !== undefined) prices.set(price.instanceType, price.pricePerHour);
      }
    }
    if (prices.size === before) throw new Error(`the price list has no ${variant.productFamily} in ${region}`);
  }
  return prices;
}

interface PriceItem {
  readonly product?: { readonly attributes?: { readonly instanceType?: string } };
  readonly terms?: {
    readonly OnDemand?: Readonly<
      Record<string, { readonly priceDimensions?: Readonly<Record<string, { readonly pricePerUnit?: { readonly USD?: string } }>> }>
    >;
  };
}

/** I-907: malformed items and prices of 0 are skipped. */
function readItem(text: string): { readonly instanceType: string; readonly pricePerHour: number } | undefined {
  const item = JSON.parse(text) as PriceItem;
  const instanceType = item.product?.attributes?.instanceType;
  const dimensions = Object.values(item.terms?.OnDemand ?? {}).flatMap((term) => Object.values(term.priceDimensions ?? {}));
  const pricePerHour = dimensions.map(({ pricePerUnit }) => Number(pricePerUnit?.USD)).findLast((price) => price > 0);
  return instanceType === undefined || pricePerHour === undefined ? undefined : { instanceType, pricePerHour };
}

/** I-908: the price list is served from few regions. */
function endpointRegion(region: string): string {
  if (region.startsWith("ap-")) return "ap-south-1";
  if (region.startsWith("cn-")) return "cn-northwest-1";
  return region.startsWith("eu-") ? "eu-central-1" : "us-east-1";
}
