/** Launch templates, fleets and instances, with the names that AWS gives to their fields. Sections 8, 9 and 11 of the launch chapter. */

export interface Tag {
  readonly Key: string;
  readonly Value: string;
}

export interface FleetTagSpecification {
  readonly ResourceType: "instance" | "volume" | "fleet" | "network-interface" | "spot-instances-request" | "launch-template";
  readonly Tags: readonly Tag[];
}

export interface BlockDeviceMapping {
  readonly DeviceName?: string;
  readonly Ebs?: {
    readonly DeleteOnTermination?: boolean;
    readonly Encrypted?: boolean;
    readonly Iops?: number;
    readonly KmsKeyId?: string;
    readonly SnapshotId?: string;
    readonly Throughput?: number;
    readonly VolumeInitializationRate?: number;
    /** GiB. */
    readonly VolumeSize?: number;
    readonly VolumeType?: string;
  };
}

export interface NetworkInterface {
  readonly DeviceIndex: number;
  readonly NetworkCardIndex?: number;
  readonly InterfaceType?: "interface" | "efa" | "efa-only";
  readonly Groups: readonly string[];
  readonly AssociatePublicIpAddress?: boolean;
  readonly Ipv4PrefixCount?: number;
  readonly ConnectionTrackingSpecification?: {
    readonly TcpEstablishedTimeout?: number;
    readonly UdpStreamTimeout?: number;
    readonly UdpTimeout?: number;
  };
}

export interface LaunchTemplateData {
  readonly ImageId: string;
  /** Base64. */
  readonly UserData: string;
  readonly IamInstanceProfile?: { readonly Name: string };
  readonly Monitoring: { readonly Enabled: boolean };
  readonly MetadataOptions: {
    readonly HttpEndpoint: string;
    readonly HttpProtocolIpv6?: string;
    readonly HttpPutResponseHopLimit: number;
    readonly HttpTokens: string;
    readonly InstanceMetadataTags: "disabled";
  };
  readonly BlockDeviceMappings?: readonly BlockDeviceMapping[];
  readonly NetworkInterfaces: readonly NetworkInterface[];
  readonly CpuOptions?: { readonly NestedVirtualization: string };
  readonly EnclaveOptions: { readonly Enabled: boolean };
  readonly Placement: { readonly Tenancy: string };
  readonly CapacityReservationSpecification?: { readonly CapacityReservationPreference: string };
  readonly TagSpecifications: readonly FleetTagSpecification[];
}

export interface LaunchTemplate {
  readonly LaunchTemplateId: string;
  readonly LaunchTemplateName: string;
  readonly Tags?: readonly Tag[];
}

export interface FleetOverride {
  readonly InstanceType: string;
  readonly SubnetId: string;
  readonly AvailabilityZone: string;
  readonly ImageId: string;
  readonly Priority: number;
}

export interface CreateFleetRequest {
  readonly Type: "instant";
  /** Equal tokens with equal parameters are one launch, however often they are sent. */
  readonly ClientToken?: string;
  readonly LaunchTemplateConfigs: readonly {
    readonly LaunchTemplateSpecification: { readonly LaunchTemplateName: string; readonly Version: "$Latest" };
    readonly Overrides: readonly FleetOverride[];
  }[];
  readonly TargetCapacitySpecification: { readonly TotalTargetCapacity: number; readonly DefaultTargetCapacityType: "spot" | "on-demand" };
  readonly SpotOptions?: { readonly AllocationStrategy: "price-capacity-optimized" | "capacity-optimized-prioritized" };
  readonly OnDemandOptions?: { readonly AllocationStrategy: "lowest-price" | "prioritized" };
  readonly Context?: string;
  readonly TagSpecifications: readonly FleetTagSpecification[];
}

export interface FleetError {
  readonly ErrorCode: string;
  readonly ErrorMessage: string;
  readonly LaunchTemplateAndOverrides?: { readonly Overrides?: Partial<FleetOverride> };
}

export interface CreateFleetResult {
  readonly FleetId: string;
  readonly Errors?: readonly FleetError[];
  readonly Instances?: readonly {
    readonly InstanceIds: readonly string[];
    readonly InstanceType: string;
    readonly Lifecycle: "spot" | "on-demand";
    readonly LaunchTemplateAndOverrides?: { readonly Overrides?: Partial<FleetOverride> };
  }[];
}

export type InstanceStateName = "pending" | "running" | "stopping" | "stopped" | "shutting-down" | "terminated";

export interface Ec2Instance {
  readonly InstanceId: string;
  readonly InstanceType: string;
  readonly ImageId: string;
  readonly State: { readonly Name: InstanceStateName };
  readonly Placement: { readonly AvailabilityZone: string; readonly Tenancy?: string };
  readonly SubnetId?: string;
  readonly PrivateDnsName?: string;
  readonly PrivateIpAddress?: string;
  /** Only of spot instances (W-701). */
  readonly SpotInstanceRequestId?: string;
  readonly LaunchTime: string;
  readonly Tags?: readonly Tag[];
}
