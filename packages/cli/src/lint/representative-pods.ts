/** One pod that stands for each workload, in place of the pods and workloads of the input. */
import {
  DaemonSets,
  type Kind,
  type KubeObject,
  PersistentVolumeClaims,
  PersistentVolumes,
  type Pod,
  Pods,
  StorageClasses,
} from "@joinery/api";
import type { ObjectSource } from "../plan/input.ts";
import type { Workload } from "./workloads.ts";

/** The input with one pending pod per workload in place of its pods and workloads. */
export function onePodEach(source: ObjectSource, workloads: readonly Workload[]): ObjectSource {
  const claims = knownClaims(source);
  const pods = workloads.map((workload) => podOf(workload, claims));
  const kept = (apiVersion: string, kind: string) => !(apiVersion === "apps/v1" && kind !== DaemonSets.kind) && apiVersion !== "batch/v1";
  const named = <T extends KubeObject>(apiVersion: string, kind: string): readonly T[] => {
    if (apiVersion === "v1" && kind === Pods.kind) return pods as readonly KubeObject[] as readonly T[];
    if (kind === "ReplicationController" || !kept(apiVersion, kind)) return [];
    return source.named(apiVersion, kind);
  };
  return {
    named,
    of: <T extends KubeObject>({ group, version, kind }: Kind<T>) => named(group === "" ? version : `${group}/${version}`, kind),
  };
}

/** Claims of which the input says where they are or may be: bound to a volume that is there, or of a class that is. */
function knownClaims(source: ObjectSource): ReadonlySet<string> {
  const volumes = new Set(source.of(PersistentVolumes).map(({ metadata }) => metadata?.name));
  const classes = new Set(source.of(StorageClasses).map(({ metadata }) => metadata?.name));
  const known = source.of(PersistentVolumeClaims).filter(({ spec: { volumeName, storageClassName } }) => {
    return volumeName === undefined ? classes.has(storageClassName) : volumes.has(volumeName);
  });
  return new Set(known.map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`));
}

/** Claims that the input does not have, or that the workload makes for itself, say nothing here. */
function podOf(workload: Workload, claims: ReadonlySet<string>): Pod {
  const { nodeName: _, schedulingGates: __, volumes, ...spec } = workload.spec;
  const { namespace, labels, annotations } = workload;
  const known = volumes?.filter(({ persistentVolumeClaim: claim, ephemeral }) => {
    if (ephemeral !== undefined) return false;
    return claim === undefined || claims.has(`${namespace}/${claim.claimName}`);
  });
  const name = podNameOf(workload);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, uid: `${namespace}/${name}`, labels, annotations },
    spec: { ...spec, ...(known && { volumes: known }) },
  };
}

/** `namespace/name` of the pod that stands for a workload. */
export function podKeyOf(workload: Workload): string {
  return `${workload.namespace}/${podNameOf(workload)}`;
}

function podNameOf({ kind, name }: Workload): string {
  return `${kind.toLowerCase()}.${name}`;
}
