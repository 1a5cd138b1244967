/** What an EC2NodeClass comes to: images, subnets, security groups, instance profile, and whether that is enough. Rules W-202…W-215, W-230…W-243. */
import {
  type Condition,
  type ConditionKind,
  type Ec2NodeClass,
  type Ec2NodeClassStatus,
  ec2NodeClassConditions,
  effectiveAmiFamily,
  setConditions,
  withConditions,
} from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { ClusterFacts, ClusterKnowledge } from "../cluster-facts.ts";
import { AwsError } from "../ec2/aws-error.ts";
import type { Ec2Port } from "../ec2/ec2-port.ts";
import { readKubelet } from "../instance-types/kubelet-settings.ts";
import { findReservedTag } from "../launch/launch-tags.ts";
import type { SubnetLedger } from "../launch/subnet-ledger.ts";
import { FAMILIES_WITH_USER_DATA } from "../launch/user-data.ts";
import type { ImageResolver } from "./images.ts";
import type { InstanceProfiles } from "./instance-profiles.ts";
import { securityGroupStatus, selectSecurityGroups, selectSubnets, subnetStatus } from "./selected-network.ts";

export interface StatusRooms {
  readonly ec2: Ec2Port;
  readonly clock: Clock;
  readonly cluster: ClusterKnowledge;
  readonly images: ImageResolver;
  readonly profiles: InstanceProfiles;
  readonly subnets: SubnetLedger;
}

/** One reconciler's findings: fields of the status, its condition, and when to look again. Without a condition it stays as it was. */
interface Finding {
  readonly status: Partial<Ec2NodeClassStatus>;
  readonly condition?: Pick<Condition, "type" | "status" | "reason" | "message">;
  readonly againMs?: number;
}

export interface StatusOutcome {
  readonly nodeClass: Ec2NodeClass;
  /** What could not be found out; the conditions that it bears on are as they were. */
  readonly errors: readonly unknown[];
  readonly againMs: number;
}

const MINUTE_MS = 60_000;
/** Gate `ReservedCapacity` is on by default; reservations themselves are not resolved yet, which counts as "none match". */
const CONDITIONS: ConditionKind = ec2NodeClassConditions({ reservedCapacity: true });

/** All findings, also where some fail (W-202). The node class with its status as it should be. */
export async function resolveStatus(nodeClass: Ec2NodeClass, rooms: StatusRooms, signal?: AbortSignal): Promise<StatusOutcome> {
  const reconcilers = [resolveImages, resolveReservations, resolvePlacementGroup, resolveSubnets, resolveSecurityGroups, resolveProfile];
  const results = await Promise.allSettled(reconcilers.map(async (resolve) => resolve(nodeClass, rooms, signal)));
  const findings = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  const found = apply(nodeClass, findings, rooms.clock.wallMs());
  try {
    findings.push(await validate(found, rooms, signal));
  } catch (error) {
    errors.push(error);
  }
  const againMs = Math.min(...findings.map((finding) => finding.againMs ?? 5 * MINUTE_MS));
  return { nodeClass: apply(nodeClass, findings, rooms.clock.wallMs()), errors, againMs };
}

function apply(nodeClass: Ec2NodeClass, findings: readonly Finding[], nowMs: number): Ec2NodeClass {
  const status = Object.assign({}, nodeClass.status, ...findings.map((finding) => finding.status)) as Ec2NodeClassStatus;
  const wishes = findings.flatMap(({ condition }) => (condition === undefined ? [] : [condition]));
  const changed: Ec2NodeClass = { ...nodeClass, status };
  return withConditions(changed, setConditions(CONDITIONS, changed, wishes, nowMs));
}

/** W-210. */
async function resolveImages({ spec }: Ec2NodeClass, { cluster, images }: StatusRooms, signal?: AbortSignal): Promise<Finding> {
  const { kubernetesVersion } = await cluster.get(signal);
  const outcome = await images.resolve(spec?.amiSelectorTerms ?? [], kubernetesVersion, signal);
  switch (outcome.kind) {
    case "found":
      return { status: { amis: outcome.images }, condition: isTrue("AMIsReady"), againMs: 5 * MINUTE_MS };
    case "none":
      return {
        status: { amis: undefined },
        condition: no("AMIsReady", "AMINotFound", "AMISelector did not match any AMIs"),
        againMs: MINUTE_MS,
      };
    case "unsupported-alias":
      return { status: {}, condition: no("AMIsReady", "UnsupportedAlias", outcome.message) };
  }
}

/** W-211 with no reservation. */
function resolveReservations(): Finding {
  return { status: { capacityReservations: undefined }, condition: isTrue("CapacityReservationsReady") };
}

