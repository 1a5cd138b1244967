/** What one scheduling cycle reads of a pod, computed once. */
import type { ContainerPort, Pod, Resources } from "@joinery/api";
import { podRequests } from "@joinery/api";
import { keyOf } from "@joinery/kube";
import { controllerOf, timeMs } from "../controllers/pod-facts.ts";

export interface HostPort {
  readonly port: number;
  readonly ip: string;
  readonly protocol: string;
}

export interface PodInfo {
  readonly pod: Pod;
  /** `namespace/name`. */
  readonly key: string;
  readonly uid: string;
  readonly namespace: string;
  readonly requests: Resources;
  readonly hostPorts: readonly HostPort[];
  readonly priority: number;
  readonly createdMs: number;
  /** Resource version as a number: the order of writes. */
  readonly version: number;
  /** Names of its PersistentVolumeClaims, generic ephemeral ones included. */
  readonly claims: readonly string[];
  /** Pods with the same text are the same to every filter; undefined when this one is like no other. */
  readonly shape: string | undefined;
}

export function podInfo(pod: Pod): PodInfo {
  const claims = claimNames(pod);
  return {
    pod,
    key: keyOf(pod),
    uid: pod.metadata?.uid ?? "",
    namespace: pod.metadata?.namespace ?? "",
    requests: podRequests(pod),
    hostPorts: hostPorts(pod),
    priority: pod.spec.priority ?? 0,
    createdMs: timeMs(pod.metadata?.creationTimestamp),
    version: Number(pod.metadata?.resourceVersion ?? 0),
    claims,
    shape: claims.length === 0 ? shapeOf(pod) : undefined,
  };
}

export function claimNames(pod: Pod): readonly string[] {
  return (pod.spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) {
      return [persistentVolumeClaim.claimName];
    }
    return ephemeral === undefined ? [] : [`${pod.metadata?.name}-${name}`];
  });
}

function hostPorts(pod: Pod): readonly HostPort[] {
  const wanted = (port: ContainerPort): number => port.hostPort ?? (pod.spec.hostNetwork === true ? port.containerPort : 0);
  const ports = [...(pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always"), ...pod.spec.containers]
    .flatMap((container) => container.ports ?? [])
    .filter((port) => wanted(port) > 0);
  return ports.map((port) => ({ port: wanted(port), ip: port.hostIP ?? "0.0.0.0", protocol: port.protocol ?? "TCP" }));
}

/** The pods of one template differ in nothing that filters read; those of DaemonSets and StatefulSets do. */
function shapeOf(pod: Pod): string | undefined {
  const owner = controllerOf(pod);
  if (owner?.kind !== "ReplicaSet" && owner?.kind !== "Job") {
    return undefined;
  }
  return `${owner.uid}/${pod.metadata?.labels?.["pod-template-hash"] ?? ""}`;
}
