/** Which values of a label new nodes could have, and under which taints. Rules S-131, S-132. */
import type { Taint, Toleration } from "@joinery/api";
import type { Catalog } from "../catalog/catalog.ts";
import { intersection, isEmpty } from "../catalog/type-set.ts";
import { remembered } from "../memo.ts";
import { Requirement } from "../requirements/requirement.ts";
import type { Requirements } from "../requirements/requirements.ts";
import { keepingAway } from "../taints.ts";

/** What a NodePool gives to the universe, whether or not it can grow. */
export interface DomainSource {
  readonly catalog: Catalog;
  readonly requirements: Requirements;
  readonly taints: readonly Taint[];
}

export class DomainUniverse {
  readonly #sources: readonly DomainSource[];
  /** By key, then by value: the taints of each pool that offers it. */
  readonly #byKey = new Map<string, ReadonlyMap<string, readonly (readonly Taint[])[]>>();

  constructor(sources: readonly DomainSource[]) {
    this.#sources = sources;
  }

  /** Sorted. With tolerations, only what some pool offers to a pod that has them. */
  domainsOf(key: string, tolerations?: readonly Toleration[]): readonly string[] {
    const offers = remembered(this.#byKey, key, () => this.#offersOf(key));
    const domains =
      tolerations === undefined
        ? [...offers.keys()]
        : [...offers].filter(([, taints]) => isOpen(taints, tolerations)).map(([value]) => value);
    return domains.sort();
  }

  #offersOf(key: string): ReadonlyMap<string, readonly (readonly Taint[])[]> {
    const offers = new Map<string, (readonly Taint[])[]>();
    for (const source of this.#sources) {
      for (const value of valuesIn(source, key)) remembered(offers, value, () => []).push(source.taints);
    }
    return offers;
  }
}

function isOpen(offers: readonly (readonly Taint[])[], tolerations: readonly Toleration[]): boolean {
  return offers.some((taints) => keepingAway(taints, tolerations).length === 0);
}

/**
 * Values that the pool lists, and those in which its types are offered now. Karpenter also counts in what it excludes, and where its types
 * could be but are not offered (S-131); kube-scheduler knows a domain only where a node is, so none of these holds a spread back.
 */
function valuesIn({ catalog, requirements }: DomainSource, key: string): ReadonlySet<string> {
  const ofPool = requirements.find(key);
  const values = new Set(ofPool?.listedValues);
  for (const ofType of catalog.findLabel(key)?.requirements ?? []) {
    for (const value of (ofPool?.intersect(ofType) ?? ofType).listedValues ?? []) {
      if (!values.has(value) && isOffered(catalog, requirements.and([Requirement.in(key, value)]))) values.add(value);
    }
  }
  return values;
}

/** Whether the pool may still grow is not asked. */
function isOffered(catalog: Catalog, requirements: Requirements): boolean {
  let variants = intersection(catalog.sound, catalog.offeringAny(catalog.kindsUnder(requirements)));
  for (const requirement of requirements) {
    const label = catalog.findLabel(requirement.key);
    if (label !== undefined) variants = intersection(variants, label.compatibleWith(requirement));
  }
  return !isEmpty(variants);
}
