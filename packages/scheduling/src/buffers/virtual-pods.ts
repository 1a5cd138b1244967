/** Pods that do not exist: each keeps room in the plan for one that may come. Rules S-201, L-218, L-219. */
import type { CapacityBuffer, PodTemplateSpec } from "@joinery/api";
import { shapeOf } from "../pods/pod-shape.ts";
import type { PodShape, PodToPlace } from "../problem.ts";

/** Of equal size, pods that exist are placed first; Karpenter's virtual pods have no age and come before all (S-82). */
const AFTER_ALL_MS = Number.MAX_SAFE_INTEGER;

/**
 * For a buffer that is ready for provisioning. Deterministic names and UIDs; all pods share one shape.
 * @param shapeFor makes the shape, so that callers can intern it and give it default constraints
 */
export function virtualPods(
  { metadata = {} }: CapacityBuffer,
  template: PodTemplateSpec,
  replicas: number,
  shapeFor: (pod: Parameters<typeof shapeOf>[0]) => PodShape = shapeOf,
): readonly PodToPlace[] {
  const { name = "", namespace = "", uid = "" } = metadata;
  const labels = template.metadata?.labels;
  const shape = shapeFor({
    metadata: { namespace, name: `capacity-buffer-${name}`, ...(labels && { labels }) },
    spec: sanitized(template),
  });
  const buffer = `${namespace}/${name}`;
  return Array.from({ length: replicas }, (_, at): PodToPlace => {
    const number = at + 1;
    return { key: `${namespace}/capacity-buffer-${name}-${number}`, uid: `${uid}-${number}`, createdAtMs: AFTER_ALL_MS, shape, buffer };
  });
}

/** L-219: nothing is mounted for a pod that does not exist. */
function sanitized({ spec }: PodTemplateSpec): PodTemplateSpec["spec"] {
  const { nodeName: _, volumes = [], ...rest } = spec;
  return { ...rest, volumes: volumes.filter(({ persistentVolumeClaim, ephemeral }) => !persistentVolumeClaim && !ephemeral) };
}
