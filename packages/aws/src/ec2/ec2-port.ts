/**
 * What this provider asks of AWS: some calls of EC2, and the few of SSM, IAM, EKS and the price list that go with them. Fields are
 * named as AWS names them and trimmed to those that are read, so that an adapter over an SDK is thin; times are RFC 3339 texts.
 * Every call throws `AwsError` for a refusal and for silence.
 */
import type { InstanceTypeInfo, InstanceTypeOffering } from "./instance-type-info.ts";
import type {
  CreateFleetRequest,
  CreateFleetResult,
  Ec2Instance,
  FleetTagSpecification,
  LaunchTemplate,
  LaunchTemplateData,
  Tag,
} from "./launch-shapes.ts";

export interface Filter {
  readonly Name: string;
  readonly Values: readonly string[];
}

/** Of every call that answers in pages. */
export interface PageRequest {
  readonly Filters?: readonly Filter[];
  readonly MaxResults?: number;
  readonly NextToken?: string;
}

export interface Subnet {
  readonly SubnetId: string;
  readonly AvailabilityZone: string;
  readonly AvailabilityZoneId: string;
  readonly AvailableIpAddressCount: number;
  readonly VpcId?: string;
  readonly Tags?: readonly Tag[];
}

export interface SecurityGroup {
  readonly GroupId: string;
  readonly GroupName: string;
  readonly VpcId?: string;
  readonly Tags?: readonly Tag[];
}

export interface Image {
  readonly ImageId: string;
  readonly Name: string;
  readonly Architecture: string;
  readonly CreationDate?: string;
  readonly DeprecationTime?: string;
  readonly State?: string;
  readonly OwnerId?: string;
  readonly Tags?: readonly Tag[];
}

export interface AvailabilityZone {
  readonly ZoneName: string;
  readonly ZoneId: string;
  readonly State: string;
}

export interface SpotPrice {
  readonly InstanceType: string;
  readonly AvailabilityZone: string;
  /** USD per hour, as text. */
  readonly SpotPrice: string;
  readonly Timestamp: string;
  readonly ProductDescription?: string;
}

/** One row of the price list, reduced to what is read (I-907). */
export interface OnDemandPrice {
  readonly instanceType: string;
  readonly pricePerHour: number;
}

export interface InstanceProfile {
  readonly InstanceProfileName: string;
  readonly Path: string;
  readonly Roles: readonly { readonly RoleName: string }[];
  readonly Tags?: readonly Tag[];
}

export interface EksCluster {
  readonly name: string;
  readonly endpoint: string;
  /** `major.minor`. */
  readonly version: string;
  /** Base64. */
  readonly certificateAuthority?: string;
  readonly serviceIpv4Cidr?: string;
}

