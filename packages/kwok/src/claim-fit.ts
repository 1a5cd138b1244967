/** Which offering serves a NodeClaim: the cheapest of the types that hold its requests. W-610 and W-617 without the clouds' extras. */
import { fits, type Resources } from "@joinery/api";
import {
  allocatableOf,
  compareTexts,
  type InstanceType,
  isLaunchable,
  itemsMeet,
  type Offering,
  Requirement,
  type RequirementItem,
} from "@joinery/scheduling";

export interface Choice {
  readonly type: InstanceType;
  readonly offering: Offering;
}

export interface ClaimDemand {
  readonly requirements: readonly RequirementItem[];
  readonly requests: Resources;
}

/** The cheapest launchable offering (V-60); ties by type name, then zone, so that a retry decides the same. */
export function findCheapest(types: readonly InstanceType[], demand: ClaimDemand): Choice | undefined {
  const wanted = demand.requirements.map((item) => Requirement.of(item));
  let best: Choice | undefined;
  for (const type of types) {
    if (!fits(demand.requests, allocatableOf(type)) || !itemsMeet(wanted, type.requirements)) continue;
    for (const offering of type.offerings) {
      if (!isLaunchable(offering) || !itemsMeet(wanted, offering.requirements)) continue;
      const choice = { type, offering };
      if (best === undefined || compare(choice, best) < 0) best = choice;
    }
  }
  return best;
}

function compare(a: Choice, b: Choice): number {
  return (
    a.offering.priceUsdPerHour - b.offering.priceUsdPerHour ||
    compareTexts(a.type.name, b.type.name) ||
    compareTexts(textOf(a.offering), textOf(b.offering))
  );
}

function textOf({ requirements }: Offering): string {
  return requirements
    .map(({ key, values }) => `${key}=${values?.join()}`)
    .sort()
    .join();
}
