/** Instance types per node class: what EC2 sells, resolved once and handed out again while nothing has changed. Rules I-101…I-106, I-201…I-206, I-801…I-809. */
import type { Ec2NodeClass, Ec2NodeClassSpec } from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { InstanceType } from "@joinery/scheduling";
import type { StaticTables, Zone } from "../catalogue/ec2-catalogue.ts";
import type { Ec2Port } from "../ec2/ec2-port.ts";
import type { InstanceTypeInfo } from "../ec2/instance-type-info.ts";
import { allPages } from "../ec2/pages.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import type { MachineSettings } from "./capacity.ts";
import { type ClassSettings, classSettings } from "./class-settings.ts";
import { type CompatibilitySettings, isUsable } from "./compatibility.ts";
import { offeringsOf, type PlainType, resolveType } from "./instance-types.ts";
import { ItemPool } from "./item-pool.ts";
import { readKubelet } from "./kubelet-settings.ts";
import type { UnavailableOfferings } from "./unavailable-offerings.ts";

export interface TypeProviderOptions {
  readonly ec2: Ec2Port;
  readonly clock: Clock;
  readonly region: string;
  readonly tables: StaticTables;
  readonly prices: PriceBook;
  readonly unavailable: UnavailableOfferings;
  readonly vmMemoryOverheadPercent: number;
  readonly reservedEnis: number;
}

/** What EC2 answered, replaced as a whole (I-103). */
interface Discovery {
  readonly infos: readonly InstanceTypeInfo[];
  readonly zonesByType: ReadonlyMap<string, readonly string[]>;
  readonly allZones: readonly string[];
  /** For I-105: equal digest, equal answer. */
  readonly digest: string;
}

/** The node class, reduced to what types depend on. Equal views share everything. */
interface View {
  readonly zones: readonly Zone[];
  readonly subnetsByZone: ReadonlyMap<string, readonly string[]>;
  readonly settings: MachineSettings & CompatibilitySettings;
}

interface Entry {
  readonly discovery: Discovery;
  readonly view: View;
  readonly plain: ReadonlyMap<string, PlainType>;
  priceVersion: number;
  unavailableVersion: number;
  typeVersions: ReadonlyMap<string, number>;
  types: readonly InstanceType[];
  byName: ReadonlyMap<string, InstanceType>;
}

const FILTERS = [
  { Name: "supported-virtualization-type", Values: ["hvm"] },
  { Name: "processor-info.supported-architecture", Values: ["x86_64", "arm64"] },
];
export class NoInstanceTypesError extends Error {
  override readonly name = "NoInstanceTypesError";
}

export class TypeProvider {
  readonly #options: TypeProviderOptions;
  readonly #entries = new Map<string, Entry>();
  /** Node class → its entry: entries that no node class has any more are dropped. */
  readonly #keys = new Map<string, string>();
  readonly #pool = new ItemPool();
  #discovery: Discovery | undefined;
  #first: Promise<void> | undefined;

  constructor(options: TypeProviderOptions) {
    this.#options = options;
  }

  /** I-104: asks EC2 for types and offerings in parallel. What failed leaves the old answers. */
  async refresh(signal?: AbortSignal): Promise<void> {
    const { ec2 } = this.#options;
    const [infos, offerings] = await Promise.all([
      allPages(
        (token) => ec2.describeInstanceTypes({ Filters: FILTERS, MaxResults: 100, ...token }, signal),
        ({ InstanceTypes }) => InstanceTypes,
      ),
      allPages(
        (token) => ec2.describeInstanceTypeOfferings({ LocationType: "availability-zone", MaxResults: 1000, ...token }, signal),
        ({ InstanceTypeOfferings }) => InstanceTypeOfferings,
      ),
    ]);
    const digest = digestOf([...infos, ...offerings]);
    if (digest === this.#discovery?.digest) return;
    const zonesByType = new Map<string, string[]>();
    for (const { InstanceType, Location } of offerings) zonesByType.set(InstanceType, [...(zonesByType.get(InstanceType) ?? []), Location]);
    const allZones = [...new Set(offerings.map(({ Location }) => Location))].sort();
    this.#discovery = { infos, zonesByType, allZones, digest };
    this.#entries.clear();
  }

  /**
   * Every known type, available or not. The same array while nothing has changed; of a changed answer the same objects for the types
   * that have not changed. Throws `NoInstanceTypesError` where there is nothing to list (I-201).
   */
  async list(nodeClass: Ec2NodeClass, signal?: AbortSignal): Promise<readonly InstanceType[]> {
    return (await this.#upToDate(nodeClass, signal)).types;
  }

  /** I-204. */
  async find(nodeClass: Ec2NodeClass, name: string, signal?: AbortSignal): Promise<InstanceType | undefined> {
    return (await this.#upToDate(nodeClass, signal)).byName.get(name);
  }

  async #upToDate(nodeClass: Ec2NodeClass, signal: AbortSignal | undefined): Promise<Entry> {
    await this.#discovered(signal);
    const discovery = this.#discovery;
    if (discovery === undefined || discovery.infos.length === 0) throw new NoInstanceTypesError("no instance types found");
    if (discovery.zonesByType.size === 0) throw new NoInstanceTypesError("no instance type offerings found");
    const view = this.#viewOf(nodeClass);
    if (view.zones.length === 0) throw new NoInstanceTypesError("no subnets found");
    const entry = this.#entryOf(discovery, view, nodeClass.metadata?.name ?? "");
    this.#bringUpToDate(entry);
    return entry;
  }

  /** Shared by everyone who comes before the first answer; a failure is not kept. */
  #discovered(signal: AbortSignal | undefined): Promise<void> {
    if (this.#discovery !== undefined) return Promise.resolve();
    this.#first ??= this.refresh(signal).finally(() => {
      this.#first = undefined;
    });
    return this.#first;
  }

