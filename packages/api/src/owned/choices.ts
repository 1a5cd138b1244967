/** Fields with a closed set of values. Apart from the schemas, so that who only reads objects need not load those. */

/** Section 3.2. */
export const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"] as const;

/** */
export const CONSOLIDATION_POLICIES = ["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"] as const;

/** V-1. */
export const DISRUPTION_REASONS = ["Underutilized", "Empty", "Drifted", "Unhealthy"] as const;
export type DisruptionReason = (typeof DISRUPTION_REASONS)[number];

/** Section 7.1. */
export const AMI_FAMILIES = ["AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025"] as const;
export type AmiFamily = (typeof AMI_FAMILIES)[number];
