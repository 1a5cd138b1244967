/**
 * Pods and nodes as Kubernetes' protobuf encoding has them: field numbers of `k8s.io/api/core/v1/generated.proto` and of
 * `k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto`, which never change. What is `optional…` is a pointer in the Go types beside them.
 */
import type {
  Affinity,
  Condition,
  Container,
  ContainerPort,
  ContainerStatus,
  LabelSelector,
  LabelSelectorRequirement,
  Node,
  NodeAffinity,
  NodeCondition,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  ObjectMeta,
  OwnerReference,
  Pod,
  PodAffinity,
  PodAffinityTerm,
  PodSpec,
  PodStatus,
  PreferredNodeTerm,
  ResourceRequirements,
  Taint,
  Toleration,
  TopologySpreadConstraint,
  Volume,
  WeightedPodAffinityTerm,
} from "@joinery/api";
import { AlikeReader } from "./alike-reader.ts";
import {
  flag,
  inlined,
  integer,
  Message,
  optionalFlag,
  optionalInteger,
  optionalText,
  own,
  part,
  parts,
  partsWhere,
  quantities,
  text,
  textMap,
  texts,
  time,
  unread,
} from "./message.ts";

const ownerReference = new Message<OwnerReference>({
  apiVersion: text(5),
  kind: text(1),
  name: text(3),
  uid: text(4),
  controller: optionalFlag(6),
  blockOwnerDeletion: optionalFlag(7),
});

const objectMeta = new Message<ObjectMeta>({
  name: own(text(1)),
  generateName: own(text(2)),
  namespace: text(3),
  uid: own(text(5)),
  resourceVersion: own(text(6)),
  generation: own(integer(7)),
  creationTimestamp: own(time(8)),
  deletionTimestamp: own(time(9)),
  deletionGracePeriodSeconds: own(optionalInteger(10)),
  labels: textMap(11),
  annotations: own(textMap(12)),
  ownerReferences: parts(13, ownerReference),
  finalizers: own(texts(14)),
  managedFields: unread,
});

const labelSelectorRequirement = new Message<LabelSelectorRequirement>({ key: text(1), operator: text(2), values: texts(3) });
const labelSelector = new Message<LabelSelector>({ matchLabels: textMap(1), matchExpressions: parts(2, labelSelectorRequirement) });

const nodeSelectorRequirement = new Message<NodeSelectorRequirement>({ key: text(1), operator: text(2), values: texts(3) });
const nodeSelectorTerm = new Message<NodeSelectorTerm>({
  matchExpressions: parts(1, nodeSelectorRequirement),
  matchFields: parts(2, nodeSelectorRequirement),
});
const nodeSelector = new Message<NonNullable<NodeAffinity["requiredDuringSchedulingIgnoredDuringExecution"]>>({
  nodeSelectorTerms: parts(1, nodeSelectorTerm),
});
const preferredNodeTerm = new Message<PreferredNodeTerm>({ weight: optionalInteger(1), preference: part(2, nodeSelectorTerm) });
const nodeAffinity = new Message<NodeAffinity>({
  requiredDuringSchedulingIgnoredDuringExecution: part(1, nodeSelector),
  preferredDuringSchedulingIgnoredDuringExecution: parts(2, preferredNodeTerm),
});

const podAffinityTerm = new Message<PodAffinityTerm>({
  labelSelector: part(1, labelSelector),
  namespaces: texts(2),
  topologyKey: text(3),
  namespaceSelector: part(4, labelSelector),
  matchLabelKeys: texts(5),
  mismatchLabelKeys: texts(6),
});
const weightedPodAffinityTerm = new Message<WeightedPodAffinityTerm>({
  weight: optionalInteger(1),
  podAffinityTerm: part(2, podAffinityTerm),
});
const podAffinity = new Message<PodAffinity>({
  requiredDuringSchedulingIgnoredDuringExecution: parts(1, podAffinityTerm),
  preferredDuringSchedulingIgnoredDuringExecution: parts(2, weightedPodAffinityTerm),
});
const affinity = new Message<Affinity>({
  nodeAffinity: part(1, nodeAffinity),
  podAffinity: part(2, podAffinity),
  podAntiAffinity: part(3, podAffinity),
});

const topologySpreadConstraint = new Message<TopologySpreadConstraint>({
  maxSkew: optionalInteger(1),
  topologyKey: text(2),
  whenUnsatisfiable: text(3),
  labelSelector: part(4, labelSelector),
  minDomains: optionalInteger(5),
  nodeAffinityPolicy: optionalText(6),
  nodeTaintsPolicy: optionalText(7),
  matchLabelKeys: texts(8),
});

const taint = new Message<Taint>({ key: text(1), value: text(2), effect: text(3), timeAdded: time(4) });
const toleration = new Message<Toleration>({
  key: text(1),
  operator: text(2),
  value: text(3),
  effect: text(4),
  tolerationSeconds: optionalInteger(5),
});

/** Of what only has to be there. */
const named = new Message<{ readonly name: string }>({ name: text(1) });

