/** Every label, annotation, taint, finalizer and tag key that Joinery owns or reads. Rules A-81…A-97, V-4, V-6, X-33. */
import type { Taint } from "./kubernetes/pod.ts";

/** The groups whose labels the provisioning logic makes itself. */
export const KARPENTER_GROUP = "karpenter.sh";
export const AWS_GROUP = "karpenter.k8s.aws";
export const KWOK_GROUP = "karpenter.kwok.sh";

/** Labels of Karpenter on NodeClaims and Nodes (A-81… ). */
export const NODE_POOL_LABEL = "karpenter.sh/nodepool";
export const CAPACITY_TYPE_LABEL = "karpenter.sh/capacity-type";
export const REGISTERED_LABEL = "karpenter.sh/registered";
export const INITIALIZED_LABEL = "karpenter.sh/initialized";
export const DO_NOT_SYNC_TAINTS_LABEL = "karpenter.sh/do-not-sync-taints";
export const EC2_NODE_CLASS_LABEL = "karpenter.k8s.aws/ec2nodeclass";
export const KWOK_NODE_CLASS_LABEL = "karpenter.kwok.sh/kwoknodeclass";

/** Labels of Kubernetes. */
export const HOSTNAME_LABEL = "kubernetes.io/hostname";
export const ZONE_LABEL = "topology.kubernetes.io/zone";
export const REGION_LABEL = "topology.kubernetes.io/region";
export const INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type";
export const ARCH_LABEL = "kubernetes.io/arch";
export const OS_LABEL = "kubernetes.io/os";
export const WINDOWS_BUILD_LABEL = "node.kubernetes.io/windows-build";
/** Set to `karpenter` on a Node together with the disrupted taint, so that load balancers let go of it. */
export const EXCLUDE_FROM_LOAD_BALANCERS_LABEL = "node.kubernetes.io/exclude-from-external-load-balancers";

/** AWS's own label of a zone, stable between accounts. */
export const ZONE_ID_LABEL = "topology.k8s.aws/zone-id";
/** `fargate` on nodes of EKS Fargate. */
export const EKS_COMPUTE_TYPE_LABEL = "eks.amazonaws.com/compute-type";

/** Annotations (A-85…A-87, V-4). */
export const DO_NOT_DISRUPT_ANNOTATION = "karpenter.sh/do-not-disrupt";
export const DO_NOT_REPAIR_ANNOTATION = "karpenter.sh/do-not-repair";
export const DISRUPTION_COST_ANNOTATION = "karpenter.sh/disruption-cost";
/** Kubernetes' own: the ReplicaSet controller removes pods with a lower value first. */
export const POD_DELETION_COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";
export const REBOOT_PRE_BOOT_ID_ANNOTATION = "karpenter.sh/reboot-pre-boot-id";
export const REBOOT_GRACE_PERIOD_ANNOTATION = "karpenter.sh/reboot-termination-grace-period";
export const MIN_VALUES_RELAXED_ANNOTATION = "karpenter.sh/nodeclaim-min-values-relaxed";
export const REQUESTED_DRA_DRIVERS_ANNOTATION = "karpenter.sh/requested-dra-drivers";
export const PRICE_OVERLAY_ANNOTATION = "karpenter.sh/price-overlay-applied";
export const CAPACITY_OVERLAY_ANNOTATION = "karpenter.sh/capacity-overlay-applied";
export const NODE_POOL_HASH_ANNOTATION = "karpenter.sh/nodepool-hash";
export const NODE_POOL_HASH_VERSION_ANNOTATION = "karpenter.sh/nodepool-hash-version";
export const TERMINATION_TIMESTAMP_ANNOTATION = "karpenter.sh/nodeclaim-termination-timestamp";
export const BUFFER_FAKE_POD_ANNOTATION = "karpenter.sh/capacity-buffer-fake-pod";
export const BUFFER_NAME_ANNOTATION = "karpenter.sh/capacity-buffer-name";
export const BUFFER_NAMESPACE_ANNOTATION = "karpenter.sh/capacity-buffer-namespace";
export const EC2_NODE_CLASS_HASH_ANNOTATION = "karpenter.k8s.aws/ec2nodeclass-hash";
export const EC2_NODE_CLASS_HASH_VERSION_ANNOTATION = "karpenter.k8s.aws/ec2nodeclass-hash-version";
export const INSTANCE_PROFILE_ANNOTATION = "karpenter.k8s.aws/instance-profile-name";
export const TAGGED_ANNOTATION = "karpenter.k8s.aws/tagged";
export const CLUSTER_NAME_TAGGED_ANNOTATION = "compatibility.karpenter.k8s.aws/cluster-name-tagged";

