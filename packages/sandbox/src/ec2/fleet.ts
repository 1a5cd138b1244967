/** CreateFleet of type `instant`: which override is launched, and an error for each pool that had to be passed over. */
import {
  AwsError,
  type CreateFleetRequest,
  type CreateFleetResult,
  type Ec2Catalogue,
  type Ec2Instance,
  type FleetError,
  type FleetOverride,
  type InstanceTypeInfo,
  type Tag,
} from "@joinery/aws";
import { type Clock, type Random, randomHex } from "@joinery/kube";
import type { CapacityPools, PoolKey } from "./capacity-pools.ts";
import type { Images } from "./images.ts";
import type { InstanceProfiles } from "./instance-profiles.ts";
import type { Instances } from "./instances.ts";
import type { LaunchTemplates, StoredTemplate } from "./launch-templates.ts";
import { machineOf, privateDnsName } from "./machine.ts";
import type { Network } from "./network.ts";
import type { Prices } from "./prices.ts";

export interface FleetRooms {
  readonly clock: Clock;
  readonly random: Random;
  readonly catalogue: Ec2Catalogue;
  readonly infos: ReadonlyMap<string, InstanceTypeInfo>;
  readonly pools: CapacityPools;
  readonly network: Network;
  readonly images: Images;
  readonly templates: LaunchTemplates;
  readonly profiles: InstanceProfiles;
  readonly prices: Prices;
  readonly instances: Instances;
}

interface Candidate {
  readonly template: StoredTemplate;
  readonly override: FleetOverride;
  readonly pool: PoolKey;
  readonly priceUsdPerHour: number;
  /** Lower is tried first. */
  readonly rank: number;
}

/** Launches what the target asks for, one by one; a fleet that gets nothing is a success with errors. */
export function createFleet(request: CreateFleetRequest, rooms: FleetRooms): CreateFleetResult {
  const { TotalTargetCapacity, DefaultTargetCapacityType } = request.TargetCapacitySpecification;
  const candidates = rankedCandidates(request, rooms);
  const errors: FleetError[] = [];
  const launched: NonNullable<CreateFleetResult["Instances"]>[number][] = [];
  for (const candidate of candidates) {
    if (launched.length === TotalTargetCapacity) break;
    const obstacle = findObstacle(candidate, rooms);
    const LaunchTemplateAndOverrides = { Overrides: candidate.override };
    if (obstacle !== undefined) errors.push({ ...obstacle, LaunchTemplateAndOverrides });
    while (obstacle === undefined && launched.length < TotalTargetCapacity && findObstacle(candidate, rooms) === undefined) {
      const instance = launch(candidate, request, rooms);
      launched.push({
        InstanceIds: [instance.InstanceId],
        InstanceType: instance.InstanceType,
        Lifecycle: DefaultTargetCapacityType,
        LaunchTemplateAndOverrides,
      });
    }
  }
  return { FleetId: `fleet-${randomHex(rooms.random, 32)}`, Errors: errors, Instances: launched };
}

