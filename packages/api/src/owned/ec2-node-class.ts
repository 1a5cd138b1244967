/** EC2NodeClass: how nodes are made in EC2. Rules A-63…. */
import Type, { type Static } from "typebox";
import type { ObjectMeta } from "../kubernetes/meta.ts";
import { AMI_FAMILIES } from "./choices.ts";
import { plainConditions } from "./condition.ts";
import {
  amiSelectorTerms,
  capacityReservationSelectorTerms,
  placementGroupSelector,
  securityGroupSelectorTerms,
  subnetSelectorTerms,
} from "./ec2-selectors.ts";
import { choice, type Frozen, flag, int32, int64, map, rules, text, time } from "./fields.ts";

/** A-70, with its gaps (`18Ti`, `19Ti`, `28Ti` …). */
const VOLUME_SIZE =
  "^((?:[1-9][0-9]{0,3}|[1-4][0-9]{4}|[5][0-8][0-9]{3}|59000)Gi|(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|[6][0-3][0-9]{3}|64000)G|([1-9]||[1-5][0-7]|58)Ti|([1-9]||[1-5][0-9]|6[0-3]|64)T)$";

const RESERVED_TAGS = ["eks:eks-cluster-name", "karpenter.sh/nodepool", "karpenter.sh/nodeclaim", "karpenter.k8s.aws/ec2nodeclass"];
const tags = map(Type.String(), "Tags of everything that is made in EC2 for the nodes.", {
  ...rules(
    { rule: "self.all(key, key != '')", message: "empty tag keys aren't supported" },
    ...RESERVED_TAGS.map((key) => ({ rule: `self.all(key, key != '${key}')`, message: `tag contains a restricted tag "${key}"` })),
    {
      rule: "self.all(key, !key.startsWith('kubernetes.io/cluster'))",
      message: 'tag contains a restricted tag that begins with "kubernetes.io/cluster"',
    },
  ),
});

const ebs = Type.Object(
  {
    deleteOnTermination: Type.Optional(flag("Whether the volume goes with the instance.")),
    encrypted: Type.Optional(flag("Whether the volume is encrypted.")),
    iops: Type.Optional(int64("Operations per second.")),
    kmsKeyID: Type.Optional(text("Key that encrypts the volume.")),
    snapshotID: Type.Optional(text("Snapshot that the volume is made from.")),
    throughput: Type.Optional(int64("MiB per second, for gp3.")),
    volumeInitializationRate: Type.Optional(int32("MiB per second at which a snapshot is fetched.", { minimum: 100, maximum: 300 })),
    volumeSize: Type.Optional(text("Size of the volume in Gi, G, Ti or T.", { pattern: VOLUME_SIZE })),
    volumeType: Type.Optional(choice(["standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"], "Type of the volume.")),
  },
  {
    description: "The EBS volume.",
    ...rules(
      { rule: "has(self.snapshotID) || has(self.volumeSize)", message: "snapshotID or volumeSize must be defined" },
      {
        rule: "!has(self.volumeInitializationRate) || (has(self.snapshotID) && self.snapshotID != '')",
        message: "snapshotID must be set when volumeInitializationRate is set",
        fieldPath: ".volumeInitializationRate",
      },
    ),
  },
);
const blockDeviceMappings = Type.Array(
  Type.Object({
    deviceName: Type.Optional(text("Name of the device, as /dev/xvda.")),
    ebs: Type.Optional(ebs),
    rootVolume: Type.Optional(flag("Whether the kubelet's data is on this volume.")),
  }),
  {
    description: "Volumes of the nodes.",
    maxItems: 50,
    ...rules({
      rule: "self.filter(mapping, has(mapping.rootVolume) && mapping.rootVolume).size() <= 1",
      message: "must have only one blockDeviceMappings with rootVolume",
    }),
  },
);

