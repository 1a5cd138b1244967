/** A set of requirements by label key, an immutable value; and when one set admits another. Rules S-38…S-43, A-79. */
import type { RequirementItem } from "../instance-type.ts";
import { Requirement } from "./requirement.ts";
import { requirementItems, requirementText } from "./text.ts";

/** Why an incoming set does not go with an existing one. */
export type Incompatibility =
  | { readonly kind: "undefined-label"; readonly key: string; readonly typoOf?: string }
  | { readonly kind: "no-common-value"; readonly key: string; readonly wanted: string; readonly offered: string };

const NO_KEYS: ReadonlySet<string> = new Set();

/** At most one requirement for each key; adding one for a key that is there intersects the two. */
export class Requirements implements Iterable<Requirement> {
  static readonly empty: Requirements = new Requirements(new Map());
  readonly #byKey: ReadonlyMap<string, Requirement>;
  #text: string | undefined;

  private constructor(byKey: ReadonlyMap<string, Requirement>) {
    this.#byKey = byKey;
  }

  static of(...requirements: readonly Requirement[]): Requirements {
    return Requirements.empty.and(requirements);
  }

  static fromItems(items: Iterable<RequirementItem>): Requirements {
    return Requirements.empty.and(Array.from(items, (item) => Requirement.of(item)));
  }

  /** Each label as `In [value]`. */
  static fromLabels(labels: Readonly<Record<string, string>> | undefined): Requirements {
    return Requirements.empty.and(Object.entries(labels ?? {}).map(([key, value]) => Requirement.in(key, value)));
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** undefined where nothing is asked, which admits everything. */
  find(key: string): Requirement | undefined {
    return this.#byKey.get(key);
  }

  [Symbol.iterator](): IterableIterator<Requirement> {
    return this.#byKey.values();
  }

  /** Both; a key that both have is intersected (S-38). `this` itself when nothing changes. */
  and(more: Iterable<Requirement>): Requirements {
    let next: Map<string, Requirement> | undefined;
    for (const requirement of more) {
      const present = (next ?? this.#byKey).get(requirement.key);
      const both = present?.intersect(requirement) ?? requirement;
      if (both === present) continue;
      next ??= new Map(this.#byKey);
      next.set(requirement.key, both);
    }
    return next === undefined ? this : new Requirements(next);
  }

  without(...keys: readonly string[]): Requirements {
    if (!keys.some((key) => this.#byKey.has(key))) return this;
    return new Requirements(new Map([...this.#byKey].filter(([key]) => !keys.includes(key))));
  }

  /** In place of what was asked for that key. */
  replace(requirement: Requirement): Requirements {
    return new Requirements(new Map(this.#byKey).set(requirement.key, requirement));
  }

  /** S-41: every key that both have leaves a common value, or both can do without the label. */
  intersects(incoming: Requirements): boolean {
    for (const wanted of incoming) {
      const offered = this.#byKey.get(wanted.key);
      if (offered !== undefined && !areCompatible(offered, wanted)) return false;
    }
    return true;
  }

  /** S-40; `mayBeUndefined` are the well-known labels (lenient), or nothing (strict). */
  isCompatible(incoming: Requirements, mayBeUndefined: ReadonlySet<string> = NO_KEYS): boolean {
    for (const wanted of incoming) {
      const offered = this.#byKey.get(wanted.key);
      const fine = offered === undefined ? wanted.allowsAbsence || mayBeUndefined.has(wanted.key) : areCompatible(offered, wanted);
      if (!fine) return false;
    }
    return true;
  }

  /** The same verdict with its causes: the first undefined label alone, else each key without a common value (S-42, S-43). */
  incompatibilities(incoming: Requirements, mayBeUndefined: ReadonlySet<string> = NO_KEYS): Incompatibility[] {
    const sorted = [...incoming].sort((a, b) => (a.key < b.key ? -1 : 1));
    for (const wanted of sorted) {
      if (this.#byKey.has(wanted.key) || wanted.allowsAbsence || mayBeUndefined.has(wanted.key)) continue;
      const typoOf = intendedKey(wanted.key, [...mayBeUndefined, ...this.#byKey.keys()]);
      return [{ kind: "undefined-label", key: wanted.key, ...(typoOf !== undefined && { typoOf }) }];
    }
    return sorted.flatMap((wanted): Incompatibility[] => {
      const offered = this.#byKey.get(wanted.key);
      if (offered === undefined || areCompatible(offered, wanted)) return [];
      return [{ kind: "no-common-value", key: wanted.key, wanted: requirementText(wanted), offered: requirementText(offered) }];
    });
  }

  /** For the API: sorted by key. */
  toItems(): RequirementItem[] {
    return [...this.#byKey.keys()].sort().flatMap((key) => requirementItems(this.#byKey.get(key)!));
  }

  /** The same text for equal sets, whatever the order in which they were made. */
  get canonicalText(): string {
    if (this.#text === undefined) this.#text = JSON.stringify(this.toItems());
    return this.#text;
  }
}

export function areCompatible(offered: Requirement, wanted: Requirement): boolean {
  return offered.intersects(wanted) || (offered.allowsAbsence && wanted.allowsAbsence);
}

/** S-42: a known key that contains the unknown one, or ends as it ends. */
function intendedKey(key: string, known: readonly string[]): string | undefined {
  const slash = key.indexOf("/");
  const tail = slash < 0 ? key : key.slice(slash + 1);
  return known.find((candidate) => candidate.includes(key) || (tail !== "" && candidate.endsWith(tail)));
}
