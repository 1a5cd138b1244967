/** Which pods a CapacityBuffer keeps room for, and how many. Rules, L-207…L-214. */
import {
  bufferCount,
  type CapacityBuffer,
  type PodTemplate,
  type PodTemplateSpec,
  parseResources,
  podRequests,
  type Workload,
} from "@joinery/api";

const SCALABLE_KINDS = ["Deployment", "StatefulSet", "ReplicaSet"] as const;
export type ScalableKind = (typeof SCALABLE_KINDS)[number];

/** What a buffer may refer to. */
export interface BufferSources {
  findPodTemplate(namespace: string, name: string): PodTemplate | undefined;
  /** Of group `apps`. */
  findWorkload(kind: ScalableKind, namespace: string, name: string): Workload | undefined;
}

export type BufferResolution =
  | {
      readonly kind: "resolved";
      readonly template: PodTemplateSpec;
      readonly replicas: number;
      /** Set for a buffer with a pod template (L-208). */
      readonly podTemplate?: { readonly name: string; readonly generation: number };
    }
  | {
      readonly kind: "unresolved";
      readonly reason: "PodTemplateNotFound" | "ScalableRefNotFound" | "ResolutionFailed";
      readonly message: string;
      /** The reference names something that nothing can be read from: an error, not a lack (L-209). */
      readonly isError: boolean;
    };

/** Reads what the buffer refers to as it is now. */
export function resolveBuffer({ metadata, spec }: CapacityBuffer, sources: BufferSources): BufferResolution {
  const namespace = metadata?.namespace ?? "";
  const { podTemplateRef, scalableRef, replicas, percentage, limits } = spec;
  const size = {
    ...(replicas !== undefined && { replicas }),
    ...(limits !== undefined && { limits: parseResources(limits) }),
  };
  if (podTemplateRef !== undefined) {
    const found = sources.findPodTemplate(namespace, podTemplateRef.name);
    if (found === undefined) return missing("PodTemplateNotFound", "PodTemplate", namespace, podTemplateRef.name);
    const podTemplate = { name: podTemplateRef.name, generation: found.metadata?.generation ?? 0 };
    return {
      kind: "resolved",
      template: found.template,
      replicas: bufferCount({ ...size, requests: requestsOf(found.template) }),
      podTemplate,
    };
  }
  if (scalableRef === undefined) return failed("neither podTemplateRef nor scalableRef is set", false);
  const { apiGroup = "", name } = scalableRef;
  const kind = SCALABLE_KINDS.find((known) => known === scalableRef.kind);
  if (kind === undefined || (apiGroup !== "" && apiGroup !== "apps")) {
    const given = apiGroup === "" ? scalableRef.kind : `${scalableRef.kind} of ${apiGroup}`;
    return failed(`scalableRef names a ${given}; only ${SCALABLE_KINDS.join(", ")} of apps can be read`, true);
  }
  const workload = sources.findWorkload(kind, namespace, name);
  if (workload === undefined) return missing("ScalableRefNotFound", kind, namespace, name);
  const { template, replicas: scalableReplicas = 1 } = workload.spec;
  const count = bufferCount({ ...size, ...(percentage !== undefined && { percentage }), scalableReplicas, requests: requestsOf(template) });
  return { kind: "resolved", template, replicas: count };
}

function missing(reason: "PodTemplateNotFound" | "ScalableRefNotFound", kind: string, namespace: string, name: string): BufferResolution {
  return { kind: "unresolved", reason, message: `${kind} "${namespace}/${name}" not found`, isError: false };
}

function failed(message: string, isError: boolean): BufferResolution {
  return { kind: "unresolved", reason: "ResolutionFailed", message, isError };
}

/** L-213: what the containers ask for; that every pod is one pod is no request of theirs. */
function requestsOf({ spec }: PodTemplateSpec): ReturnType<typeof podRequests> {
  const { pods: _, ...requests } = podRequests({ spec });
  return requests;
}