const networkInterfaces = Type.Array(
  Type.Object({
    networkCardIndex: int32("Index of the network card.", { minimum: 0 }),
    deviceIndex: int32("Index of the device on its card.", { minimum: 0 }),
    interfaceType: choice(["interface", "efa-only"], "Type of the interface."),
  }),
  {
    description: "Network interfaces that the nodes start with.",
    maxItems: 150,
    ...rules(
      {
        rule: "self.size() == 0 || self.exists(one, one.networkCardIndex == 0 && one.deviceIndex == 0 && one.interfaceType == 'interface')",
        message: "must include an interface of type 'interface' with networkCardIndex 0 and deviceIndex 0",
      },
      {
        rule: "self.all(one, self.exists_one(other, other.networkCardIndex == one.networkCardIndex && other.deviceIndex == one.deviceIndex))",
        message: "the pair of networkCardIndex and deviceIndex must be unique",
      },
      {
        rule: "self.all(one, one.interfaceType != 'efa-only' || self.exists_one(other, other.interfaceType == 'efa-only' && other.networkCardIndex == one.networkCardIndex))",
        message: "only one efa-only interface is allowed per network card",
      },
    ),
  },
);

const METADATA_DEFAULTS = { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required" };
const metadataOptions = Type.Object(
  {
    httpEndpoint: Type.Optional(choice(["enabled", "disabled"], "Whether instances can read their metadata.", { default: "enabled" })),
    httpProtocolIPv6: Type.Optional(choice(["enabled", "disabled"], "Whether they can over IPv6.", { default: "disabled" })),
    httpPutResponseHopLimit: Type.Optional(int64("How many hops an answer may take.", { default: 1, minimum: 1, maximum: 64 })),
    httpTokens: Type.Optional(choice(["required", "optional"], "Whether a session token is needed.", { default: "required" })),
  },
  { description: "The instances' metadata service.", default: METADATA_DEFAULTS },
);

const connectionTracking = Type.Object(
  {
    tcpEstablishedTimeout: Type.Optional(
      int32("Seconds after which an idle TCP connection is forgotten.", { minimum: 60, maximum: 432000 }),
    ),
    udpStreamTimeout: Type.Optional(int32("Seconds after which an idle UDP stream is forgotten.", { minimum: 60, maximum: 180 })),
    udpTimeout: Type.Optional(int32("Seconds after which an idle UDP flow in one direction is forgotten.", { minimum: 30, maximum: 60 })),
  },
  {
    description: "How long network interfaces remember idle connections.",
    ...rules({
      rule: "has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)",
      message: "at least one of ['tcpEstablishedTimeout', 'udpStreamTimeout', 'udpTimeout'] must be set",
    }),
  },
);

/** Open (A-73b): the controller checks it, admission keeps whatever is written. */
const kubelet = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  description: "Settings of the kubelets, as in KubeletConfiguration.",
  "x-kubernetes-preserve-unknown-fields": true,
});

const FAMILY_OF_ALIAS = [
  ["al2", "AL2"],
  ["al2023", "AL2023"],
  ["bottlerocket", "Bottlerocket"],
  ["windows2019", "Windows2019"],
  ["windows2022", "Windows2022"],
  ["windows2025", "Windows2025"],
] as const;
const aliasAgrees = FAMILY_OF_ALIAS.map(([alias, family]) => `(self.amiFamily == '${family}' && term.alias.startsWith('${alias}@'))`).join(
  " || ",
);

