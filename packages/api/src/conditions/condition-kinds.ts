/** Which conditions make an object of each kind Ready. Rules A-108, L-6 and sections 11.2 to 11.5. */

export interface ConditionKind {
  readonly root: "Ready";
  /** Types that must all be True for the root; all others are independent. */
  readonly dependents: readonly string[];
}

export const NODE_POOL_CONDITIONS: ConditionKind = { root: "Ready", dependents: ["ValidationSucceeded", "NodeClassReady"] };
export const NODE_CLAIM_CONDITIONS: ConditionKind = { root: "Ready", dependents: ["Launched", "Registered", "Initialized"] };
export const NODE_OVERLAY_CONDITIONS: ConditionKind = { root: "Ready", dependents: ["ValidationSucceeded"] };
export const KWOK_NODE_CLASS_CONDITIONS: ConditionKind = { root: "Ready", dependents: [] };

/** Reservations count only while the feature gate `ReservedCapacity` is on. */
export function ec2NodeClassConditions({ reservedCapacity }: { readonly reservedCapacity: boolean }): ConditionKind {
  const dependents = [
    "AMIsReady",
    "SubnetsReady",
    "SecurityGroupsReady",
    "InstanceProfileReady",
    "ValidationSucceeded",
    "PlacementGroupReady",
  ];
  return { root: "Ready", dependents: reservedCapacity ? [...dependents, "CapacityReservationsReady"] : dependents };
}
