import { expect, test } from "vitest";
import { failureOf, isCapacityCode } from "./failure-reasons.ts";

test.each([
  ["AuthFailure.ServiceLinkedRoleCreationNotPermitted: x", "SpotSLRCreationFailed"],
  ["UnauthorizedOperation: with an explicit deny in a permissions boundary", "Unauthorized"],
  ["UnauthorizedOperation: Not authorized for images: [ami-1]", "AMIAuthorizationFailure"],
  ["AccessDenied: x", "Unauthorized"],
  ["InvalidParameter: Security group and subnet belong to different networks", "SecurityGroupSubnetVPCMismatch"],
  ["InvalidParameterValue: Value (x) for parameter iamInstanceProfile.name is invalid", "InstanceProfileNameInvalid"],
  ["InvalidLaunchTemplateId.NotFound: x", "LaunchTemplateNotFound"],
  ["InvalidUserData.Malformed: User data is limited to 16384 bytes", "UserDataSizeLimitExceeded"],
  ["InvalidAMIID.Malformed: x", "InvalidAMIID"],
  ["InvalidAMIID.NotFound: x", "AMINotFound"],
  ["RequestLimitExceeded: x", "RequestLimitExceeded"],
  ["InternalError: x", "InternalError"],
  ["InvalidParameterCombination: not eligible for Free Tier", "FreeTierIneligible"],
  ["MaxFleetCountExceeded: x", "FleetQuotaExceeded"],
  ["PendingVerification: x", "AccountPendingVerification"],
  ["MaxSpotInstanceCountExceeded: x", "SpotQuotaExceeded"],
  ["VcpuLimitExceeded: x", "VCPULimitExceeded"],
  ["InsufficientFreeAddressesInSubnet: x", "InsufficientFreeAddressesInSubnet"],
  ["Sunspots: x", "LaunchFailed"],
])("W-650: %s is %s", (text, reason) => {
  expect(failureOf(text).reason).toBe(reason);
});

test.each([
  ["permissions boundary", "denied by a permissions boundary"],
  ["service control policy", "denied by a service control policy"],
])("W-650: who denies: %s", (who, detail) => {
  expect(failureOf(`UnauthorizedOperation: with an explicit deny in a ${who}`).detail).toBe(detail);
});

test.each([
  ["InsufficientInstanceCapacity", true],
  ["SpotMaxPriceTooLow", true],
  ["InvalidCapacityReservationState.Unavailable", true],
  ["UnauthorizedOperation", false],
  ["RequestLimitExceeded", false],
])("X-25: %s is a lack of capacity: %s", (code, is) => {
  expect(isCapacityCode(code)).toBe(is);
});
