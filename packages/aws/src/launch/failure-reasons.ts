/** What EC2's refusals mean. Rules W-650, W-651 with X-25, A-118. */

/** Nobody has room for it now: another pool, or later. */
const CAPACITY_CODES: ReadonlySet<string> = new Set([
  "InsufficientInstanceCapacity",
  "MaxSpotInstanceCountExceeded",
  "VcpuLimitExceeded",
  "UnfulfillableCapacity",
  "Unsupported",
  "InsufficientFreeAddressesInSubnet",
  "MaxFleetCountExceeded",
  "SpotMaxPriceTooLow",
  "ReservationCapacityExceeded",
  "InvalidCapacityReservationState.Unavailable",
]);

export const NO_SPOT_ROLE_CODE = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";

export function isCapacityCode(code: string): boolean {
  return CAPACITY_CODES.has(code);
}

export interface Failure {
  readonly reason: string;
  readonly detail?: string;
}

const DENIED = /UnauthorizedOperation|AccessDenied|AuthFailure/;

/** The first row that the text matches. */
export function failureOf(text: string): Failure {
  if (text.includes(NO_SPOT_ROLE_CODE)) return { reason: "SpotSLRCreationFailed" };
  if (DENIED.test(text)) return denialOf(text);
  if (text.includes("InvalidParameter") && text.includes("belong to different networks"))
    return { reason: "SecurityGroupSubnetVPCMismatch" };
  const row = REASONS.find(([part]) => text.includes(part));
  return row === undefined ? { reason: "LaunchFailed", detail: "Instance launch failed" } : { reason: row[1] };
}

function denialOf(text: string): Failure {
  if (text.includes("with an explicit deny in a permissions boundary"))
    return { reason: "Unauthorized", detail: "denied by a permissions boundary" };
  if (text.includes("with an explicit deny in a service control policy")) {
    return { reason: "Unauthorized", detail: "denied by a service control policy" };
  }
  if (text.includes("Not authorized for images")) return { reason: "AMIAuthorizationFailure" };
  return { reason: "Unauthorized", detail: "no identity-based policy allows it" };
}

const REASONS: readonly (readonly [part: string, reason: string])[] = [
  ["iamInstanceProfile.name is invalid", "InstanceProfileNameInvalid"],
  ["InvalidLaunchTemplateId.NotFound", "LaunchTemplateNotFound"],
  ["User data is limited to", "UserDataSizeLimitExceeded"],
  ["InvalidAMIID.Malformed", "InvalidAMIID"],
  ["InvalidAMIID.NotFound", "AMINotFound"],
  ["RequestLimitExceeded", "RequestLimitExceeded"],
  ["InternalError", "InternalError"],
  ["not eligible for Free Tier", "FreeTierIneligible"],
  ["MaxFleetCountExceeded", "FleetQuotaExceeded"],
  ["PendingVerification", "AccountPendingVerification"],
  ["MaxSpotInstanceCountExceeded", "SpotQuotaExceeded"],
  ["VcpuLimitExceeded", "VCPULimitExceeded"],
  ["InsufficientFreeAddressesInSubnet", "InsufficientFreeAddressesInSubnet"],
];