const resourceRequirements = new Message<ResourceRequirements>({ limits: quantities(1), requests: quantities(2), claims: parts(3, named) });

const containerPort = new Message<ContainerPort>({
  name: text(1),
  hostPort: integer(2),
  containerPort: optionalInteger(3),
  protocol: text(4),
  hostIP: text(5),
});

const container = new Message<Container>({
  name: text(1),
  image: unread,
  ports: parts(6, containerPort),
  resources: part(8, resourceRequirements),
  restartPolicy: optionalText(24),
});

type EphemeralSource = NonNullable<Volume["ephemeral"]>;
type ClaimTemplate = NonNullable<EphemeralSource["volumeClaimTemplate"]>;
const claimSpec = new Message<ClaimTemplate["spec"]>({ storageClassName: optionalText(5) });
const claimTemplate = new Message<ClaimTemplate>({ spec: part(2, claimSpec) });
const ephemeralSource = new Message<EphemeralSource>({ volumeClaimTemplate: part(1, claimTemplate) });
const claimSource = new Message<NonNullable<Volume["persistentVolumeClaim"]>>({ claimName: text(1) });
const volumeSource = new Message<Pick<Volume, "persistentVolumeClaim" | "ephemeral">>({
  persistentVolumeClaim: part(10, claimSource),
  ephemeral: part(29, ephemeralSource),
});
const volume = new Message<Pick<Volume, "name" | "persistentVolumeClaim" | "ephemeral">>({
  name: text(1),
  persistentVolumeClaim: inlined(2, volumeSource, "persistentVolumeClaim"),
  ephemeral: inlined(2, volumeSource, "ephemeral"),
});

const podSpec = new Message<PodSpec>({
  nodeName: own(text(10)),
  schedulerName: text(19),
  nodeSelector: textMap(7),
  affinity: part(18, affinity),
  tolerations: parts(22, toleration),
  topologySpreadConstraints: parts(33, topologySpreadConstraint),
  containers: parts(2, container),
  initContainers: parts(20, container),
  overhead: quantities(32),
  resources: part(40, resourceRequirements),
  priority: optionalInteger(25),
  priorityClassName: text(24),
  preemptionPolicy: optionalText(31),
  terminationGracePeriodSeconds: optionalInteger(4),
  hostNetwork: flag(11),
  restartPolicy: text(3),
  serviceAccountName: unread,
  // The others have names of their own in each pod, as the service account's has, and are no claims.
  volumes: partsWhere(1, volume, ({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim !== undefined || ephemeral !== undefined),
  schedulingGates: parts(38, named),
  resourceClaims: parts(39, named),
});

const condition = new Message<Condition>({
  type: text(1),
  status: text(2),
  reason: text(5),
  message: text(6),
  lastTransitionTime: time(4),
  observedGeneration: integer(7),
});

const containerStatus = new Message<Pick<ContainerStatus, "name" | "ready" | "restartCount" | "resources" | "allocatedResources">>({
  name: text(1),
  ready: unread,
  restartCount: unread,
  resources: part(11, resourceRequirements),
  allocatedResources: quantities(10),
});

const podStatus = new Message<PodStatus>({
  phase: own(text(1)),
  conditions: own(parts(2, condition)),
  nominatedNodeName: own(text(11)),
  startTime: own(time(7)),
  podIP: unread,
  hostIP: unread,
  reason: own(text(4)),
  message: own(text(3)),
  containerStatuses: parts(8, containerStatus),
  initContainerStatuses: parts(10, containerStatus),
});

/** The pods of a workload are alike: what they do not differ in is read once. */
export const pod = new AlikeReader(
  new Message<Omit<Pod, "apiVersion" | "kind">>({
    metadata: part(1, objectMeta),
    spec: part(2, podSpec),
    status: part(3, podStatus),
  }),
);

export const podOutline = new Message<Omit<Pod, "apiVersion" | "kind">>({
  metadata: part(1, objectMeta),
  spec: part(2, podSpec),
  status: unread,
});

const nodeSpec = new Message<NonNullable<Node["spec"]>>({
  providerID: text(3),
  taints: parts(5, taint),
  unschedulable: flag(4),
  podCIDR: unread,
});

const nodeCondition = new Message<NodeCondition>({
  type: text(1),
  status: text(2),
  lastHeartbeatTime: unread,
  lastTransitionTime: time(4),
  reason: text(5),
  message: text(6),
  observedGeneration: unread,
});

const nodeStatus = new Message<NonNullable<Node["status"]>>({
  capacity: quantities(1),
  allocatable: quantities(2),
  conditions: parts(4, nodeCondition),
  addresses: unread,
  nodeInfo: unread,
  phase: text(3),
});

export const node = new Message<Omit<Node, "apiVersion" | "kind">>({
  metadata: part(1, objectMeta),
  spec: part(2, nodeSpec),
  status: part(3, nodeStatus),
});

export const nodeOutline = new Message<Omit<Node, "apiVersion" | "kind">>({
  metadata: part(1, objectMeta),
  spec: part(2, nodeSpec),
  status: unread,
});
