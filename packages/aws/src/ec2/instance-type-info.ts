/** What EC2 says about an instance type, trimmed to the fields that sections 3, 4 and 8 of the instance type chapter read. */

export interface GpuDevice {
  readonly Name?: string;
  readonly Manufacturer?: string;
  readonly Count?: number;
  readonly MemoryInfo?: { readonly SizeInMiB?: number };
}

export interface NeuronDevice {
  readonly Name?: string;
  readonly Count?: number;
  readonly CoreInfo?: { readonly Count?: number };
}

export interface NetworkCard {
  readonly NetworkCardIndex?: number;
  readonly MaximumNetworkInterfaces?: number;
}

export interface InstanceTypeInfo {
  readonly InstanceType: string;
  readonly SupportedUsageClasses?: readonly string[];
  readonly SupportedVirtualizationTypes?: readonly string[];
  readonly BareMetal?: boolean;
  readonly Hypervisor?: string;
  readonly NitroEnclavesSupport?: string;
  readonly ProcessorInfo?: {
    readonly SupportedArchitectures?: readonly string[];
    readonly Manufacturer?: string;
    readonly SustainedClockSpeedInGhz?: number;
    readonly SupportedFeatures?: readonly string[];
  };
  readonly VCpuInfo?: { readonly DefaultVCpus?: number };
  readonly MemoryInfo?: { readonly SizeInMiB?: number };
  readonly InstanceStorageInfo?: { readonly TotalSizeInGB?: number; readonly NvmeSupport?: string };
  readonly EbsInfo?: {
    readonly EbsOptimizedSupport?: string;
    readonly EbsOptimizedInfo?: { readonly MaximumBandwidthInMbps?: number };
    readonly MaximumEbsAttachments?: number;
    readonly AttachmentLimitType?: string;
  };
  readonly NetworkInfo?: {
    readonly DefaultNetworkCardIndex?: number;
    readonly NetworkCards?: readonly NetworkCard[];
    readonly Ipv4AddressesPerInterface?: number;
    readonly EnaSupport?: string;
    readonly EncryptionInTransitSupported?: boolean;
    readonly EfaInfo?: { readonly MaximumEfaInterfaces?: number };
  };
  readonly GpuInfo?: { readonly Gpus?: readonly GpuDevice[] };
  readonly InferenceAcceleratorInfo?: { readonly Accelerators?: readonly GpuDevice[] };
  readonly NeuronInfo?: { readonly NeuronDevices?: readonly NeuronDevice[] };
  readonly PlacementGroupInfo?: { readonly SupportedStrategies?: readonly string[] };
}

export interface InstanceTypeOffering {
  readonly InstanceType: string;
  /** A zone's name. */
  readonly Location: string;
}
