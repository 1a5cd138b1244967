/** What the catalogue says about labels and sizes, prepared once. Rules S-52…S-55. */
import { maxResources, type Resources } from "@joinery/api";
import { allocatableOf, type InstanceType, isLaunchable, type RequirementItem, Requirements } from "@joinery/scheduling";

export interface TypeFacts {
  readonly type: InstanceType;
  readonly requirements: Requirements;
  /** Of its offerings that can be launched. */
  readonly offerings: readonly Requirements[];
  readonly allocatable: Resources;
}

export interface CatalogueFacts {
  readonly types: readonly TypeFacts[];
  /** Label key → every value that some type or offering has. */
  readonly values: ReadonlyMap<string, ReadonlySet<string>>;
  /** Per resource, the most that pods can have of one node. */
  readonly greatest: Resources;
}

export function catalogueFacts(types: readonly InstanceType[]): CatalogueFacts {
  const shared = new Map<readonly RequirementItem[], Requirements>();
  const read = (items: readonly RequirementItem[]): Requirements => {
    const known = shared.get(items) ?? Requirements.fromItems(items);
    shared.set(items, known);
    return known;
  };
  const facts = types.map((type) => ({
    type,
    requirements: read(type.requirements),
    offerings: type.offerings.filter(isLaunchable).map(({ requirements }) => read(requirements)),
    allocatable: allocatableOf(type),
  }));
  return { types: facts, values: valuesOf(facts), greatest: maxResources(...facts.map(({ allocatable }) => allocatable)) };
}

/** What the pools of several node classes have together; a type of two classes is there twice. */
export function mergedFacts(facts: readonly CatalogueFacts[]): CatalogueFacts {
  const [first, ...others] = new Set(facts);
  if (first !== undefined && others.length === 0) return first;
  const types = [...new Set(facts)].flatMap((one) => one.types);
  return { types, values: valuesOf(types), greatest: maxResources(...facts.map(({ greatest }) => greatest)) };
}

/** Types that meet the requirements and have an offering under them (S-54, S-55, S-64). */
export function typesUnder(requirements: Requirements, { types }: CatalogueFacts): readonly TypeFacts[] {
  return types.filter((type) => requirements.intersects(type.requirements) && offeringsUnder(requirements, type).length > 0);
}

export function offeringsUnder(requirements: Requirements, { offerings }: TypeFacts): readonly Requirements[] {
  return offerings.filter((offering) => requirements.intersects(offering));
}

function valuesOf(types: readonly TypeFacts[]): ReadonlyMap<string, ReadonlySet<string>> {
  const values = new Map<string, Set<string>>();
  const seen = new Set<Requirements>();
  for (const { requirements, offerings } of types) {
    for (const set of [requirements, ...offerings]) {
      if (seen.has(set)) continue;
      seen.add(set);
      for (const { key, listedValues = [] } of set) {
        const known = values.get(key) ?? new Set();
        for (const value of listedValues) known.add(value);
        values.set(key, known);
      }
    }
  }
  return values;
}
