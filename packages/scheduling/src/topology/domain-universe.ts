/** Which values of a label new nodes could have, and under which taints. Rules S-131, S-132. */
import type { Taint, Toleration } from "@joinery/api";
import type { Catalog } from "../catalog/catalog.ts";
import { remembered } from "../memo.ts";
import type { Requirement } from "../requirements/requirement.ts";
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

/** Values that the pool excludes are none of its domains, which Karpenter counts in (S-131). */
function valuesIn({ catalog, requirements }: DomainSource, key: string): ReadonlySet<string> {
  const ofPool = requirements.find(key);
  const values = new Set(ofPool?.listedValues);
  const add = (offered: Requirement) => {
    const both = ofPool?.intersect(offered) ?? offered;
    for (const value of both.listedValues ?? []) values.add(value);
  };
  for (const offered of catalog.findLabel(key)?.requirements ?? []) add(offered);
  return values;
}