/** W-212: a group that is asked for cannot be resolved yet, so nothing is launched outside of it. */
function resolvePlacementGroup({ spec }: Ec2NodeClass): Finding {
  const selector = spec?.placementGroupSelector;
  if (selector === undefined) return { status: {}, condition: isTrue("PlacementGroupReady") };
  const message = `Failed to resolve placement group "${selector.name ?? selector.id}": placement groups are not supported`;
  return { status: {}, condition: no("PlacementGroupReady", "PlacementGroupResolutionFailed", message) };
}

/** W-213. */
async function resolveSubnets({ spec }: Ec2NodeClass, { ec2, subnets: ledger }: StatusRooms, signal?: AbortSignal): Promise<Finding> {
  const subnets = await selectSubnets(ec2, spec?.subnetSelectorTerms ?? [], signal);
  ledger.note(subnets);
  if (subnets.length > 0) return { status: { subnets: subnetStatus(subnets) }, condition: isTrue("SubnetsReady"), againMs: MINUTE_MS };
  const condition = no("SubnetsReady", "SubnetsNotFound", "SubnetSelector did not match any Subnets");
  return { status: { subnets: undefined }, condition, againMs: MINUTE_MS };
}

/** W-214. */
async function resolveSecurityGroups({ spec }: Ec2NodeClass, { ec2 }: StatusRooms, signal?: AbortSignal): Promise<Finding> {
  const groups = await selectSecurityGroups(ec2, spec?.securityGroupSelectorTerms ?? [], signal);
  if (groups.length > 0) return { status: { securityGroups: securityGroupStatus(groups) }, condition: isTrue("SecurityGroupsReady") };
  const condition = no("SecurityGroupsReady", "SecurityGroupsNotFound", "SecurityGroupSelector did not match any SecurityGroups");
  return { status: { securityGroups: undefined }, condition, againMs: MINUTE_MS };
}

/** W-401, W-403: a failure leaves the condition as it was. */
async function resolveProfile(nodeClass: Ec2NodeClass, { profiles }: StatusRooms, signal?: AbortSignal): Promise<Finding> {
  return { status: { instanceProfile: await profiles.ensure(nodeClass, signal) }, condition: isTrue("InstanceProfileReady") };
}

const DEPENDENCIES = ["AMIsReady", "InstanceProfileReady", "SecurityGroupsReady", "SubnetsReady"];

/** W-230, W-231, W-233, W-236, W-237, W-243, and what this room cannot do. */
async function validate(nodeClass: Ec2NodeClass, { cluster }: StatusRooms, signal?: AbortSignal): Promise<Finding> {
  const { spec, status } = nodeClass;
  const family = spec === undefined ? "Custom" : effectiveAmiFamily(spec);
  if (family === "AL2023" && (await serviceCidrOf(cluster, signal)) === undefined) {
    return invalid("ClusterCIDRResolutionFailed", "Failed to detect the cluster CIDR");
  }
  if (!FAMILIES_WITH_USER_DATA.includes(family)) return invalid("UnsupportedAMIFamily", `AMI family ${family} is not supported yet`);
  const kubelet = readKubelet(spec?.kubelet);
  if (kubelet.kind === "invalid") return invalid(kubelet.reason, kubelet.message);
  const states = DEPENDENCIES.map((type) => status?.conditions?.find((condition) => condition.type === type)?.status ?? "Unknown");
  if (states.some((state) => state !== "True")) {
    const message = "Awaiting AMI, Instance Profile, Security Group, and Subnet resolution";
    const state = states.includes("False") ? "False" : "Unknown";
    return { status: {}, condition: { type: "ValidationSucceeded", status: state, reason: "DependenciesNotReady", message } };
  }
  const reserved = findReservedTag(spec?.tags);
  if (reserved !== undefined)
    return invalid("TagValidationFailed", `tag "${reserved}" is set by the controller and cannot be in spec.tags`);
  return { status: {}, condition: isTrue("ValidationSucceeded"), againMs: 10 * MINUTE_MS };
}

/** W-230: an error of the server leaves the condition as it was; any other means that the CIDR is not to be had. */
async function serviceCidrOf(cluster: ClusterKnowledge, signal?: AbortSignal): Promise<ClusterFacts["serviceCidr"]> {
  try {
    return (await cluster.get(signal)).serviceCidr;
  } catch (error) {
    if (error instanceof AwsError && error.fault === "client" && error.code !== "RequestLimitExceeded") return undefined;
    throw error;
  }
}

function isTrue(type: string): NonNullable<Finding["condition"]> {
  return { type, status: "True", reason: type, message: "" };
}

function no(type: string, reason: string, message: string): NonNullable<Finding["condition"]> {
  return { type, status: "False", reason, message };
}

function invalid(reason: string, message: string): Finding {
  return { status: {}, condition: no("ValidationSucceeded", reason, message) };
}
