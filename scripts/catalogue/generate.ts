/**
 * Makes packages/aws/src/catalogue/ec2-<region>.generated.ts from AWS's own APIs: DescribeInstanceTypes,
 * DescribeInstanceTypeOfferings, DescribeAvailabilityZones and the price list.
 *
 *   node scripts/catalogue/generate.ts --as-of 2026-12-01 [--region us-east-1] [--endpoint URL] [--source TEXT]
 *     [--prices api|current|FILE] [--bandwidth current|FILE] [--branch-interfaces current|FILE] [--out FILE]
 *
 * Baseline bandwidth and branch interfaces are told by no API: they stay as they are (`current`), or come from a file in the form
 * `{ "asOf": …, "mbps" or "branchInterfaces": { "<type>": number } }`. Prices too can be kept, or come from a file with `onDemand`,
 * where the price list cannot be reached. Credentials and endpoints are found as in every AWS tool.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type CatalogueFile, encodeInfo, INFO_PATHS } from "../../packages/aws/src/catalogue/columns.ts";
import { fetchEc2Facts } from "../../packages/aws/src/sdk/ec2-facts.ts";
import { fetchOnDemandPrices } from "../../packages/aws/src/sdk/price-list.ts";
import { currentFigures, type Figures, readFigures } from "./figures.ts";

const { values: flags } = parseArgs({
  options: {
    "as-of": { type: "string" },
    region: { type: "string", default: "us-east-1" },
    endpoint: { type: "string" },
    source: { type: "string" },
    prices: { type: "string", default: "api" },
    bandwidth: { type: "string", default: "current" },
    "branch-interfaces": { type: "string", default: "current" },
    out: { type: "string" },
  },
});
const { region, endpoint } = flags;
const asOf = flags["as-of"];
if (asOf === undefined) throw new Error("--as-of DATE is needed: the day on which AWS is asked");
const committed = fileURLToPath(new URL(`../../packages/aws/src/catalogue/ec2-${region}.generated.ts`, import.meta.url));

const { types, zones, zonesByType } = await fetchEc2Facts({ region, endpoint });
const prices = await onDemandPrices();
const bandwidth = figures(flags.bandwidth, "networkMbps", "mbps");
const branches = figures(flags["branch-interfaces"], "branchInterfaceCounts", "branchInterfaces");
const names = types.map(({ InstanceType }) => InstanceType);
const api = flags.source ?? `AWS, ${region}`;
const file: CatalogueFile = {
  format: "joinery-ec2-catalogue/1",
  region,
  currency: "USD",
  instanceTypes: { source: `DescribeInstanceTypes (${api})`, asOf },
  offerings: { source: `DescribeInstanceTypeOfferings (${api})`, asOf },
  onDemandPrices: {
    source: "AWS price list: Linux, shared tenancy, on demand; bare metal dedicated",
    asOf: prices.asOf,
    withoutPrice: names.filter((name) => !prices.byType.has(name)),
  },
  spotPrices: {
    source: "modelled, not observed",
    asOf: prices.asOf,
    isEstimated: true,
    model: "a share of the on-demand price by category, generation, zone and size; packages/aws/src/catalogue/spot-model.ts",
  },
  networkBandwidth: { source: "AWS documentation, network specifications of instance types, baseline", asOf: bandwidth.asOf },
  branchInterfaces: { source: "AWS VPC resource controller, limits of trunking instance types", asOf: branches.asOf },
  zones,
  names,
  zoneBits: names.map((name) => zones.reduce((bits, zone, index) => bits | (zonesByType.get(name)?.has(zone.name) ? 1 << index : 0), 0)),
  onDemand: names.map((name) => prices.byType.get(name) ?? null),
  networkMbps: names.map((name) => bandwidth.byType.get(name) ?? null),
  branchInterfaceCounts: names.map((name) => branches.byType.get(name) ?? null),
  info: encodeInfo(types),
};
const out = flags.out ?? committed;
writeFileSync(out, moduleText(file));
console.log(`${out}: ${names.length} types, ${zones.length} zones, ${file.onDemandPrices.withoutPrice.length} types without a price`);

async function onDemandPrices(): Promise<Figures> {
  if (flags.prices === "api") return { asOf: asOf ?? "", byType: await fetchOnDemandPrices({ region, endpoint }) };
  return figures(flags.prices, "onDemand", "onDemand");
}

function figures(from: string, column: Parameters<typeof currentFigures>[1], field: string): Figures {
  return from === "current" ? currentFigures(readCommitted(), column) : readFigures(from, field);
}

function readCommitted(): CatalogueFile {
  if (!existsSync(committed)) throw new Error(`${region} has no catalogue yet, so nothing of it can be kept: give files`);
  const text = readFileSync(committed, "utf8");
  return JSON.parse(text.slice(text.indexOf("`") + 1, text.lastIndexOf("`"))) as CatalogueFile;
}

/** One line per column, so that a change of one fact is a change of one line. */
function moduleText({ info, ...head }: CatalogueFile): string {
  const lines = Object.entries(head).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  const columns = INFO_PATHS.map((path) => `${JSON.stringify(path)}: ${JSON.stringify(info[path])}`);
  const json = `{\n${lines.join(",\n")},\n"info": {\n${columns.join(",\n")}\n}\n}`;
  if (/[`\\]|\$\{/.test(json)) throw new Error("the catalogue has a character that the module's text cannot hold");
  return `/** EC2 in ${region} as JSON text, parsed on first use. Sources and dates: its first lines. Made by scripts/catalogue/generate.ts. */\nexport const text: string = \`${json}\`;\n`;
}
