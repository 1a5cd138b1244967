/** Offerings by what they require: a few kinds for thousands of offerings. Rules S-53, V-60, V-61. */
import type { Offering, RequirementItem } from "../instance-type.ts";
import { remembered } from "../memo.ts";
import { Requirements } from "../requirements/requirements.ts";
import { isLaunchable } from "./allocatable.ts";
import { itemText, singleValue } from "./label-table.ts";
import { addTo, emptySet, type TypeSet } from "./type-set.ts";

/** Offerings that differ in price and type alone, e.g. all spot offerings of one zone. */
export interface OfferingKind {
  readonly requirements: Requirements;
  readonly zone: string;
  readonly capacityType: string;
  /** Variants that have an available offering of this kind, be it a full reservation (V-60). */
  readonly variants: TypeSet;
  /** Those whose offering can be launched. */
  readonly launchable: TypeSet;
  /** Per type, USD per hour; +∞ where the type has none that can be launched (V-61). */
  readonly prices: Float64Array;
}

/** One per variant: its offerings and the type that it is a variant of. */
export interface OfferedVariant {
  readonly offerings: readonly Offering[];
  readonly index: number;
}

export function offeringKinds(variants: readonly OfferedVariant[], typeCount: number): readonly OfferingKind[] {
  const table = new KindTable(variants.length, typeCount);
  for (let variant = 0; variant < variants.length; variant++) {
    const { offerings, index } = variants[variant]!;
    for (const offering of offerings) {
      const kind = table.of(offering.requirements);
      addTo(kind.variants, variant);
      if (kind.capacityType === "reserved" && !isLaunchable(offering)) continue;
      addTo(kind.launchable, variant);
      if (offering.priceUsdPerHour < kind.prices[index]!) kind.prices[index] = offering.priceUsdPerHour;
    }
  }
  return table.list;
}

interface Branch {
  kind: OfferingKind | undefined;
  readonly next: Map<number, Branch>;
}

/**
 * Kinds by the numbers of their items: a path of numbers costs less than a text, and less than asking whether a list has been seen, for
 * which each of thousands of lists would get a hash.
 */
class KindTable {
  readonly list: OfferingKind[] = [];
  readonly #variantCount: number;
  readonly #typeCount: number;
  readonly #root: Branch = { kind: undefined, next: new Map() };
  readonly #byValue = new Map<string, Map<string, number>>();
  readonly #byText = new Map<string, number>();
  #items = 0;

  constructor(variantCount: number, typeCount: number) {
    this.#variantCount = variantCount;
    this.#typeCount = typeCount;
  }

  of(items: Offering["requirements"]): OfferingKind {
    let branch = this.#root;
    for (let index = 0; index < items.length; index++) {
      const number = this.#numberOf(items[index]!);
      let next = branch.next.get(number);
      if (next === undefined) {
        next = { kind: undefined, next: new Map() };
        branch.next.set(number, next);
      }
      branch = next;
    }
    branch.kind ??= this.#add(items);
    return branch.kind;
  }

  #numberOf(item: RequirementItem): number {
    const value = singleValue(item);
    if (value === undefined) return remembered(this.#byText, itemText(item), () => this.#items++);
    let byValue = this.#byValue.get(item.key);
    if (byValue === undefined) {
      byValue = new Map();
      this.#byValue.set(item.key, byValue);
    }
    let number = byValue.get(value);
    if (number === undefined) {
      number = this.#items++;
      byValue.set(value, number);
    }
    return number;
  }

  #add(items: Offering["requirements"]): OfferingKind {
    const requirements = Requirements.fromItems(items);
    const kind = {
      requirements,
      zone: requirements.find("topology.kubernetes.io/zone")?.values[0] ?? "",
      capacityType: requirements.find("karpenter.sh/capacity-type")?.values[0] ?? "",
      variants: emptySet(this.#variantCount),
      launchable: emptySet(this.#variantCount),
      prices: new Float64Array(this.#typeCount).fill(Number.POSITIVE_INFINITY),
    };
    this.list.push(kind);
    return kind;
  }
}
