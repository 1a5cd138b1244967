/**
 * Objects of a cluster as they arrive, without what nobody reads (law 5): a bound pod of 6 KB becomes one of a few hundred bytes, and
 * equal parts are one. What an edit may be proposed for stays whole, since a merge patch replaces lists as a whole.
 */
import {
  type Container,
  type ContainerStatus,
  type KubeObject,
  Nodes,
  type ObjectMeta,
  type Pod,
  type PodSpec,
  Pods,
  type ReplicaSet,
  ReplicaSets,
} from "@joinery/api";

/** Longer ones are records of tools, such as kubectl's last applied configuration; nothing that is read is as long. */
const ANNOTATION_LENGTH_MAX = 256;

export type Trim = <T extends KubeObject>(object: T) => T;

/** `object` carries its apiVersion and kind. */
export function createTrim(): Trim {
  const intern = createPartInterner();
  return (object) => {
    const metadata = object.metadata && trimMetadata(object.metadata);
    const slim = metadata === undefined ? object : { ...object, metadata };
    if (object.kind === Pods.kind) return trimPod(slim as KubeObject as Pod, intern) as KubeObject as typeof object;
    if (object.kind === Nodes.kind) return withoutImages(slim);
    if (object.kind === ReplicaSets.kind) return trimHistory(slim as KubeObject as ReplicaSet, intern) as KubeObject as typeof object;
    return slim;
  };
}

function trimMetadata({ managedFields: _, annotations, ...kept }: ObjectMeta): ObjectMeta {
  if (annotations === undefined) return kept;
  const short = Object.entries(annotations).filter(([key, text]) => text.length < ANNOTATION_LENGTH_MAX || key.includes("karpenter"));
  return short.length === 0 ? kept : { ...kept, annotations: Object.fromEntries(short) };
}

/** A pod that waits is kept whole: what would help it may be an edit of any of its lists. */
function trimPod(pod: Pod, intern: PartInterner): Pod {
  const { status } = pod;
  const isOver = status?.phase === "Succeeded" || status?.phase === "Failed";
  if (!pod.spec?.nodeName && !isOver) return pod;
  return {
    ...pod,
    ...(pod.metadata && { metadata: { ...pod.metadata, ...(pod.metadata.labels && { labels: intern(pod.metadata.labels) }) } }),
    spec: trimSpec(pod.spec, intern),
    ...(status && {
      status: {
        ...(status.phase && { phase: status.phase }),
        ...(status.startTime && { startTime: status.startTime }),
        ...(status.nominatedNodeName && { nominatedNodeName: status.nominatedNodeName }),
        ...(status.conditions && { conditions: status.conditions }),
        ...(status.containerStatuses && { containerStatuses: intern(status.containerStatuses.map(grants)) }),
        ...(status.initContainerStatuses && { initContainerStatuses: intern(status.initContainerStatuses.map(grants)) }),
      },
    }),
  };
}

/** Ten old ReplicaSets of each Deployment are usual; nobody edits what makes no pods any more. */
function trimHistory(set: ReplicaSet, intern: PartInterner): ReplicaSet {
  const { template, replicas } = set.spec;
  if (replicas !== 0 || template?.spec?.containers === undefined) return set;
  return { ...set, spec: { ...set.spec, template: { ...template, spec: trimSpec(template.spec, intern) } } };
}

function trimSpec(spec: PodSpec, intern: PartInterner): PodSpec {
  const { containers, initContainers, volumes, tolerations, affinity, topologySpreadConstraints, ...rest } = spec;
  const claimed = volumes?.filter(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim || ephemeral);
  return {
    ...rest,
    containers: intern(containers.map(trimContainer)),
    ...(initContainers && { initContainers: intern(initContainers.map(trimContainer)) }),
    ...(claimed?.length && { volumes: claimed }),
    ...(tolerations && { tolerations: intern(tolerations) }),
    ...(affinity && { affinity: intern(affinity) }),
    ...(topologySpreadConstraints && { topologySpreadConstraints: intern(topologySpreadConstraints) }),
  };
}

function trimContainer({ name, image, resources, ports, restartPolicy }: Container): Container {
  return {
    name,
    ...(image !== undefined && { image }),
    ...(resources && { resources }),
    ...(ports && { ports }),
    ...(restartPolicy && { restartPolicy }),
  };
}

/** What the kubelet granted a container, which may be more than it asks for while it is resized. */
function grants({ name, resources, allocatedResources }: ContainerStatus): ContainerStatus {
  return { name, ...(resources && { resources }), ...(allocatedResources && { allocatedResources }) };
}

function withoutImages<T extends KubeObject>(node: T): T {
  const { status } = node as { readonly status?: { readonly images?: unknown } };
  if (status === undefined) return node;
  const { images: _, ...kept } = status;
  return { ...node, status: kept };
}

/** Gives the first of equal values. */
type PartInterner = <T>(part: T) => T;

function createPartInterner(): PartInterner {
  const parts = new Map<string, unknown>();
  return <T>(part: T): T => {
    const text = JSON.stringify(part);
    const known = parts.get(text);
    // Equal texts are equal values of the same type, since they come from the same field.
    if (known !== undefined) return known as T;
    parts.set(text, part);
    return part;
  };
}
