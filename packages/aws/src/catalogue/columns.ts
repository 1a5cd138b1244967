/**
 * The catalogue file: one row per instance type, one column per field of `InstanceTypeInfo`. A column is the list of its distinct
 * values and, per row, the number of one of them, so that 1,400 types take little more room than their differences.
 */
import type { InstanceTypeInfo } from "../ec2/instance-type-info.ts";

/** Paths inside `InstanceTypeInfo`. A path that ends at a list takes the list as one value. */
export const INFO_PATHS = [
  "SupportedUsageClasses",
  "SupportedVirtualizationTypes",
  "BareMetal",
  "Hypervisor",
  "NitroEnclavesSupport",
  "ProcessorInfo.SupportedArchitectures",
  "ProcessorInfo.Manufacturer",
  "ProcessorInfo.SustainedClockSpeedInGhz",
  "ProcessorInfo.SupportedFeatures",
  "VCpuInfo.DefaultVCpus",
  "MemoryInfo.SizeInMiB",
  "InstanceStorageInfo.TotalSizeInGB",
  "InstanceStorageInfo.NvmeSupport",
  "EbsInfo.EbsOptimizedSupport",
  "EbsInfo.EbsOptimizedInfo.MaximumBandwidthInMbps",
  "EbsInfo.MaximumEbsAttachments",
  "EbsInfo.AttachmentLimitType",
  "NetworkInfo.DefaultNetworkCardIndex",
  "NetworkInfo.NetworkCards",
  "NetworkInfo.Ipv4AddressesPerInterface",
  "NetworkInfo.EnaSupport",
  "NetworkInfo.EncryptionInTransitSupported",
  "NetworkInfo.EfaInfo.MaximumEfaInterfaces",
  "GpuInfo.Gpus",
  "InferenceAcceleratorInfo.Accelerators",
  "NeuronInfo.NeuronDevices",
  "PlacementGroupInfo.SupportedStrategies",
] as const;

interface Column {
  /** Distinct values, the most frequent first; null stands for "EC2 does not say". */
  readonly values: readonly unknown[];
  /** Per row the index into `values`; rows at the end that would be 0 may be missing. */
  readonly rows: readonly number[];
}

/** Where a part of the file comes from, and as of when. */
export interface Source {
  readonly source: string;
  readonly asOf: string;
  /** Set where the figures are a model and no observation. */
  readonly isEstimated?: true;
}

export interface CatalogueFile {
  readonly format: "joinery-ec2-catalogue/1";
  readonly region: string;
  readonly currency: "USD";
  readonly instanceTypes: Source;
  readonly offerings: Source;
  readonly onDemandPrices: Source & { readonly withoutPrice: readonly string[] };
  readonly spotPrices: Source & { readonly model: string };
  readonly networkBandwidth: Source;
  readonly branchInterfaces: Source;
  readonly zones: readonly { readonly name: string; readonly id: string }[];
  readonly names: readonly string[];
  /** Per row a bit per zone, the first zone lowest. */
  readonly zoneBits: readonly number[];
  /** Per row USD per hour; null where no price is known. */
  readonly onDemand: readonly (number | null)[];
  /** Per row Mbit/s; null where nothing is published. */
  readonly networkMbps: readonly (number | null)[];
  /** Per row; null where the type is not in the table. */
  readonly branchInterfaceCounts: readonly (number | null)[];
  readonly info: Readonly<Record<(typeof INFO_PATHS)[number], Column>>;
}

/** Rows → columns. The inverse of `decodeInfo`. */
export function encodeInfo(rows: readonly InstanceTypeInfo[]): CatalogueFile["info"] {
  const columns = INFO_PATHS.map((path) => [path, encodeColumn(rows.map((row) => valueAt(row, path.split("."))))] as const);
  return Object.fromEntries(columns) as Record<(typeof INFO_PATHS)[number], Column>;
}

/** Columns → rows. Values that many types share are one object. */
export function decodeInfo(names: readonly string[], info: CatalogueFile["info"]): InstanceTypeInfo[] {
  const columns = INFO_PATHS.map((path) => ({ path: path.split("."), ...info[path] }));
  return names.map((name, row) => {
    const target: Record<string, unknown> = { InstanceType: name };
    for (const { path, values, rows } of columns) {
      const value = values[rows[row] ?? 0];
      if (value !== null && value !== undefined) setAt(target, path, value);
    }
    return target as unknown as InstanceTypeInfo;
  });
}

function encodeColumn(cells: readonly unknown[]): Column {
  const counts = new Map<string, number>();
  const texts = cells.map((cell) => JSON.stringify(cell ?? null));
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const distinct = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([text]) => text);
  const indexOf = new Map(distinct.map((text, index) => [text, index]));
  const rows = texts.map((text) => indexOf.get(text) ?? 0);
  return { values: distinct.map((text) => JSON.parse(text) as unknown), rows: rows.slice(0, rows.findLastIndex((index) => index > 0) + 1) };
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, step) => (typeof at === "object" && at !== null ? (at as Record<string, unknown>)[step] : undefined),
    value,
  );
}

function setAt(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let at = target;
  for (const step of path.slice(0, -1)) {
    const next = at[step] ?? {};
    at[step] = next;
    at = next as Record<string, unknown>;
  }
  at[path.at(-1) ?? ""] = value;
}