function rankedCandidates(request: CreateFleetRequest, rooms: FleetRooms): Candidate[] {
  const capacityType = request.TargetCapacitySpecification.DefaultTargetCapacityType;
  const isPrioritized =
    request.SpotOptions?.AllocationStrategy === "capacity-optimized-prioritized" ||
    request.OnDemandOptions?.AllocationStrategy === "prioritized";
  const candidates = request.LaunchTemplateConfigs.flatMap(({ LaunchTemplateSpecification, Overrides }) => {
    const template = rooms.templates.get(LaunchTemplateSpecification.LaunchTemplateName);
    return Overrides.map((override): Candidate => {
      const pool = { instanceType: override.InstanceType, zone: override.AvailabilityZone, capacityType };
      const price = priceOf(pool, rooms) ?? Number.POSITIVE_INFINITY;
      const rank = isPrioritized ? override.Priority : price * (capacityType === "spot" ? scarcity(pool, rooms) : 1);
      return { template, override, pool, priceUsdPerHour: price, rank };
    });
  });
  if (candidates.length === 0) throw new AwsError("InvalidParameterValue", "A fleet needs at least one override");
  return candidates.sort((a, b) => a.rank - b.rank || (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** Price-capacity-optimised: nearly empty pools count as dearer than they are. */
function scarcity(pool: PoolKey, { pools, clock }: FleetRooms): number {
  return 1 + 0.25 / (1 + Math.max(0, pools.free(pool, clock.wallMs())));
}

function priceOf({ instanceType, zone, capacityType }: PoolKey, { prices, clock }: FleetRooms): number | undefined {
  return capacityType === "spot" ? prices.spot(instanceType, zone, clock.wallMs()) : prices.onDemand(instanceType);
}

function findObstacle(
  { template, override, pool }: Candidate,
  rooms: FleetRooms,
): Pick<FleetError, "ErrorCode" | "ErrorMessage"> | undefined {
  const { catalogue, images, infos, network, pools, profiles, clock } = rooms;
  const image = images.images.get(override.ImageId);
  const info = infos.get(pool.instanceType);
  const profile = template.data.IamInstanceProfile?.Name;
  const say = (ErrorCode: string, ErrorMessage: string) => ({ ErrorCode, ErrorMessage });
  if (image === undefined) return say("InvalidAMIID.NotFound", `The image id '[${override.ImageId}]' does not exist`);
  if (profile !== undefined && !profiles.has(profile)) {
    return say("InvalidParameterValue", `Value (${profile}) for parameter iamInstanceProfile.name is invalid`);
  }
  if (
    info === undefined ||
    !catalogue.zonesByType.get(pool.instanceType)?.includes(pool.zone) ||
    !info.SupportedUsageClasses?.includes(pool.capacityType)
  ) {
    return say("Unsupported", `Your requested instance type (${pool.instanceType}) is not supported in ${pool.zone}`);
  }
  if (!info.ProcessorInfo?.SupportedArchitectures?.includes(image.Architecture)) {
    return say(
      "InvalidParameterValue",
      `The architecture '${image.Architecture}' of the image does not match the instance type ${pool.instanceType}`,
    );
  }
  if (network.zoneOf(override.SubnetId) !== pool.zone)
    return say("InvalidParameterValue", `The subnet ${override.SubnetId} is not in ${pool.zone}`);
  if (network.free(override.SubnetId) <= 0) {
    return say("InsufficientFreeAddressesInSubnet", `There are not enough free addresses in subnet '${override.SubnetId}'`);
  }
  if (pools.free(pool, clock.wallMs()) <= 0) {
    const code = pool.capacityType === "spot" ? "UnfulfillableCapacity" : "InsufficientInstanceCapacity";
    return say(code, `We currently do not have sufficient ${pool.instanceType} capacity in ${pool.zone}`);
  }
  return undefined;
}

function launch({ template, override, pool, priceUsdPerHour }: Candidate, request: CreateFleetRequest, rooms: FleetRooms): Ec2Instance {
  const { catalogue, clock, images, infos, instances, network, pools, random } = rooms;
  const address = network.takeAddress(override.SubnetId);
  pools.take(pool);
  const instance: Ec2Instance = {
    InstanceId: `i-0${randomHex(random, 16)}`,
    InstanceType: pool.instanceType,
    ImageId: images.images.get(override.ImageId)?.ImageId ?? override.ImageId,
    State: { Name: "pending" },
    Placement: { AvailabilityZone: pool.zone, Tenancy: template.data.Placement.Tenancy },
    SubnetId: override.SubnetId,
    PrivateIpAddress: address,
    PrivateDnsName: privateDnsName(address, catalogue.region),
    ...(pool.capacityType === "spot" ? { SpotInstanceRequestId: `sir-${randomHex(random, 8)}` } : {}),
    LaunchTime: new Date(clock.wallMs()).toISOString(),
    Tags: tagsOf(request),
  };
  const info = infos.get(pool.instanceType);
  if (info === undefined) throw new Error(`Cannot launch ${pool.instanceType}: not in the catalogue`);
  const machine = machineOf({
    instance,
    info,
    zoneId: catalogue.zones.find(({ name }) => name === pool.zone)?.id ?? "",
    region: catalogue.region,
    userData: template.data.UserData,
    diskGib: template.data.BlockDeviceMappings?.[0]?.Ebs?.VolumeSize ?? 20,
    tables: catalogue.tables,
  });
  instances.start({ instance, machine, pool, priceUsdPerHour });
  return instance;
}

function tagsOf({ TagSpecifications }: CreateFleetRequest): readonly Tag[] {
  return TagSpecifications.find(({ ResourceType }) => ResourceType === "instance")?.Tags ?? [];
}

function nameOf({ override }: Candidate): string {
  return `${override.InstanceType}/${override.AvailabilityZone}/${override.SubnetId}`;
}
