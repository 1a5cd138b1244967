/** Who stands behind a pod: the Services that select it and the object that controls it. Rule S-159. */
import type { KubeObject, ReplicationController, Service, Workload } from "@joinery/api";
import type { Cache } from "@joinery/kube";
import type { Backers, OwnerSelector } from "@joinery/scheduling";
import type { PodRecord } from "./pod-record.ts";

/** A selector and whose it is; nothing else of those objects is kept. */
export interface SelectorRecord extends KubeObject {
  /** undefined: it selects nothing. */
  readonly selects: OwnerSelector | undefined;
}

/** Watched only where pods get default constraints. */
export interface SelectorCaches {
  /** Index: `namespace`. */
  readonly services: Cache<SelectorRecord>;
  readonly replicationControllers: Cache<SelectorRecord>;
  readonly replicaSets: Cache<SelectorRecord>;
  readonly statefulSets: Cache<SelectorRecord>;
}

/** Of one pod, as the caches have it now. A missing owner contributes nothing. */
export function backersOf(
  { services, replicationControllers, replicaSets, statefulSets }: SelectorCaches,
  namespace: string,
  controllerPath: PodRecord["controllerPath"],
): Backers {
  const owners: Readonly<Record<string, Cache<SelectorRecord>>> = {
    "v1/ReplicationController": replicationControllers,
    "apps/v1/ReplicaSet": replicaSets,
    // Never in a cluster; in files, where a ReplicaSet of the same name stands for the one to come.
    "apps/v1/Deployment": replicaSets,
    "apps/v1/StatefulSet": statefulSets,
  };
  const slash = controllerPath.lastIndexOf("/");
  const owner = owners[controllerPath.slice(0, slash)]?.find(`${namespace}/${controllerPath.slice(slash + 1)}`)?.selects;
  return { services: labelsOf(services.by("namespace", namespace)), ...(owner !== undefined && { owner }) };
}

function labelsOf(services: Iterable<SelectorRecord>): Backers["services"] {
  return Array.from(services).flatMap(({ selects }) => (selects?.kind === "labels" ? [selects.labels] : []));
}

/** Trims what selects by labels alone. */
export function labelSelectorRecord({ metadata, spec }: Service | ReplicationController): SelectorRecord {
  const labels = spec?.selector;
  return { metadata: identity(metadata), selects: labels && { kind: "labels", labels } };
}

/** Trims a workload. */
export function workloadSelectorRecord({ metadata, spec: { selector } }: Workload): SelectorRecord {
  return { metadata: identity(metadata), selects: selector && { kind: "selector", selector } };
}

function identity({ name, namespace, uid, resourceVersion }: NonNullable<KubeObject["metadata"]> = {}): KubeObject["metadata"] {
  return { name, namespace, uid, resourceVersion };
}

/** Do both select the same pods, by the same words? */
export function isSameSelector(one: SelectorRecord, other: SelectorRecord): boolean {
  return JSON.stringify(one.selects) === JSON.stringify(other.selects);
}
