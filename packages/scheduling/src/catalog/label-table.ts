/**
 * The labels that instance types have. The index of a label is made when it is first asked for: types of EC2 have 25 labels, and a
 * solve asks for a handful.
 */
import { normalizeLabel } from "@joinery/api";
import type { InstanceType, RequirementItem } from "../instance-type.ts";
import { remembered } from "../memo.ts";
import { Requirement } from "../requirements/requirement.ts";
import { LabelIndex } from "./label-index.ts";
import { fullSet } from "./type-set.ts";

interface Group {
  readonly requirement: Requirement;
  readonly variants: number[];
}

export class LabelTable {
  readonly #types: readonly InstanceType[];
  readonly #typeOfVariant: Uint16Array;
  /** By key, the names under which types have it (S-28). */
  readonly #names = new Map<string, string[]>();
  readonly #indexes = new Map<string, LabelIndex>();

  constructor(types: readonly InstanceType[], typeOfVariant: Uint16Array) {
    this.#types = types;
    this.#typeOfVariant = typeOfVariant;
    const names = new Set<string>();
    for (const { requirements } of types) for (let item = 0; item < requirements.length; item++) names.add(requirements[item]!.key);
    for (const name of names) remembered(this.#names, normalizeLabel(name), (): string[] => []).push(name);
  }

  has(key: string): boolean {
    return this.#names.has(key);
  }

  find(key: string): LabelIndex | undefined {
    const names = this.#names.get(key);
    return names === undefined ? undefined : remembered(this.#indexes, key, () => this.#indexOf(names));
  }

  #indexOf(names: readonly string[]): LabelIndex {
    const undefinedOn = fullSet(this.#typeOfVariant.length);
    const groups = new GroupTable();
    let type = -1;
    let group: Group | undefined;
    for (let variant = 0; variant < this.#typeOfVariant.length; variant++) {
      if (this.#typeOfVariant[variant] !== type) {
        type = this.#typeOfVariant[variant]!;
        group = groups.of(this.#types[type]!.requirements, names);
      }
      if (group === undefined) continue;
      group.variants.push(variant);
      undefinedOn[variant >>> 5] = undefinedOn[variant >>> 5]! & ~(1 << (variant & 31));
    }
    return new LabelIndex(undefinedOn, groups.list);
  }
}

interface Branch {
  group: Group | undefined;
  readonly next: Map<string, Branch>;
}

/** Types that have equal requirements on one label. */
class GroupTable {
  readonly list: Group[] = [];
  readonly #byValues: Branch = { group: undefined, next: new Map() };
  readonly #byText = new Map<string, Group>();

  of(items: readonly RequirementItem[], names: readonly string[]): Group | undefined {
    let found: RequirementItem | undefined;
    for (let index = 0; index < items.length; index++) {
      const item = items[index]!;
      if (!isOneOf(names, item.key)) continue;
      if (found !== undefined) return this.#ofAll(items.filter(({ key }) => names.includes(key)));
      found = item;
    }
    return found === undefined ? undefined : this.#ofOne(found);
  }

  /** Listed values are a path of maps, which costs less than a text. */
  #ofOne(item: RequirementItem): Group {
    const { operator, values, minValues } = item;
    if (operator !== "In" || values === undefined || minValues !== undefined) return this.#ofAll([item]);
    let branch = this.#byValues;
    for (let index = 0; index < values.length; index++) {
      let next = branch.next.get(values[index]!);
      if (next === undefined) {
        next = { group: undefined, next: new Map() };
        branch.next.set(values[index]!, next);
      }
      branch = next;
    }
    branch.group ??= this.#add(Requirement.of(item));
    return branch.group;
  }

  #ofAll(items: readonly RequirementItem[]): Group {
    return remembered(this.#byText, items.map(itemText).join("\n"), () =>
      this.#add(items.map((item) => Requirement.of(item)).reduce((one, other) => one.intersect(other))),
    );
  }

  #add(requirement: Requirement): Group {
    const group = { requirement, variants: [] };
    this.list.push(group);
    return group;
  }
}

/** Of an item that allows one value and says nothing else. */
export function singleValue({ operator, values, minValues }: RequirementItem): string | undefined {
  return operator === "In" && values?.length === 1 && minValues === undefined ? values[0] : undefined;
}

/** Equal for equal items. */
export function itemText({ key, operator, values = [], minValues }: RequirementItem): string {
  return `${key} ${operator} ${values.join()} ${minValues ?? ""}`;
}

function isOneOf(names: readonly string[], name: string): boolean {
  for (let index = 0; index < names.length; index++) if (names[index] === name) return true;
  return false;
}