/** Name of a call → what goes in and what comes out. The one list that the port and its loopback form are made from. */
export interface Ec2Calls {
  describeInstanceTypes: Call<PageRequest, { readonly InstanceTypes: readonly InstanceTypeInfo[]; readonly NextToken?: string }>;
  describeInstanceTypeOfferings: Call<
    PageRequest & { readonly LocationType: "availability-zone" },
    { readonly InstanceTypeOfferings: readonly InstanceTypeOffering[]; readonly NextToken?: string }
  >;
  describeAvailabilityZones: Call<object, { readonly AvailabilityZones: readonly AvailabilityZone[] }>;
  describeSpotPriceHistory: Call<
    PageRequest & { readonly ProductDescriptions?: readonly string[]; readonly StartTime?: string },
    { readonly SpotPriceHistory: readonly SpotPrice[]; readonly NextToken?: string }
  >;
  /** I-905: the price list's own two queries are the adapter's business. */
  getOnDemandPrices: Call<{ readonly regionCode: string }, { readonly prices: readonly OnDemandPrice[] }>;
  describeSubnets: Call<PageRequest, { readonly Subnets: readonly Subnet[]; readonly NextToken?: string }>;
  describeSecurityGroups: Call<PageRequest, { readonly SecurityGroups: readonly SecurityGroup[]; readonly NextToken?: string }>;
  describeImages: Call<
    PageRequest & { readonly Owners?: readonly string[]; readonly IncludeDeprecated?: boolean },
    { readonly Images: readonly Image[]; readonly NextToken?: string }
  >;
  getParameter: Call<{ readonly Name: string }, { readonly Parameter: { readonly Name: string; readonly Value: string } }>;
  createLaunchTemplate: Call<
    {
      readonly LaunchTemplateName: string;
      readonly LaunchTemplateData: LaunchTemplateData;
      readonly TagSpecifications?: readonly FleetTagSpecification[];
      readonly ClientToken?: string;
    },
    { readonly LaunchTemplate: LaunchTemplate }
  >;
  describeLaunchTemplates: Call<
    PageRequest & { readonly LaunchTemplateNames?: readonly string[] },
    { readonly LaunchTemplates: readonly LaunchTemplate[]; readonly NextToken?: string }
  >;
  deleteLaunchTemplate: Call<{ readonly LaunchTemplateId?: string; readonly LaunchTemplateName?: string }, object>;
  createFleet: Call<CreateFleetRequest, CreateFleetResult>;
  describeInstances: Call<
    PageRequest & { readonly InstanceIds?: readonly string[] },
    { readonly Instances: readonly Ec2Instance[]; readonly NextToken?: string }
  >;
  terminateInstances: Call<
    { readonly InstanceIds: readonly string[] },
    { readonly TerminatingInstances: readonly { readonly InstanceId: string; readonly CurrentState: { readonly Name: string } }[] }
  >;
  createTags: Call<{ readonly Resources: readonly string[]; readonly Tags: readonly Tag[] }, object>;
  getInstanceProfile: Call<{ readonly InstanceProfileName: string }, { readonly InstanceProfile: InstanceProfile }>;
  listInstanceProfiles: Call<{ readonly PathPrefix: string }, { readonly InstanceProfiles: readonly InstanceProfile[] }>;
  createInstanceProfile: Call<
    { readonly InstanceProfileName: string; readonly Path: string; readonly Tags?: readonly Tag[] },
    { readonly InstanceProfile: InstanceProfile }
  >;
  addRoleToInstanceProfile: Call<{ readonly InstanceProfileName: string; readonly RoleName: string }, object>;
  removeRoleFromInstanceProfile: Call<{ readonly InstanceProfileName: string; readonly RoleName: string }, object>;
  deleteInstanceProfile: Call<{ readonly InstanceProfileName: string }, object>;
  describeCluster: Call<{ readonly name: string }, { readonly cluster: EksCluster }>;
}

interface Call<Request, Result> {
  readonly request: Request;
  readonly result: Result;
}

export type Ec2CallName = keyof Ec2Calls;

export type Ec2Port = {
  readonly [Name in Ec2CallName]: (request: Ec2Calls[Name]["request"], signal?: AbortSignal) => Promise<Ec2Calls[Name]["result"]>;
};

/** The compiler holds this to the list above: a missing or a superfluous name is an error. */
export const EC2_CALL_NAMES = Object.keys({
  describeInstanceTypes: 0,
  describeInstanceTypeOfferings: 0,
  describeAvailabilityZones: 0,
  describeSpotPriceHistory: 0,
  getOnDemandPrices: 0,
  describeSubnets: 0,
  describeSecurityGroups: 0,
  describeImages: 0,
  getParameter: 0,
  createLaunchTemplate: 0,
  describeLaunchTemplates: 0,
  deleteLaunchTemplate: 0,
  createFleet: 0,
  describeInstances: 0,
  terminateInstances: 0,
  createTags: 0,
  getInstanceProfile: 0,
  listInstanceProfiles: 0,
  createInstanceProfile: 0,
  addRoleToInstanceProfile: 0,
  removeRoleFromInstanceProfile: 0,
  deleteInstanceProfile: 0,
  describeCluster: 0,
} satisfies Record<Ec2CallName, 0>) as readonly Ec2CallName[];

/** Carries out the call of that name. */
export type Ec2Handler = (name: Ec2CallName, request: unknown, signal?: AbortSignal) => Promise<unknown>;

/** A port whose calls all go to one handler: over a wire, into a simulation, or on to another port. The handler answers for the types. */
export function ec2PortOf(handle: Ec2Handler): Ec2Port {
  return Object.fromEntries(
    EC2_CALL_NAMES.map((name) => [name, (request: unknown, signal?: AbortSignal) => handle(name, request, signal)]),
  ) as Ec2Port;
}

/** The other way round: which request goes with the name, only the sender's compiler knew. */
export function handlerOf(port: Ec2Port): Ec2Handler {
  return (name, request, signal) => (port[name] as (request: unknown, signal?: AbortSignal) => Promise<unknown>)(request, signal);
}
