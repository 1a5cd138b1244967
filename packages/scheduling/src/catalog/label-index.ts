/** For one label key: which variants go with a requirement on it. Rule S-55 through S-41. */
import { Requirement } from "../requirements/requirement.ts";
import { areCompatible } from "../requirements/requirements.ts";
import { addTo, isEmpty, isIn, type TypeSet } from "./type-set.ts";

interface Group {
  readonly requirement: Requirement;
  readonly variants: readonly number[];
}

export class LabelIndex {
  /** Variants that do not define the key: nothing on it can exclude them. */
  readonly #undefinedOn: TypeSet;
  readonly #groups: readonly Group[];
  readonly #byValue: ReadonlyMap<string, readonly number[]>;

  constructor(undefinedOn: TypeSet, groups: readonly Group[]) {
    this.#undefinedOn = undefinedOn;
    this.#groups = groups;
    const byValue = new Map<string, number[]>();
    for (const { requirement, variants } of groups) {
      for (const value of requirement.listedValues ?? []) {
        const listed = byValue.get(value);
        if (listed === undefined) byValue.set(value, [...variants]);
        else listed.push(...variants);
      }
    }
    this.#byValue = byValue;
  }

  /**
   * A new set. Listed requirements cost their own values and the words of the set; only open ones look at every group, so that a
   * thousand pods that name a thousand types stay cheap.
   */
  compatibleWith(requirement: Requirement): TypeSet {
    const set = this.#undefinedOn.slice();
    for (const group of this.#groups) {
      const isListed = group.requirement.listedValues !== undefined && group.requirement.values.length > 0;
      if (isListed && requirement.listedValues !== undefined) continue;
      if (areCompatible(group.requirement, requirement)) addEach(set, group.variants);
    }
    for (const value of requirement.listedValues ?? []) addEach(set, this.#byValue.get(value) ?? []);
    return set;
  }

  /** Each different requirement that some variant has on the key. */
  get requirements(): readonly Requirement[] {
    return this.#groups.map(({ requirement }) => requirement);
  }

  /** Values of which each variant has one; none where some variant leaves open what it has, or lacks the label. */
  get values(): readonly string[] {
    const isOpen = ({ requirement: { listedValues = [] } }: Group) => listedValues.length === 0;
    return isEmpty(this.#undefinedOn) && !this.#groups.some(isOpen) ? [...this.#byValue.keys()] : [];
  }

  /**
   * How many values that `allowed` allows some variant of the set has, counted up to `most` (V-74). An open requirement of a type
   * counts for nothing.
   */
  countValues(set: TypeSet, allowed: Requirement | undefined, most: number): number {
    let count = 0;
    for (const [value, variants] of this.#byValue) {
      if (count >= most) break;
      if ((allowed?.has(value) ?? true) && variants.some((variant) => isIn(set, variant))) count++;
    }
    return count;
  }

  /** Everything that the given variants offer for the key, as one requirement; for messages. */
  offeredBy(isMember: (variant: number) => boolean, key: string): Requirement {
    const offered = this.#groups.filter(({ variants }) => variants.some(isMember));
    return Requirement.in(key, ...offered.flatMap(({ requirement }) => requirement.listedValues ?? []));
  }
}

function addEach(set: TypeSet, variants: readonly number[]): void {
  for (const variant of variants) addTo(set, variant);
}
