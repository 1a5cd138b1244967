/** What a CapacityBuffer refers to, read as it is now. Rules L-206…L-213, L-218, L-220. */
import {
  type CapacityBuffer,
  Deployments,
  isConditionTrue,
  type Kind,
  type PodTemplateSpec,
  ReplicaSets,
  StatefulSets,
  type Workload,
} from "@joinery/api";
import { type KubeClient, withCondition } from "@joinery/kube";
import { type BufferResolution, type PodToPlace, resolveBuffer, type ScalableKind, virtualPods } from "@joinery/scheduling";
import type { Caches } from "../state/caches.ts";

export const SCALABLE_KINDS: Readonly<Record<ScalableKind, Kind<Workload>>> = {
  Deployment: Deployments,
  StatefulSet: StatefulSets,
  ReplicaSet: ReplicaSets,
};

const READY = "ReadyForProvisioning";

/** The workload is asked for: all of them in a cache would be a copy of every template. Throws when it cannot be read. */
export async function readResolution(
  buffer: CapacityBuffer,
  { caches, kube }: { readonly caches: Caches; readonly kube: KubeClient },
  signal: AbortSignal,
): Promise<BufferResolution> {
  const namespace = buffer.metadata?.namespace ?? "";
  const { scalableRef } = buffer.spec;
  const kind = scalableRef === undefined ? undefined : SCALABLE_KINDS[scalableRef.kind as ScalableKind];
  const workload = kind && scalableRef ? await kube.find(kind, { namespace, name: scalableRef.name }, signal) : undefined;
  return resolveBuffer(buffer, {
    findPodTemplate: (within, name) => caches.podTemplates.find(`${within}/${name}`),
    findWorkload: () => workload,
  });
}

/** The buffer with what was found in its status. */
export function withResolution(buffer: CapacityBuffer, resolution: BufferResolution, nowMs: number): CapacityBuffer {
  const { podTemplateRef: _, podTemplateGeneration: __, ...kept } = buffer.status ?? {};
  const base = { ...buffer.status, provisioningStrategy: buffer.spec.provisioningStrategy };
  if (resolution.kind === "unresolved")
    return withBufferCondition({ ...buffer, status: base }, { type: READY, status: "False", ...resolution }, nowMs);
  const { podTemplate, replicas } = resolution;
  const refs = podTemplate && { podTemplateRef: { name: podTemplate.name }, podTemplateGeneration: podTemplate.generation };
  const status = { ...kept, ...refs, provisioningStrategy: buffer.spec.provisioningStrategy, replicas };
  return withBufferCondition({ ...buffer, status }, { type: READY, status: "True", reason: "Resolved", message: "" }, nowMs);
}

export interface BufferWish {
  readonly type: "ReadyForProvisioning" | "Provisioning";
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** Section 1.2: an ordinary condition, whose time changes with its status alone. */
export function withBufferCondition(buffer: CapacityBuffer, { type, status, reason, message }: BufferWish, nowMs: number): CapacityBuffer {
  const held = buffer.status?.conditions;
  const observedGeneration = buffer.metadata?.generation;
  const wished = { type, status, reason, message, ...(observedGeneration !== undefined && { observedGeneration }) };
  const conditions = withCondition(held, wished as NonNullable<typeof held>[number], nowMs);
  return conditions === held ? buffer : { ...buffer, status: { ...buffer.status, conditions } };
}

export function isReadyForProvisioning(buffer: CapacityBuffer): boolean {
  return isConditionTrue(buffer, READY);
}

/** L-218: none for a buffer that is not ready or asks for nothing. */
export function podsOfBuffer(buffer: CapacityBuffer, template: PodTemplateSpec, { shapeOf }: Caches): readonly PodToPlace[] {
  const replicas = isReadyForProvisioning(buffer) ? (buffer.status?.replicas ?? 0) : 0;
  return virtualPods(buffer, template, replicas, shapeOf);
}
