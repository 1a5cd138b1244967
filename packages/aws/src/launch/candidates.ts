/** Which types and offerings a launch may use, and as what capacity type. Rules W-610, W-614…W-620. */
import { CAPACITY_TYPE_LABEL, fits, INSTANCE_TYPE_LABEL, type NodeClaim, parseResources, type Resources, ZONE_LABEL } from "@joinery/api";
import { allocatableOf, compareTexts, type InstanceType, itemsMeet, type Offering, Requirement } from "@joinery/scheduling";

/** A type with the offerings of it that can be launched. */
export interface Candidate {
  readonly type: InstanceType;
  readonly offerings: readonly Offering[];
}

export type Selection =
  | { readonly kind: "selected"; readonly candidates: readonly Candidate[]; readonly capacityType: "spot" | "on-demand" }
  | { readonly kind: "none"; readonly message: string };

const NONE: Selection = { kind: "none", message: "all requested instance types were unavailable during launch" };
/** EC2 takes no longer list of overrides in one request with all zones. */
const TYPES_MAX = 60;
const EXOTIC_RESOURCES = ["nvidia.com/gpu", "amd.com/gpu", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "habana.ai/gaudi"];

export function selectCandidates(claim: NodeClaim, types: readonly InstanceType[]): Selection {
  const wanted = claim.spec.requirements.map((item) => Requirement.of(item));
  const hasMinValues = wanted.some(({ minValues }) => minValues !== undefined);
  const available = compatibleAndAvailable(types, wanted, parseResources(claim.spec.resources?.requests));
  const usual = hasMinValues ? available : withoutDearSpot(withoutExotic(available));
  const kept = [...usual].sort(byPrice).slice(0, TYPES_MAX);
  if (kept.length === 0) return NONE;
  if (kept.length < usual.length) {
    const unmet = findUnmetMinValues(kept, wanted);
    if (unmet !== undefined) return { kind: "none", message: `truncating instance types, minValues requirement is not met for ${unmet}` };
  }
  const capacityType = kept.some(({ offerings }) => offerings.some(isSpot)) ? "spot" : "on-demand";
  return { kind: "selected", candidates: kept, capacityType };
}

export function labelOf({ requirements }: Offering, key: string): string {
  return requirements.find((item) => item.key === key)?.values?.[0] ?? "";
}

export function zoneOf(offering: Offering): string {
  return labelOf(offering, ZONE_LABEL);
}

/** W-610. */
function compatibleAndAvailable(types: readonly InstanceType[], wanted: readonly Requirement[], requests: Resources): Candidate[] {
  const byName = wanted.find(({ key }) => key === INSTANCE_TYPE_LABEL);
  return types.flatMap((type) => {
    if (byName !== undefined && !byName.has(type.name)) return [];
    if (!itemsMeet(wanted, type.requirements) || !fits(requests, allocatableOf(type))) return [];
    const offerings = type.offerings.filter((offering) => offering.isAvailable && itemsMeet(wanted, offering.requirements));
    return offerings.length === 0 ? [] : [{ type, offerings }];
  });
}

/** W-614: machines that cost a lot for what the pods did not ask for, unless there is nothing else. */
function withoutExotic(candidates: readonly Candidate[]): readonly Candidate[] {
  const usual = candidates.filter(({ type }) => {
    const size = type.name.split(".")[1] ?? "";
    return !size.includes("metal") && EXOTIC_RESOURCES.every((resource) => (type.capacity[resource] ?? 0) === 0);
  });
  return usual.length > 0 ? usual : candidates;
}

/** W-615: spot that is dearer than the cheapest machine on demand. */
function withoutDearSpot(candidates: readonly Candidate[]): readonly Candidate[] {
  const offerings = candidates.flatMap((candidate) => candidate.offerings);
  const onDemand = offerings.filter((offering) => !isSpot(offering)).map(({ priceUsdPerHour }) => priceUsdPerHour);
  if (onDemand.length === 0 || onDemand.length === offerings.length) return candidates;
  const cheapest = Math.min(...onDemand);
  return candidates.flatMap(({ type, offerings }) => {
    const kept = offerings.filter((offering) => !isSpot(offering) || offering.priceUsdPerHour <= cheapest);
    return kept.length === 0 ? [] : [{ type, offerings: kept }];
  });
}

/** V-74: distinct values that the requirement still allows among the types that are left. */
function findUnmetMinValues(candidates: readonly Candidate[], wanted: readonly Requirement[]): string | undefined {
  const unmet = wanted.find((want) => {
    const values = candidates.flatMap(({ type }) => type.requirements.find(({ key }) => key === want.key)?.values ?? []);
    return new Set(values.filter((value) => want.has(value))).size < (want.minValues ?? 0);
  });
  return unmet?.key;
}

function isSpot(offering: Offering): boolean {
  return labelOf(offering, CAPACITY_TYPE_LABEL) === "spot";
}

/** W-617; equal prices by name. */
function byPrice(a: Candidate, b: Candidate): number {
  return cheapestOf(a) - cheapestOf(b) || compareTexts(a.type.name, b.type.name);
}

function cheapestOf({ offerings }: Candidate): number {
  return Math.min(...offerings.map(({ priceUsdPerHour }) => priceUsdPerHour));
}
