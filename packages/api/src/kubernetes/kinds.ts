/** The kinds that Joinery talks about: how each is addressed on the API server. */
import type { KubeObject } from "./meta.ts";
import type { CsiNode, KubeEvent, Lease, Node } from "./node.ts";
import type { Pod } from "./pod.ts";
import type {
  DaemonSet,
  Deployment,
  Job,
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  PodTemplate,
  ReplicaSet,
  ReplicationController,
  ResourceSlice,
  Service,
  StatefulSet,
  StorageClass,
  VolumeAttachment,
} from "./workloads.ts";

/** Address of one resource. `T` is the shape of its objects and exists for the compiler alone. */
export interface Kind<T extends KubeObject = KubeObject> {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Plural, lower-case, as in the URL. */
  readonly resource: string;
  readonly isNamespaced: boolean;
  readonly example?: T;
}

export function kind<T extends KubeObject>(group: string, version: string, kind: string, resource: string, isNamespaced: boolean): Kind<T> {
  return { group, version, kind, resource, isNamespaced };
}

/** `v1` or `apps/v1`. */
export function apiVersionOf({ group, version }: Kind): string {
  return group === "" ? version : `${group}/${version}`;
}

export const Pods = kind<Pod>("", "v1", "Pod", "pods", true);
export const Nodes = kind<Node>("", "v1", "Node", "nodes", false);
export const PodTemplates = kind<PodTemplate>("", "v1", "PodTemplate", "podtemplates", true);
export const Services = kind<Service>("", "v1", "Service", "services", true);
export const ReplicationControllers = kind<ReplicationController>("", "v1", "ReplicationController", "replicationcontrollers", true);
export const Namespaces = kind<Namespace>("", "v1", "Namespace", "namespaces", false);
export const Events = kind<KubeEvent>("", "v1", "Event", "events", true);
export const PersistentVolumes = kind<PersistentVolume>("", "v1", "PersistentVolume", "persistentvolumes", false);
export const PersistentVolumeClaims = kind<PersistentVolumeClaim>("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", true);
export const Deployments = kind<Deployment>("apps", "v1", "Deployment", "deployments", true);
export const ReplicaSets = kind<ReplicaSet>("apps", "v1", "ReplicaSet", "replicasets", true);
export const StatefulSets = kind<StatefulSet>("apps", "v1", "StatefulSet", "statefulsets", true);
export const DaemonSets = kind<DaemonSet>("apps", "v1", "DaemonSet", "daemonsets", true);
export const Jobs = kind<Job>("batch", "v1", "Job", "jobs", true);
export const Leases = kind<Lease>("coordination.k8s.io", "v1", "Lease", "leases", true);
export const PodDisruptionBudgets = kind<PodDisruptionBudget>("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", true);
export const StorageClasses = kind<StorageClass>("storage.k8s.io", "v1", "StorageClass", "storageclasses", false);
export const CsiNodes = kind<CsiNode>("storage.k8s.io", "v1", "CSINode", "csinodes", false);
export const VolumeAttachments = kind<VolumeAttachment>("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", false);
export const ResourceSlices = kind<ResourceSlice>("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", false);
export const CustomResourceDefinitions = kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false);
