/** CapacityBuffers of the input, and the pods that keep their room in the plan. Rules S-201, S-203, L-207…L-222. */
import {
  type CapacityBuffer,
  CapacityBuffers,
  Deployments,
  type Pod,
  PodTemplates,
  ReplicaSets,
  StatefulSets,
  type Workload,
} from "@joinery/api";
import {
  type BufferCondition,
  type BufferResolution,
  type BufferSources,
  bufferCondition,
  bufferOutcome,
  type Plan,
  type PodToPlace,
  resolveBuffer,
  type ScalableKind,
  virtualPods,
} from "@joinery/scheduling";
import type { ObjectSource } from "./input.ts";

export interface PlannedBuffer {
  /** `namespace/name`. */
  readonly name: string;
  readonly buffer: CapacityBuffer;
  readonly resolution: BufferResolution;
  readonly pods: readonly PodToPlace[];
}

/** What the plan says of one buffer. */
export interface BufferDocument {
  readonly buffer: string;
  readonly replicas: number;
  readonly provisioning?: BufferCondition;
}

/** Those that are not being deleted, as their controller would resolve them from the objects of the input. */
export function plannedBuffers(source: ObjectSource): readonly PlannedBuffer[] {
  const sources = bufferSources(source);
  return source
    .of(CapacityBuffers)
    .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
    .map((buffer) => {
      const resolution = resolveBuffer(buffer, sources);
      const pods = resolution.kind === "resolved" ? virtualPods(buffer, resolution.template, resolution.replicas) : [];
      return { name: `${buffer.metadata?.namespace}/${buffer.metadata?.name}`, buffer, resolution, pods };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What buffers of the input may refer to. */
export function bufferSources(source: Pick<ObjectSource, "of">): BufferSources {
  const workloads: Readonly<Record<ScalableKind, readonly Workload[]>> = {
    Deployment: source.of(Deployments),
    StatefulSet: source.of(StatefulSets),
    ReplicaSet: source.of(ReplicaSets),
  };
  const named =
    (namespace: string, name: string) =>
    ({ metadata }: Pick<Workload, "metadata">) =>
      metadata?.namespace === namespace && metadata.name === name;
  return {
    findPodTemplate: (namespace, name) => source.of(PodTemplates).find(named(namespace, name)),
    findWorkload: (kind, namespace, name) => workloads[kind].find(named(namespace, name)),
  };
}

/** In the order of their names. */
export function bufferDocuments(buffers: readonly PlannedBuffer[], plan: Plan): readonly BufferDocument[] {
  const pods = buffers.flatMap((buffer) => buffer.pods);
  const { places } = bufferOutcome(pods, plan);
  return buffers.map(({ name, resolution }) => {
    const replicas = resolution.kind === "resolved" ? resolution.replicas : 0;
    const condition = bufferCondition(resolution.kind === "resolved", replicas, places.get(name));
    const isUnready = resolution.kind === "unresolved" && condition !== undefined;
    const provisioning = isUnready ? { ...condition, message: resolution.message } : condition;
    return { buffer: name, replicas, ...(provisioning && { provisioning }) };
  });
}

/** The virtual pods as objects, for those who ask about one by its name or by that of its buffer. */
export function virtualPodObjects(buffers: readonly PlannedBuffer[]): readonly Pod[] {
  return buffers.flatMap(({ buffer, resolution, pods }) => {
    if (resolution.kind !== "resolved") return [];
    const { name = "", namespace = "", uid = "" } = buffer.metadata ?? {};
    const owner = { apiVersion: "autoscaling.x-k8s.io/v1beta1", kind: "CapacityBuffer", name, uid };
    return pods.map((pod): Pod => {
      const metadata = { name: pod.key.slice(namespace.length + 1), namespace, uid: pod.uid, ownerReferences: [owner] };
      return { metadata, spec: resolution.template.spec };
    });
  });
}
