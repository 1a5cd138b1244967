/** The CreateFleet request of one launch: launch templates, overrides and strategy. Rules W-500, W-625…W-632, I-1219, I-1302, X-56. */
import {
  type Ec2NodeClass,
  MIN_VALUES_RELAXED_ANNOTATION,
  type NodeClaim,
  PRICE_OVERLAY_ANNOTATION,
  REQUESTED_DRA_DRIVERS_ANNOTATION,
} from "@joinery/api";
import { type InstanceType, itemsMeet, Requirement } from "@joinery/scheduling";
import type { ClusterFacts } from "../cluster-facts.ts";
import type { CreateFleetRequest, FleetOverride, LaunchTemplateData, Tag } from "../ec2/launch-shapes.ts";
import type { Family } from "../instance-types/family.ts";
import { type Candidate, labelOf, zoneOf } from "./candidates.ts";
import { instanceTags } from "./launch-tags.ts";
import { launchTemplateData, launchTemplateName } from "./launch-template-data.ts";
import type { ChosenSubnet } from "./subnet-ledger.ts";
import { userData } from "./user-data.ts";

export interface LaunchWish {
  readonly nodeClass: Ec2NodeClass;
  readonly claim: NodeClaim;
  readonly cluster: ClusterFacts;
  readonly family: Family;
  readonly region: string;
  readonly candidates: readonly Candidate[];
  readonly capacityType: "spot" | "on-demand";
  /** By zone. */
  readonly subnets: ReadonlyMap<string, ChosenSubnet>;
  readonly tags: readonly Tag[];
}

export interface PreparedTemplate {
  readonly name: string;
  readonly data: LaunchTemplateData;
  readonly imageId: string;
  readonly candidates: readonly Candidate[];
}

const EFA = "vpc.amazonaws.com/efa";
const EFA_DRIVER = "dra.net";
const TENANCY_LABEL = "karpenter.k8s.aws/instance-tenancy";

/** One launch template per image, number of pods and number of EFA interfaces; types that no image fits are left out. */
export function prepareTemplates(wish: LaunchWish): PreparedTemplate[] {
  const { nodeClass, claim, cluster, family, region, capacityType, tags } = wish;
  const images = (nodeClass.status?.amis ?? []).map(({ id, requirements }) => ({
    id,
    wanted: requirements.map((item) => Requirement.of(item as Parameters<typeof Requirement.of>[0])),
  }));
  const tenancy = tenancyOf(claim);
  const groups = new Map<string, { imageId: string; podsMax: number; efaCount: number; candidates: Candidate[] }>();
  for (const candidate of wish.candidates) {
    const image = images.find(({ wanted }) => itemsMeet(wanted, candidate.type.requirements, true));
    if (image === undefined) continue;
    const podsMax = candidate.type.capacity.pods ?? 0;
    const efaCount = wantsEfa(claim) ? (candidate.type.capacity[EFA] ?? 0) : 0;
    const key = `${image.id}/${podsMax}/${efaCount}`;
    const group = groups.get(key) ?? { imageId: image.id, podsMax, efaCount, candidates: [] };
    group.candidates.push(candidate);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ imageId, podsMax, efaCount, candidates }) => {
    const data = launchTemplateData({
      nodeClass,
      family,
      imageId,
      userData: userData({ nodeClass, claim, cluster, family, capacityType, podsMax }),
      capacityType,
      tenancy,
      tags,
      efaCount,
      region,
    });
    return { name: launchTemplateName(data, cluster.name, nodeClass.metadata?.name ?? ""), data, imageId, candidates };
  });
}

/** Undefined where no override is left. */
export function fleetRequest(
  wish: LaunchWish,
  templates: readonly PreparedTemplate[],
  ClientToken: string,
): CreateFleetRequest | undefined {
  const { claim, nodeClass, capacityType, tags } = wish;
  const configs = templates.map((template) => ({
    LaunchTemplateSpecification: { LaunchTemplateName: template.name, Version: "$Latest" as const },
    Overrides: template.candidates.flatMap((candidate) => overridesOf(candidate, template.imageId, wish)),
  }));
  const LaunchTemplateConfigs = configs.filter(({ Overrides }) => Overrides.length > 0);
  if (LaunchTemplateConfigs.length === 0) return undefined;
  const annotations = claim.metadata?.annotations ?? {};
  const hasOverlay = PRICE_OVERLAY_ANNOTATION in annotations;
  const context = annotations[MIN_VALUES_RELAXED_ANNOTATION] === "true" ? undefined : nodeClass.spec?.context;
  return {
    Type: "instant",
    ClientToken,
    LaunchTemplateConfigs,
    TargetCapacitySpecification: { TotalTargetCapacity: 1, DefaultTargetCapacityType: capacityType },
    ...(capacityType === "spot"
      ? { SpotOptions: { AllocationStrategy: hasOverlay ? "capacity-optimized-prioritized" : "price-capacity-optimized" } }
      : { OnDemandOptions: { AllocationStrategy: hasOverlay ? "prioritized" : "lowest-price" } }),
    ...(context === undefined ? {} : { Context: context }),
    TagSpecifications: [
      { ResourceType: "instance", Tags: instanceTags(tags, claim) },
      { ResourceType: "volume", Tags: tags },
      { ResourceType: "fleet", Tags: tags },
    ],
  };
}

/** W-342: the addresses that a launch in the zone may take at least. */
export function fewestPods(candidates: readonly Candidate[], capacityType: string, zone: string): number {
  const inZone = candidates.filter(({ offerings }) => offerings.some((offering) => isOffered(offering, capacityType, zone)));
  const pods = inZone.map(({ type }) => type.capacity.pods ?? 0);
  return pods.length === 0 ? 0 : Math.min(...pods);
}

/** */
export function wantsEfa(claim: NodeClaim): boolean {
  const drivers = (claim.metadata?.annotations?.[REQUESTED_DRA_DRIVERS_ANNOTATION] ?? "").split(",").map((name) => name.trim());
  return Object.hasOwn(claim.spec.resources?.requests ?? {}, EFA) || drivers.includes(EFA_DRIVER);
}

export function findType(candidates: readonly Candidate[], name: string): InstanceType | undefined {
  return candidates.find(({ type }) => type.name === name)?.type;
}

/** W-625: per zone with a subnet, cheapest first. */
function overridesOf({ type, offerings }: Candidate, ImageId: string, { capacityType, subnets }: LaunchWish): FleetOverride[] {
  return offerings.flatMap((offering) => {
    const zone = zoneOf(offering);
    const subnet = subnets.get(zone);
    if (subnet === undefined || !isOffered(offering, capacityType, zone)) return [];
    return [{ InstanceType: type.name, SubnetId: subnet.id, AvailabilityZone: zone, ImageId, Priority: offering.priceUsdPerHour }];
  });
}

function isOffered(offering: Candidate["offerings"][number], capacityType: string, zone: string): boolean {
  return zoneOf(offering) === zone && labelOf(offering, "karpenter.sh/capacity-type") === capacityType;
}

/** W-622. */
export function tenancyOf({ spec }: NodeClaim): string {
  const item = spec.requirements.find(({ key }) => key === TENANCY_LABEL);
  if (item === undefined) return "default";
  const wanted = Requirement.of(item);
  return wanted.has("default") || !wanted.has("dedicated") ? "default" : "dedicated";
}
