/** An EC2 instance as core sees it. Rules W-8, W-700…W-702, I-1701, I-1702. */
import {
  CAPACITY_TYPE_LABEL,
  type Ec2NodeClass,
  NODE_CLAIM_TAG,
  NODE_POOL_LABEL,
  type Resources,
  ZONE_ID_LABEL,
  ZONE_LABEL,
} from "@joinery/api";
import type { Instance } from "@joinery/core";
import { allocatableOf, decidedLabels, type InstanceType } from "@joinery/scheduling";
import type { Ec2Instance } from "../ec2/launch-shapes.ts";
import { tagValue } from "../launch/launch-tags.ts";

const EFA = "vpc.amazonaws.com/efa";
const TENANCY_LABEL = "karpenter.k8s.aws/instance-tenancy";

export interface InstanceFacts {
  readonly instance: Ec2Instance;
  /** undefined: not known (any more); then the labels and the capacity that follow from it are left out. */
  readonly type: InstanceType | undefined;
  readonly nodeClass: Ec2NodeClass | undefined;
  /** Whether interfaces of type `efa` are attached. */
  readonly hasEfa?: boolean;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function providerIdOf({ Placement, InstanceId }: Ec2Instance): string {
  return `aws:///${Placement.AvailabilityZone}/${InstanceId}`;
}

/** The last part; undefined where the text is no provider ID of EC2. */
export function instanceIdOf(providerId: string): string | undefined {
  return /^aws:\/\/\/[^/]+\/(i-[0-9a-z]+)$/.exec(providerId)?.[1];
}

export function instanceView({ instance, type, nodeClass, hasEfa = false, annotations = {} }: InstanceFacts): Instance {
  const shown = (resources: Resources) =>
    Object.fromEntries(Object.entries(resources).filter(([resource, amount]) => amount !== 0 && (hasEfa || resource !== EFA)));
  const createdAtMs = Date.parse(instance.LaunchTime);
  return {
    providerId: providerIdOf(instance),
    imageId: instance.ImageId,
    capacity: type === undefined ? {} : shown(type.capacity),
    allocatable: type === undefined ? {} : shown(allocatableOf(type)),
    labels: { ...decidedLabels(type?.requirements ?? []), ...placeLabels(instance, nodeClass) },
    annotations,
    createdAtMs,
    nodeClaimName: tagValue(instance.Tags, NODE_CLAIM_TAG),
    nodePoolName: tagValue(instance.Tags, NODE_POOL_LABEL),
    isTerminating: instance.State.Name === "shutting-down" || instance.State.Name === "terminated",
  };
}

/** W-701: only spot instances have a request. */
function capacityTypeOf({ SpotInstanceRequestId }: Ec2Instance): "spot" | "on-demand" {
  return SpotInstanceRequestId === undefined ? "on-demand" : "spot";
}

/** I-1702. */
function placeLabels(instance: Ec2Instance, nodeClass: Ec2NodeClass | undefined): Record<string, string> {
  const zone = instance.Placement.AvailabilityZone;
  const zoneId = nodeClass?.status?.subnets?.find((subnet) => subnet.zone === zone)?.zoneID;
  const nodePool = tagValue(instance.Tags, NODE_POOL_LABEL);
  return {
    [ZONE_LABEL]: zone,
    ...(zoneId === undefined ? {} : { [ZONE_ID_LABEL]: zoneId }),
    [CAPACITY_TYPE_LABEL]: capacityTypeOf(instance),
    [TENANCY_LABEL]: instance.Placement.Tenancy || "default",
    ...(nodePool === undefined || nodePool === "" ? {} : { [NODE_POOL_LABEL]: nodePool }),
  };
}
