/** Volumes: where bound ones can be reached, where new ones may be made, and how many a node takes. */
import { isDefaultClass, type PersistentVolumeClaim, type StorageClass } from "@joinery/api";
import type { ClusterViews } from "../world/context.ts";
import { matchesTerm } from "./node-match.ts";
import type { PodInfo } from "./pod-info.ts";
import { type Refusal, resolvable, unresolvable } from "./refusal.ts";
import type { NodeInfo } from "./snapshot.ts";

export interface VolumeState {
  readonly claims: readonly PersistentVolumeClaim[];
  /** Claims that wait for this pod to choose a node. */
  readonly unbound: readonly PersistentVolumeClaim[];
  /** Said instead of looking at nodes. */
  readonly prefilter?: string;
}

export function volumeState({ claims, namespace }: PodInfo, views: ClusterViews): VolumeState {
  const found: PersistentVolumeClaim[] = [];
  for (const name of claims) {
    const claim = views.claims.find(`${namespace}/${name}`);
    if (claim === undefined) {
      return { claims: [], unbound: [], prefilter: `persistentvolumeclaim "${name}" not found` };
    }
    if (views.claims.isLeaving(claim)) {
      return { claims: [], unbound: [], prefilter: `persistentvolumeclaim "${name}" is being deleted` };
    }
    found.push(claim);
  }
  const unbound = found.filter(({ spec }) => spec.volumeName === undefined || spec.volumeName === "");
  const isImmediate = unbound.some((claim) => storageClassOf(claim, views)?.volumeBindingMode !== "WaitForFirstConsumer");
  return isImmediate
    ? { claims: found, unbound, prefilter: "pod has unbound immediate PersistentVolumeClaims" }
    : { claims: found, unbound };
}

export function storageClassOf({ spec }: PersistentVolumeClaim, views: ClusterViews): StorageClass | undefined {
  if (spec.storageClassName !== undefined) {
    return views.storageClasses.find(spec.storageClassName);
  }
  return views.storageClasses.values().find(isDefaultClass);
}

export function refuseByVolumes({ claims, unbound }: VolumeState, node: NodeInfo, views: ClusterViews): Refusal | undefined {
  if (claims.length === 0) {
    return undefined;
  }
  for (const { spec } of claims) {
    const volume = spec.volumeName === undefined ? undefined : views.volumes.find(spec.volumeName);
    const terms = volume?.spec.nodeAffinity?.required?.nodeSelectorTerms;
    if (terms !== undefined && !terms.some((term) => matchesTerm(term, node))) {
      return unresolvable("node(s) had volume node affinity conflict");
    }
  }
  for (const claim of unbound) {
    const topologies = storageClassOf(claim, views)?.allowedTopologies ?? [];
    const isAllowed = topologies.some(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.every(({ key, values }) => values.includes(node.labels[key] ?? "")),
    );
    if (topologies.length > 0 && !isAllowed) {
      return unresolvable("node(s) did not have enough free storage");
    }
  }
  return refuseByLimit(claims, node, views);
}

/** Volumes of one driver on the node, shared ones once, against what its CSINode says. */
function refuseByLimit(claims: readonly PersistentVolumeClaim[], node: NodeInfo, views: ClusterViews): Refusal | undefined {
  const drivers = views.csiNodes.find(node.name)?.spec.drivers ?? [];
  const limits = new Map(
    drivers.flatMap(({ name, allocatable }) => (allocatable?.count === undefined ? [] : [[name, allocatable.count] as const])),
  );
  if (limits.size === 0) {
    return undefined;
  }
  const used = new Map<string, Set<string>>();
  const add = (claim: PersistentVolumeClaim): void => {
    const driver = views.volumes.find(claim.spec.volumeName ?? "")?.spec.csi?.driver ?? storageClassOf(claim, views)?.provisioner ?? "";
    const volumes = used.get(driver) ?? new Set<string>();
    used.set(driver, volumes.add(`${claim.metadata?.namespace}/${claim.metadata?.name}`));
  };
  for (const pod of node.pods.values()) {
    for (const name of pod.claims) {
      const claim = views.claims.find(`${pod.namespace}/${name}`);
      if (claim !== undefined) {
        add(claim);
      }
    }
  }
  claims.forEach(add);
  for (const [driver, volumes] of used) {
    if (volumes.size > (limits.get(driver) ?? Number.POSITIVE_INFINITY)) {
      return resolvable("node(s) exceed max volume count");
    }
  }
  return undefined;
}
