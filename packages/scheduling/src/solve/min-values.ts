/** Whether the types that are left keep as many different values as a pool demands. Rules S-57, S-173, V-74. */
import type { Catalog } from "../catalog/catalog.ts";
import type { TypeSet } from "../catalog/type-set.ts";
import { compareTexts } from "../plan/names.ts";
import type { MinValuesShortfall } from "../reason.ts";
import type { ClaimState } from "./claim-state.ts";

/** Counted are values that some type of the set has and the requirement for the key still allows. Sorted by key. */
export function minValuesShortfalls({ requirements }: ClaimState, catalog: Catalog, types: TypeSet): readonly MinValuesShortfall[] {
  const shortfalls: MinValuesShortfall[] = [];
  for (const requirement of requirements) {
    const wanted = requirement.minValues;
    if (wanted === undefined) continue;
    const found = catalog.findLabel(requirement.key)?.countValues(types, requirement, wanted) ?? 0;
    if (found < wanted) shortfalls.push({ key: requirement.key, wanted, found });
  }
  return shortfalls.sort((a, b) => compareTexts(a.key, b.key));
}

/** BestEffort: as many as there are (S-173); where there is none nothing is demanded, because no NodeClaim may demand zero (S-176). */
export function relaxMinValues(state: ClaimState, shortfalls: readonly MinValuesShortfall[]): ClaimState {
  return shortfalls.reduce((relaxed, { key, found }) => relaxed.withMinValues(key, found || undefined), state);
}
