/**
 * What a claim's label requirements have become, and which instance types go with them. Immutable and shared: claims whose pods
 * narrowed them alike stand in one state, so each narrowing is computed once however many claims and pods take it; trying one costs
 * nothing to take back. Rules S-54, S-55, S-94.
 */
import { CAPACITY_TYPE_LABEL, type Taint, type Toleration } from "@joinery/api";
import type { AmountColumn } from "../catalog/amount-column.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { intersection, isEmpty, type TypeSet } from "../catalog/type-set.ts";
import { remembered } from "../memo.ts";
import { Requirement } from "../requirements/requirement.ts";
import { areCompatible, type Requirements } from "../requirements/requirements.ts";
import { untoleratedTaints } from "../taints.ts";

/** What a pod asks for apart from resources. Equal constraints of different pods are one object. */
export interface Constraint {
  /** Position among the constraints of the solve. */
  readonly index: number;
  readonly requirements: Requirements;
  readonly tolerations: readonly Toleration[];
}

/** What all states of one template share. */
export interface StateSpace {
  readonly catalog: Catalog;
  /** Variants that can hold their DaemonSets. */
  readonly members: TypeSet;
  readonly room: readonly AmountColumn[];
  readonly taints: readonly Taint[];
  readonly wellKnown: ReadonlySet<string>;
}

const NO_KEYS: readonly string[] = [];

export class ClaimState {
  readonly requirements: Requirements;
  /** Variants whose type's labels go with the requirements. */
  readonly compatible: TypeSet;
  /** Offering kinds that go with them. */
  readonly kinds: readonly number[];
  /** Compatible variants with one of those offerings. */
  readonly variants: TypeSet;
  /** Per resource, the most that any of `variants` leaves to pods. */
  readonly mostRoom: Float64Array;
  readonly #space: StateSpace;
  readonly #byText: Map<string, ClaimState>;
  /** Where it is not refused: what refuses is asked once per constraint and claim, and would need the square of both. */
  readonly #next = new Map<Constraint, ClaimState>();
  #within: Map<Requirement, ClaimState | null> | undefined;
  readonly #choices = new Map<string, readonly ClaimState[]>();
  readonly #definedSince = new Map<ClaimState, readonly string[]>();
  /** Scratch of the gate: what the search with this number makes of the state. */
  narrowedBySearch = -1;
  narrowed: ClaimState | null = null;

  static root(requirements: Requirements, space: StateSpace): ClaimState {
    let compatible = space.catalog.sound;
    for (const requirement of requirements) {
      const label = space.catalog.findLabel(requirement.key);
      if (label !== undefined) compatible = intersection(compatible, label.compatibleWith(requirement));
    }
    return new ClaimState(requirements, compatible, space.catalog.kindsUnder(requirements), space, new Map());
  }

  private constructor(
    requirements: Requirements,
    compatible: TypeSet,
    kinds: readonly number[],
    space: StateSpace,
    byText: Map<string, ClaimState>,
    like?: ClaimState,
  ) {
    this.requirements = requirements;
    this.compatible = compatible;
    this.kinds = kinds;
    this.#space = space;
    this.#byText = byText;
    this.variants = like?.variants ?? intersection(compatible, space.catalog.offeringAny(kinds));
    this.mostRoom = like?.mostRoom ?? Float64Array.from(space.room, (column) => column.greatestIn(this.variants));
    byText.set(requirements.canonicalText, this);
  }

