/** How hard the solver looks for a cheaper plan, as the options of `solve` say it. */
import { improvementOf, type SolveOptions } from "@joinery/scheduling";

type EffortOptions = Pick<SolveOptions, "improvement">;

export const EFFORTS: Readonly<Record<string, EffortOptions>> = {
  off: {},
  default: { improvement: improvementOf("default")! },
  max: { improvement: improvementOf("max")! },
  // The same without the wish that spot nodes list several types: what that wish costs is the difference.
  defaultAnyTypes: { improvement: { ...improvementOf("default")!, spotTypesMin: 1 } },
  maxAnyTypes: { improvement: { ...improvementOf("max")!, spotTypesMin: 1 } },
};

const { nodeOverheadUsdPerHour, rootVolumeUsdPerHour, spotTypesMin } = improvementOf("default")!;

/** What a node costs beside its instance, in USD per hour, where its node class says nothing about volumes. */
export const NODE_CHARGE = nodeOverheadUsdPerHour + rootVolumeUsdPerHour;

/** What plans with a choice list for each spot node. */
export const SPOT_TYPES_MIN = spotTypesMin;