  #viewOf({ spec, status }: Ec2NodeClass): View {
    const zones = new Map<string, Zone>();
    const subnetsByZone = new Map<string, string[]>();
    for (const { id, zone, zoneID = "" } of status?.subnets ?? []) {
      zones.set(`${zone}/${zoneID}`, { name: zone, id: zoneID });
      subnetsByZone.set(zone, [...(subnetsByZone.get(zone) ?? []), id]);
    }
    // The status lists subnets by what is free in them, which changes often and bears on no type.
    for (const ids of subnetsByZone.values()) ids.sort();
    const sorted = [...zones.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, zone]) => zone);
    const { vmMemoryOverheadPercent, reservedEnis } = this.#options;
    return { zones: sorted, subnetsByZone, settings: { ...settingsOf(spec), vmMemoryOverheadPercent, reservedEnis } };
  }

  #entryOf(discovery: Discovery, view: View, nodeClassName: string): Entry {
    const key = JSON.stringify([view.zones, [...view.subnetsByZone].sort(), { ...view.settings, family: view.settings.family.name }]);
    this.#keys.set(nodeClassName, key);
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const held = new Set(this.#keys.values());
    for (const other of this.#entries.keys()) if (!held.has(other)) this.#entries.delete(other);
    const context = {
      region: this.#options.region,
      zones: view.zones,
      settings: view.settings,
      tables: this.#options.tables,
      pool: this.#pool,
    };
    const plain = new Map(
      discovery.infos.map((info) => [info.InstanceType, resolveType(info, discovery.zonesByType.get(info.InstanceType) ?? [], context)]),
    );
    const entry: Entry = {
      discovery,
      view,
      plain,
      priceVersion: -1,
      unavailableVersion: -1,
      typeVersions: new Map(),
      types: [],
      byName: new Map(),
    };
    this.#entries.set(key, entry);
    return entry;
  }

  #bringUpToDate(entry: Entry): void {
    const { prices, unavailable } = this.#options;
    const hasNewPrices = entry.priceVersion !== prices.version;
    if (!hasNewPrices && entry.unavailableVersion === unavailable.version) return;
    const before = entry.byName;
    entry.types = entry.discovery.infos.map((info) => {
      const kept = before.get(info.InstanceType);
      const isSame = !hasNewPrices && entry.typeVersions.get(info.InstanceType) === unavailable.versionOf(info.InstanceType);
      return kept !== undefined && isSame ? kept : this.#withOfferings(entry, info);
    });
    entry.byName = new Map(entry.types.map((type) => [type.name, type]));
    entry.typeVersions = new Map(entry.discovery.infos.map(({ InstanceType }) => [InstanceType, unavailable.versionOf(InstanceType)]));
    entry.priceVersion = prices.version;
    entry.unavailableVersion = unavailable.version;
  }

  #withOfferings({ discovery, view, plain }: Entry, info: InstanceTypeInfo): InstanceType {
    const { prices, unavailable } = this.#options;
    const name = info.InstanceType;
    const type = plain.get(name);
    if (type === undefined) throw new Error(`Cannot offer ${name}: it is not resolved`);
    const offered = discovery.zonesByType.get(name) ?? [];
    const usable = isUsable(info, view.settings);
    const zones = discovery.allZones.map((zone) => view.zones.find((own) => own.name === zone) ?? { name: zone, id: "" });
    const offerings = offeringsOf(info, zones, this.#pool, (capacityType, zone) => {
      const subnets = view.subnetsByZone.get(zone.name);
      return {
        priceUsdPerHour: capacityType === "spot" ? prices.spotPrice(name, zone.name) : prices.onDemandPrice(name),
        isAvailable:
          usable && subnets !== undefined && offered.includes(zone.name) && !unavailable.has(capacityType, name, zone.name, subnets),
      };
    });
    return { ...type, offerings };
  }
}

function settingsOf(spec: Ec2NodeClassSpec | undefined): ClassSettings {
  const kubelet = readKubelet(spec?.kubelet);
  if (kubelet.kind === "invalid") throw new NoInstanceTypesError(kubelet.message);
  return classSettings(spec, kubelet.settings);
}

/** Two independent 32-bit hashes of the items' JSON: enough to see whether two answers are the same. */
function digestOf(items: readonly unknown[]): string {
  let a = 0x811c9dc5;
  let b = 5381;
  for (const item of items) {
    const text = JSON.stringify(item);
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      a = Math.imul(a ^ unit, 0x01000193);
      b = (Math.imul(b, 33) + unit) | 0;
    }
  }
  return `${items.length}/${a}/${b}`;
}