  /** Labels that this state defines and an earlier one did not, without well-known ones, which need no definition (S-40). */
  keysDefinedSince(before: ClaimState): readonly string[] {
    if (before.requirements.size === this.requirements.size) return NO_KEYS;
    const known = this.#definedSince.get(before);
    if (known !== undefined) return known;
    const keys = Array.from(this.requirements, ({ key }) => key);
    const defined = keys.filter((key) => before.requirements.find(key) === undefined && !this.#space.wellKnown.has(key));
    this.#definedSince.set(before, defined);
    return defined;
  }

  /** The state after one more pod with this constraint; null when taints or requirements refuse it, or no type is left. */
  after(constraint: Constraint): ClaimState | null {
    const known = this.#next.get(constraint);
    if (known !== undefined) return known;
    const isWelcome =
      untoleratedTaints(this.#space.taints, constraint.tolerations).length === 0 &&
      this.requirements.isCompatible(constraint.requirements, this.#space.wellKnown);
    if (!isWelcome) return null;
    const next = this.narrowedBy(constraint.requirements);
    if (isEmpty(next.variants)) return null;
    this.#next.set(constraint, next);
    return next;
  }

  /** The state with one more requirement, of a volume or of topology; null when it does not go with this one or no type is left. */
  within(requirement: Requirement): ClaimState | null {
    const known = this.#within?.get(requirement);
    if (known !== undefined) return known;
    const offered = this.requirements.find(requirement.key);
    const isWelcome =
      offered === undefined ? this.#space.wellKnown.has(requirement.key) || requirement.allowsAbsence : areCompatible(offered, requirement);
    let next: ClaimState | null = null;
    if (isWelcome) {
      next = this.narrowedBy([requirement]);
      if (isEmpty(next.variants)) next = null;
    }
    this.#within ??= new Map();
    this.#within.set(requirement, next);
    return next;
  }

  /** What the state can become along a label, value by value; none where the nodes may have any value, or lack the label. */
  choicesOf(key: string): readonly ClaimState[] {
    return remembered(this.#choices, key, () => {
      const values = this.requirements.find(key)?.listedValues ?? this.#space.catalog.valuesOf(key);
      return values.flatMap((value) => this.within(Requirement.in(key, value)) ?? []);
    });
  }

  /** The state with fewer distinct values demanded of a label (S-173). */
  withMinValues(key: string, minValues: number | undefined): ClaimState {
    const requirements = this.requirements.replace(this.requirements.find(key)!.withMinValues(minValues));
    const known = this.#byText.get(requirements.canonicalText);
    return known ?? new ClaimState(requirements, this.compatible, this.kinds, this.#space, this.#byText, this);
  }

  /** The state of a claim that holds these reservations, when the solve is over (S-172). */
  reserved(idLabel: string, ids: Iterable<string>): ClaimState {
    const requirements = this.requirements
      .replace(Requirement.in(CAPACITY_TYPE_LABEL, "reserved"))
      .replace(Requirement.in(idLabel, ...ids));
    const known = this.#byText.get(requirements.canonicalText);
    const kinds = this.#space.catalog.kindsUnder(requirements);
    return known ?? new ClaimState(requirements, this.compatible, kinds, this.#space, this.#byText);
  }

  /** The state under these requirements too, even if no type is left in it. */
  narrowedBy(wanted: Iterable<Requirement>): ClaimState {
    const requirements = this.requirements.and(wanted);
    if (requirements === this.requirements) return this;
    return this.#byText.get(requirements.canonicalText) ?? this.#narrow(requirements, wanted);
  }

  #narrow(requirements: Requirements, wanted: Iterable<Requirement>): ClaimState {
    const { catalog } = this.#space;
    const changed = [...wanted].map(({ key }) => requirements.find(key)!).filter((now) => now !== this.requirements.find(now.key));
    const relevant = changed.filter(({ key }) => catalog.knows(key));
    if (relevant.length === 0) return new ClaimState(requirements, this.compatible, this.kinds, this.#space, this.#byText, this);
    let { compatible } = this;
    for (const requirement of relevant) {
      const label = catalog.findLabel(requirement.key);
      if (label !== undefined) compatible = intersection(compatible, label.compatibleWith(requirement));
    }
    return new ClaimState(requirements, compatible, catalog.kindsUnder(requirements), this.#space, this.#byText);
  }
}
