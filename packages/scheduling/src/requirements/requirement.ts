/** One requirement on a label: which values are allowed. An immutable value. Rules S-26…S-35, A-74…A-78. */
import { normalizeLabel } from "@joinery/api";
import type { RequirementItem } from "../instance-type.ts";

const INT64_MAX = 2n ** 63n - 1n;
/** Upper end of a range without an upper bound, when a value has to be made up (S-33). */
const MADE_UP_MAX = INT64_MAX - 1n;

/**
 * Without `isComplement` the allowed set is `values`; with it, everything but `values` within the bounds. Bounds only occur on
 * complements (S-26). `values` are sorted and distinct. A complement also remembers whether the label has to be there at all: "Exists"
 * together with "NotIn" is still met by no node without the label.
 */
export class Requirement {
  readonly key: string;
  readonly isComplement: boolean;
  readonly values: readonly string[];
  readonly gte: bigint | undefined;
  readonly lte: bigint | undefined;
  readonly minValues: number | undefined;
  /** The forgiving pair of S-41: a label that nobody sets satisfies both. */
  readonly allowsAbsence: boolean;

  private constructor(
    key: string,
    isComplement: boolean,
    values: readonly string[],
    gte?: bigint | undefined,
    lte?: bigint | undefined,
    minValues?: number | undefined,
    allowsAbsence: boolean = isComplement === values.length > 0,
  ) {
    this.key = key;
    this.isComplement = isComplement;
    this.values = values;
    this.gte = gte;
    this.lte = lte;
    this.minValues = minValues;
    this.allowsAbsence = allowsAbsence;
  }

  /** From an item of a NodePool, a pod or an instance type; old label keys become their successors (S-27, S-28). */
  static of({ key, operator, values = [], minValues }: RequirementItem): Requirement {
    const name = normalizeLabel(key);
    switch (operator) {
      case "In":
        return new Requirement(name, false, distinct(values), undefined, undefined, minValues);
      case "NotIn":
        return new Requirement(name, true, distinct(values), undefined, undefined, minValues);
      case "Exists":
        return new Requirement(name, true, NOTHING, undefined, undefined, minValues);
      case "DoesNotExist":
        return new Requirement(name, false, NOTHING, undefined, undefined, minValues);
      default:
        return Requirement.#bounded(name, operator, values[0], minValues);
    }
  }

