/**
 * Instance types prepared for solving: everything that depends on the list alone, computed once per list and kept as long as the
 * list lives. Rules S-52…S-56, V-60, V-61.
 */
import type { Resources } from "@joinery/api";
import type { InstanceType } from "../instance-type.ts";
import { remembered } from "../memo.ts";
import type { Requirements } from "../requirements/requirements.ts";
import { allocatableGroups } from "./allocatable.ts";
import { AmountColumn } from "./amount-column.ts";
import type { LabelIndex } from "./label-index.ts";
import { LabelTable } from "./label-table.ts";
import { type OfferedVariant, type OfferingKind, offeringKinds } from "./offering-kinds.ts";
import { addAll, addTo, emptySet, fullSet, type TypeSet } from "./type-set.ts";

/** Types by price under some set of offering kinds: cheapest first, ties by name (S-56). */
export interface PriceOrder {
  readonly types: Uint16Array;
  readonly prices: Float64Array;
}

/** Price orders that are kept per catalogue; more than a handful are alive only where many reservations are. */
const PRICE_ORDERS_MAX = 64;

/** Room columns that are kept per catalogue: up to 250 KB each with 1,400 types; a pool needs one per resource that pods ask for. */
const ROOM_COLUMNS_MAX = 32;

const compiled = new WeakMap<readonly InstanceType[], Catalog>();

/** The same object for the same list. */
export function compileCatalog(types: readonly InstanceType[]): Catalog {
  return remembered(compiled, types, () => new Catalog(types));
}

export class Catalog {
  readonly types: readonly InstanceType[];
  /** A variant is a type with one of its allocatable groups (S-53); without overrides there is one per type. */
  readonly variantCount: number;
  /** Variant → index into `types`. */
  readonly typeOfVariant: Uint16Array;
  readonly allocatable: readonly Resources[];
  /** Variants without a negative amount (S-49, S-64). */
  readonly sound: TypeSet;
  readonly kinds: readonly OfferingKind[];
  readonly #labels: LabelTable;
  readonly #values = new Map<string, readonly string[]>();
  readonly #capacityColumns = new Map<string, AmountColumn>();
  readonly #attachmentColumns = new Map<string, AmountColumn>();
  readonly #roomColumns = new Map<string, AmountColumn>();
  readonly #priceOrders = new Map<string, PriceOrder>();

  constructor(types: readonly InstanceType[]) {
    const allocatable: Resources[] = [];
    const offered: OfferedVariant[] = [];
    for (let index = 0; index < types.length; index++) {
      for (const group of allocatableGroups(types[index]!)) {
        allocatable.push(group.allocatable);
        offered.push({ offerings: group.offerings, index });
      }
    }
    this.types = types;
    this.variantCount = offered.length;
    this.typeOfVariant = Uint16Array.from(offered, ({ index }) => index);
    this.allocatable = allocatable;
    this.sound = emptySet(offered.length);
    for (let variant = 0; variant < offered.length; variant++) if (!hasNegative(allocatable[variant]!)) addTo(this.sound, variant);
    this.kinds = offeringKinds(offered, types.length);
    this.#labels = new LabelTable(types, this.typeOfVariant);
  }

  /** Is the label one that types or their offerings decide about? */
  knows(key: string): boolean {
    return this.#labels.has(key) || this.kinds.some(({ requirements }) => requirements.find(key) !== undefined);
  }

  findLabel(key: string): LabelIndex | undefined {
    return this.#labels.find(key);
  }

  /** Values of a label of which every node has one, because its offering or its type decides it; none where that is open. */
  valuesOf(key: string): readonly string[] {
    return remembered(this.#values, key, () => {
      const lists = this.kinds.map(({ requirements }) => requirements.find(key)?.listedValues);
      return lists.includes(undefined) ? (this.#labels.find(key)?.values ?? []) : [...new Set(lists.flatMap((values) => values!))];
    });
  }

  /** Indexes of the kinds that are leniently compatible; the keys of offerings are well known, so only shared keys decide (S-54). */
  kindsUnder(requirements: Requirements): readonly number[] {
    return this.kinds.flatMap((kind, index) => (requirements.intersects(kind.requirements) ? [index] : []));
  }

  /** Variants with an offering of one of these kinds. A new set. */
  offeringAny(kinds: readonly number[]): TypeSet {
    const set = emptySet(this.variantCount);
    for (const kind of kinds) addAll(set, this.kinds[kind]!.variants);
    return set;
  }

  /** Variants from which something can be launched through one of these kinds (V-60). A new set. */
  launchableAny(kinds: readonly number[]): TypeSet {
    const set = emptySet(this.variantCount);
    for (const kind of kinds) addAll(set, this.kinds[kind]!.launchable);
    return set;
  }

  /** How much of a resource the types have, for limits (S-161, S-162). */
  capacityColumn(resource: string): AmountColumn {
    const amountOf = (variant: number) => this.types[this.typeOfVariant[variant]!]!.capacity[resource] ?? 0;
    return remembered(this.#capacityColumns, resource, () => new AmountColumn(this.variantCount, fullSet(this.variantCount), amountOf));
  }

  /** How many volumes of a CSI driver the types can attach (V-70). */
  attachmentColumn(driver: string): AmountColumn {
    const limitOf = (variant: number) => this.types[this.typeOfVariant[variant]!]!.volumeLimits?.[driver] ?? Number.POSITIVE_INFINITY;
    return remembered(this.#attachmentColumns, driver, () => new AmountColumn(this.variantCount, fullSet(this.variantCount), limitOf));
  }

  /** Under a name of the caller's: what is left of a resource once DaemonSets have theirs, which few combinations of pools differ in. */
  roomColumn(name: string, make: () => AmountColumn): AmountColumn {
    if (this.#roomColumns.size >= ROOM_COLUMNS_MAX && !this.#roomColumns.has(name)) this.#roomColumns.clear();
    return remembered(this.#roomColumns, name, make);
  }

  priceOrder(kinds: readonly number[]): PriceOrder {
    const key = kinds.join();
    if (this.#priceOrders.size >= PRICE_ORDERS_MAX && !this.#priceOrders.has(key)) this.#priceOrders.clear();
    return remembered(this.#priceOrders, key, () =>
      orderByPrice(
        this.types,
        kinds.map((kind) => this.kinds[kind]!.prices),
      ),
    );
  }
}

function orderByPrice(types: readonly InstanceType[], kindPrices: readonly Float64Array[]): PriceOrder {
  const prices = new Float64Array(types.length).fill(Number.POSITIVE_INFINITY);
  for (const of of kindPrices) for (let type = 0; type < prices.length; type++) prices[type] = Math.min(prices[type]!, of[type]!);
  const byPrice = (a: number, b: number) =>
    prices[a] === prices[b] ? (types[a]!.name < types[b]!.name ? -1 : 1) : prices[a]! - prices[b]!;
  return { types: Uint16Array.from([...types.keys()].sort(byPrice)), prices };
}

function hasNegative(amounts: Resources): boolean {
  for (const name in amounts) if (amounts[name]! < 0) return true;
  return false;
}