/** Finalizers. */
export const TERMINATION_FINALIZER = "karpenter.sh/termination";
export const EC2_NODE_CLASS_FINALIZER = "karpenter.k8s.aws/termination";

/** Tags on EC2 resources that users may not set. */
export const NODE_CLAIM_TAG = "karpenter.sh/nodeclaim";
/** Joinery's own: lets a launch whose answer was lost be found again, by the one thing that never repeats. */
export const NODE_CLAIM_UID_TAG = "joinery.dev/nodeclaim-uid";
export const EKS_CLUSTER_NAME_TAG = "eks:eks-cluster-name";
export const CLUSTER_TAG_PREFIX = "kubernetes.io/cluster/";

/** Taints. */
export const DISRUPTED_TAINT: Taint = { key: "karpenter.sh/disrupted", effect: "NoSchedule" };
export const UNREGISTERED_TAINT: Taint = { key: "karpenter.sh/unregistered", effect: "NoExecute" };
export const REBOOTING_TAINT: Taint = { key: "karpenter.sh/rebooting", effect: "NoSchedule" };
export const READINESS_TAINT_PREFIX = "readiness.k8s.io/";

/** taints that go away by themselves while a node starts. Compared by key and effect; see `isEphemeralTaint`. */
export const EPHEMERAL_TAINTS: readonly Taint[] = [
  { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" },
  { key: "node.kubernetes.io/not-ready", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", effect: "NoSchedule" },
  { key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" },
  UNREGISTERED_TAINT,
];

/** A-93, with every taint below `readiness.k8s.io/`. */
export function isEphemeralTaint({ key, effect }: Taint): boolean {
  return key.startsWith(READINESS_TAINT_PREFIX) || EPHEMERAL_TAINTS.some((taint) => taint.key === key && taint.effect === effect);
}

export const CAPACITY_TYPES = ["on-demand", "spot", "reserved"] as const;
export type CapacityType = (typeof CAPACITY_TYPES)[number];

/** */
export const CORE_WELL_KNOWN_LABELS: ReadonlySet<string> = new Set([
  NODE_POOL_LABEL,
  CAPACITY_TYPE_LABEL,
  ZONE_LABEL,
  REGION_LABEL,
  INSTANCE_TYPE_LABEL,
  ARCH_LABEL,
  OS_LABEL,
  WINDOWS_BUILD_LABEL,
]);

/** What a NodeOverlay may not ask for: known only once an instance is launched. */
const AWS_LAUNCH_SUFFIXES = [
  "instance-tenancy",
  "capacity-reservation-type",
  "capacity-reservation-id",
  "capacity-reservation-interruptible",
  "placement-group-id",
  "placement-group-partition",
];

const AWS_INSTANCE_SUFFIXES = [
  "instance-encryption-in-transit-supported",
  "instance-category",
  "instance-hypervisor",
  "instance-family",
  "instance-generation",
  "instance-local-nvme",
  "instance-size",
  "instance-cpu",
  "instance-cpu-manufacturer",
  "instance-cpu-sustained-clock-speed-mhz",
  "instance-memory",
  "instance-ebs-bandwidth",
  "instance-network-bandwidth",
  "instance-gpu-name",
  "instance-gpu-manufacturer",
  "instance-gpu-count",
  "instance-gpu-memory",
  "instance-accelerator-name",
  "instance-accelerator-manufacturer",
  "instance-accelerator-count",
  "instance-capability-flex",
];

const awsLabel = (suffix: string) => `${AWS_GROUP}/${suffix}`;

/** A-90 without `nitro-sandbox`: what the AWS provider adds to the core's. */
export const AWS_WELL_KNOWN_LABELS: ReadonlySet<string> = new Set([
  ZONE_ID_LABEL,
  ...AWS_INSTANCE_SUFFIXES.map(awsLabel),
  ...AWS_LAUNCH_SUFFIXES.map(awsLabel),
]);

/** A-96 without `nitro-sandbox`: the only keys of the AWS domain that admission lets through in NodePools and NodeClaims. */
export const AWS_ADMITTED_LABELS: readonly string[] = [
  ...AWS_LAUNCH_SUFFIXES.map(awsLabel),
  EC2_NODE_CLASS_LABEL,
  ...AWS_INSTANCE_SUFFIXES.map(awsLabel),
];

/** the same for NodeOverlays. */
export const AWS_OVERLAY_ADMITTED_LABELS: readonly string[] = [EC2_NODE_CLASS_LABEL, ...AWS_INSTANCE_SUFFIXES.map(awsLabel)];

/** Section 8: what the KWOK provider adds. */
export const KWOK_WELL_KNOWN_LABELS: ReadonlySet<string> = new Set([
  "karpenter.kwok.sh/instance-cpu",
  "karpenter.kwok.sh/instance-memory",
  "karpenter.kwok.sh/instance-family",
  "karpenter.kwok.sh/instance-size",
]);

/** requirement keys of the KWOK domain that admission lets through. */
export const KWOK_ADMITTED_LABELS: readonly string[] = [KWOK_NODE_CLASS_LABEL, ...KWOK_WELL_KNOWN_LABELS];

/** What the labels of one cloud provider mean to validation and scheduling. */
export interface LabelVocabulary {
  /** labels that the provider puts on every fitting node. */
  readonly wellKnown: ReadonlySet<string>;
  /** domains that users may not label within, unless the label is well known. */
  readonly restrictedDomains: readonly string[];
  /** old key → key that means the same. */
  readonly normalized: Readonly<Record<string, string>>;
  /** keys with a closed set of values. */
  readonly knownValues: Readonly<Record<string, readonly string[]>>;
  /** resources that a NodeOverlay may not change. */
  readonly wellKnownResources: ReadonlySet<string>;
}

const CORE_NORMALIZED = {
  "failure-domain.beta.kubernetes.io/zone": ZONE_LABEL,
  "failure-domain.beta.kubernetes.io/region": REGION_LABEL,
  "beta.kubernetes.io/arch": ARCH_LABEL,
  "beta.kubernetes.io/os": OS_LABEL,
  "beta.kubernetes.io/instance-type": INSTANCE_TYPE_LABEL,
};
const CORE_RESOURCES = ["cpu", "memory", "ephemeral-storage", "pods"];

export const CORE_VOCABULARY: LabelVocabulary = {
  wellKnown: CORE_WELL_KNOWN_LABELS,
  restrictedDomains: [KARPENTER_GROUP],
  normalized: CORE_NORMALIZED,
  knownValues: { [CAPACITY_TYPE_LABEL]: CAPACITY_TYPES },
  wellKnownResources: new Set(CORE_RESOURCES),
};

export const AWS_VOCABULARY: LabelVocabulary = {
  wellKnown: new Set([...CORE_WELL_KNOWN_LABELS, ...AWS_WELL_KNOWN_LABELS]),
  restrictedDomains: [KARPENTER_GROUP, AWS_GROUP],
  normalized: { ...CORE_NORMALIZED, "topology.ebs.csi.aws.com/zone": ZONE_LABEL },
  knownValues: { [CAPACITY_TYPE_LABEL]: CAPACITY_TYPES, [awsLabel("instance-tenancy")]: ["default", "dedicated"] },
  wellKnownResources: new Set([
    ...CORE_RESOURCES,
    "vpc.amazonaws.com/pod-eni",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "habana.ai/gaudi",
    "vpc.amazonaws.com/efa",
  ]),
};

export const KWOK_VOCABULARY: LabelVocabulary = {
  ...CORE_VOCABULARY,
  wellKnown: new Set([...CORE_WELL_KNOWN_LABELS, ...KWOK_WELL_KNOWN_LABELS]),
  restrictedDomains: [KARPENTER_GROUP, KWOK_GROUP],
};

/** Labels that earlier APIs of Karpenter and node groups of EKS put on their nodes, and Joinery does not → what says the same today. */
export const LABEL_SUCCESSORS: Readonly<Record<string, string>> = {
  "karpenter.sh/provisioner-name": NODE_POOL_LABEL,
  "eks.amazonaws.com/capacityType": CAPACITY_TYPE_LABEL,
};

/** the key that a requirement, node selector or affinity really speaks of. */
export function normalizeLabel(key: string, { normalized }: LabelVocabulary = AWS_VOCABULARY): string {
  return Object.hasOwn(normalized, key) ? normalized[key]! : key;
}

/** may users not set this label, because the provisioning logic could contradict it? */
export function isRestrictedLabel(key: string, { wellKnown, restrictedDomains }: LabelVocabulary): boolean {
  if (wellKnown.has(key)) return false;
  const slash = key.indexOf("/");
  const domain = slash < 0 ? "" : key.slice(0, slash);
  return key === HOSTNAME_LABEL || restrictedDomains.some((restricted) => domain === restricted || domain.endsWith(`.${restricted}`));
}

/** the label that names the node class of a NodeClaim or Node, e.g. `karpenter.k8s.aws/ec2nodeclass`. */
export function nodeClassLabel({ group, kind }: { readonly group: string; readonly kind: string }): string {
  return `${group}/${kind.toLowerCase()}`;
}