  static #bounded(
    key: string,
    operator: "Gt" | "Lt" | "Gte" | "Lte",
    text: string | undefined,
    minValues: number | undefined,
  ): Requirement {
    const bound = text === undefined ? undefined : parseInteger(text);
    // Admission and pod validation refuse a bound that is no integer (S-21); what gets past them allows nothing.
    if (bound === undefined || (operator === "Gt" && bound === INT64_MAX)) return new Requirement(key, false, NOTHING);
    if (operator === "Gt") return new Requirement(key, true, NOTHING, bound + 1n, undefined, minValues);
    if (operator === "Gte") return new Requirement(key, true, NOTHING, bound, undefined, minValues);
    return new Requirement(key, true, NOTHING, undefined, operator === "Lt" ? bound - 1n : bound, minValues);
  }

  static in(key: string, ...values: readonly string[]): Requirement {
    return new Requirement(normalizeLabel(key), false, distinct(values));
  }

  /** S-31. */
  get operator(): "In" | "NotIn" | "Exists" | "DoesNotExist" {
    if (this.isComplement) return this.values.length > 0 ? "NotIn" : "Exists";
    return this.values.length > 0 ? "In" : "DoesNotExist";
  }

  /** S-30. */
  has(value: string): boolean {
    return this.isWithinBounds(value) && this.values.includes(value) !== this.isComplement;
  }

  /** S-29: what is no integer is outside any bound. */
  isWithinBounds(value: string): boolean {
    if (this.gte === undefined && this.lte === undefined) return true;
    const integer = parseInteger(value);
    return integer !== undefined && (this.gte === undefined || this.gte <= integer) && (this.lte === undefined || integer <= this.lte);
  }

  /** A ∩ B; `this` itself when nothing changes, so that callers can compare by identity (S-34). */
  intersect(other: Requirement): Requirement {
    if (other === this) return this;
    const gte = larger(this.gte, other.gte);
    const lte = smaller(this.lte, other.lte);
    const minValues = Math.max(this.minValues ?? 0, other.minValues ?? 0) || undefined;
    if (gte !== undefined && lte !== undefined && gte > lte)
      return this.#or(new Requirement(this.key, false, NOTHING, undefined, undefined, minValues));
    const isComplement = this.isComplement && other.isComplement;
    const bounds = new Requirement(this.key, true, NOTHING, gte, lte);
    const values = combined(this, other).filter((value) => bounds.isWithinBounds(value));
    return this.#or(
      isComplement
        ? new Requirement(this.key, true, values, gte, lte, minValues, this.allowsAbsence && other.allowsAbsence)
        : new Requirement(this.key, false, values, undefined, undefined, minValues),
    );
  }

  /** A ∪ B; undefined = everything, also where bounds leave a gap that a requirement cannot say. */
  union(other: Requirement): Requirement | undefined {
    if (other === this) return this;
    if (!this.isComplement && !other.isComplement) return new Requirement(this.key, false, distinct([...this.values, ...other.values]));
    const open = [this, other].filter(({ isComplement }) => isComplement);
    if (open.some(({ gte, lte }) => gte !== undefined || lte !== undefined)) return undefined;
    const excluded = open[0]!.values.filter((value) => !(open[0] === this ? other : this).has(value));
    return excluded.length === 0 ? undefined : new Requirement(this.key, true, excluded);
  }

  /** Without building the set. Two complements always intersect, even where all integers between the bounds are excluded (S-35). */
  intersects(other: Requirement): boolean {
    if (this.isComplement && other.isComplement) return !isEmptyRange(larger(this.gte, other.gte), smaller(this.lte, other.lte));
    const [listed, filter] = this.isComplement ? [other, this] : [this, other];
    return listed.values.some((value) => filter.has(value));
  }

  /** The allowed values of a listed set; undefined when the set is open. */
  get listedValues(): readonly string[] | undefined {
    return this.isComplement ? undefined : this.values;
  }

  /**
   * Some allowed value, the same each time; undefined when there is none. Open sets give the smallest integer that is allowed
   * (S-33; where Karpenter draws at random and may hit an excluded value, this does neither).
   */
  anyValue(): string | undefined {
    if (!this.isComplement) return this.values[0];
    const last = this.lte ?? MADE_UP_MAX;
    for (let integer = this.gte ?? 0n; integer <= last; integer++) {
      if (!this.values.includes(String(integer))) return String(integer);
    }
    return undefined;
  }

  withMinValues(minValues: number | undefined): Requirement {
    if (minValues === this.minValues) return this;
    return new Requirement(this.key, this.isComplement, this.values, this.gte, this.lte, minValues, this.allowsAbsence);
  }

  equals(other: Requirement): boolean {
    return (
      this.key === other.key &&
      this.isComplement === other.isComplement &&
      this.allowsAbsence === other.allowsAbsence &&
      this.gte === other.gte &&
      this.lte === other.lte &&
      this.minValues === other.minValues &&
      this.values.length === other.values.length &&
      this.values.every((value, index) => value === other.values[index])
    );
  }

  #or(next: Requirement): Requirement {
    return this.equals(next) ? this : next;
  }
}

const NOTHING: readonly string[] = [];

function distinct(values: readonly string[]): readonly string[] {
  return values.length < 2 ? values : [...new Set(values)].sort();
}

function combined(one: Requirement, other: Requirement): readonly string[] {
  if (one.isComplement && other.isComplement) return distinct([...one.values, ...other.values]);
  const [listed, filter] = one.isComplement ? [other, one] : [one, other];
  const known = filter.values.length > 8 ? new Set(filter.values) : undefined;
  return listed.values.filter((value) => (known?.has(value) ?? filter.values.includes(value)) !== filter.isComplement);
}

/** Decimal integers of 64 bits, as Go's `strconv.Atoi` reads them. */
function parseInteger(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const integer = BigInt(text.startsWith("+") ? text.slice(1) : text);
  return integer <= INT64_MAX && integer >= -INT64_MAX - 1n ? integer : undefined;
}

function larger(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one > other ? one : other;
}

function smaller(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}

function isEmptyRange(gte: bigint | undefined, lte: bigint | undefined): boolean {
  return gte !== undefined && lte !== undefined && gte > lte;
}