const spec = Type.Object(
  {
    subnetSelectorTerms,
    securityGroupSelectorTerms,
    capacityReservationSelectorTerms: Type.Optional(capacityReservationSelectorTerms),
    amiSelectorTerms,
    amiFamily: Type.Optional(choice([...AMI_FAMILIES], "Family of the image: how user data and devices are made.")),
    placementGroupSelector: Type.Optional(placementGroupSelector),
    associatePublicIPAddress: Type.Optional(flag("Whether instances get a public address.")),
    ipPrefixCount: Type.Optional(int32("How many IPv4 prefixes the primary interface gets.", { minimum: 0 })),
    userData: Type.Optional(text("User data that is merged with the family's own.")),
    role: Type.Optional(text("IAM role of the nodes; an instance profile is made for it.", { minLength: 1 })),
    instanceProfile: Type.Optional(text("Instance profile of the nodes, where it exists already.", { minLength: 1 })),
    tags: Type.Optional(tags),
    kubelet: Type.Optional(kubelet),
    blockDeviceMappings: Type.Optional(blockDeviceMappings),
    instanceStorePolicy: Type.Optional(choice(["RAID0"], "How local disks are used.")),
    networkInterfaces: Type.Optional(networkInterfaces),
    detailedMonitoring: Type.Optional(flag("Whether instances report every minute.")),
    metadataOptions: Type.Optional(metadataOptions),
    enclaveOptions: Type.Optional(
      Type.Object({ enabled: flag("Whether instances can run Nitro Enclaves.") }, { description: "Nitro Enclaves." }),
    ),
    connectionTracking: Type.Optional(connectionTracking),
    context: Type.Optional(text("Context of the fleet request.")),
    cpuOptions: Type.Optional(
      Type.Object(
        { nestedVirtualization: Type.Optional(choice(["enabled", "disabled"], "Whether instances can run virtual machines.")) },
        { description: "Options of the processors." },
      ),
    ),
  },
  {
    description: "How nodes are made.",
    ...rules(
      { rule: "has(self.role) != has(self.instanceProfile)", message: "must specify exactly one of ['role', 'instanceProfile']" },
      {
        rule: "has(self.amiFamily) || self.amiSelectorTerms.exists(term, has(term.alias))",
        message: "must specify amiFamily if amiSelectorTerms does not contain an alias",
      },
      {
        rule: `!has(self.amiFamily) || self.amiFamily == 'Custom' || !self.amiSelectorTerms.exists(term, has(term.alias) && !(${aliasAgrees}))`,
        message: "if set, amiFamily must be 'Custom' or the family of the alias",
        fieldPath: ".amiFamily",
      },
    ),
  },
);

const reservation = Type.Object({
  availabilityZone: text("Zone of the reservation."),
  endTime: Type.Optional(time("When the reservation ends.")),
  id: text("ID of the reservation.", { pattern: "^cr-[0-9a-z]+$" }),
  instanceMatchCriteria: choice(["open", "targeted"], "How instances come into the reservation."),
  instanceType: text("Instance type that is reserved."),
  interruptible: Type.Optional(flag("Whether the owner may take the instances back.")),
  ownerID: text("Account that owns the reservation.", { pattern: "^[0-9]{12}$" }),
  reservationType: Type.Optional(choice(["default", "capacity-block"], "Type of the reservation.", { default: "default" })),
  state: Type.Optional(choice(["active", "expiring"], "Whether the reservation is about to end.", { default: "active" })),
});

const imageRequirement = Type.Object({
  key: text("The label's key."),
  operator: text("How the label's value relates to the values."),
  values: Type.Optional(Type.Array(Type.String(), { description: "What the operator compares with." })),
});

const status = Type.Object(
  {
    subnets: Type.Optional(
      Type.Array(
        Type.Object({
          id: text("ID of the subnet."),
          zone: text("Zone of the subnet."),
          zoneID: Type.Optional(text("The zone's name that is the same in all accounts.")),
        }),
        { description: "The subnets that the terms select." },
      ),
    ),
    securityGroups: Type.Optional(
      Type.Array(Type.Object({ id: text("ID of the group."), name: Type.Optional(text("Name of the group.")) }), {
        description: "The security groups that the terms select.",
      }),
    ),
    amis: Type.Optional(
      Type.Array(
        Type.Object({
          id: text("ID of the image."),
          name: Type.Optional(text("Name of the image.")),
          deprecated: Type.Optional(flag("Whether the image is deprecated.")),
          requirements: Type.Array(imageRequirement, { description: "Nodes that the image is for." }),
        }),
        { description: "The images that the terms select." },
      ),
    ),
    capacityReservations: Type.Optional(Type.Array(reservation, { description: "The capacity reservations that the terms select." })),
    instanceProfile: Type.Optional(text("The instance profile that the nodes get.")),
    conditions: plainConditions(),
  },
  { description: "What the settings came to." },
);

export const ec2NodeClassSchema = Type.Object(
  { spec: Type.Optional(spec), status: Type.Optional(status) },
  { description: "EC2NodeClass says how nodes are made in EC2." },
);

export type Ec2NodeClass = { readonly apiVersion?: string; readonly kind?: string; readonly metadata?: ObjectMeta } & Frozen<
  Static<typeof ec2NodeClassSchema>
>;
export type Ec2NodeClassSpec = NonNullable<Ec2NodeClass["spec"]>;
export type Ec2NodeClassStatus = NonNullable<Ec2NodeClass["status"]>;
