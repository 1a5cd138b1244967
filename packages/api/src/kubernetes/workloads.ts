/** Workloads, disruption budgets and storage, reduced to the fields that Joinery reads. */
import type { Condition, KubeObject, LabelSelector, ResourceTexts } from "./meta.ts";
import type { NodeSelectorTerm, PodTemplateSpec } from "./pod.ts";

export interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: LabelSelector;
    readonly template: PodTemplateSpec;
    readonly [other: string]: unknown;
  };
  readonly status?: Readonly<Record<string, unknown>>;
}
export type Deployment = Workload;
export type ReplicaSet = Workload;
export type StatefulSet = Workload;
export type DaemonSet = Workload;

/** Its selector is a map of labels. */
export interface ReplicationController extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: Readonly<Record<string, string>>;
    readonly template?: PodTemplateSpec;
    readonly [other: string]: unknown;
  };
}

export interface PodTemplate extends KubeObject {
  readonly template: PodTemplateSpec;
}

export interface Service extends KubeObject {
  readonly spec?: { readonly selector?: Readonly<Record<string, string>> };
}

export interface Job extends KubeObject {
  readonly spec: {
    readonly parallelism?: number;
    readonly completions?: number;
    readonly backoffLimit?: number;
    readonly selector?: LabelSelector;
    readonly template: PodTemplateSpec;
    readonly [other: string]: unknown;
  };
  readonly status?: Readonly<Record<string, unknown>>;
}

export interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: string };
}

export interface PodDisruptionBudget extends KubeObject {
  readonly spec: {
    readonly minAvailable?: string | number;
    readonly maxUnavailable?: string | number;
    readonly selector?: LabelSelector;
    readonly unhealthyPodEvictionPolicy?: "IfHealthyBudget" | "AlwaysAllow";
  };
  readonly status?: {
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly expectedPods?: number;
    readonly disruptedPods?: Readonly<Record<string, string>>;
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec: {
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly accessModes?: readonly string[];
    readonly resources?: { readonly requests?: ResourceTexts };
  };
  readonly status?: { readonly phase?: "Pending" | "Bound" | "Lost" };
}

export interface PersistentVolume extends KubeObject {
  readonly spec: {
    readonly storageClassName?: string;
    readonly csi?: { readonly driver: string; readonly volumeHandle?: string };
    readonly nodeAffinity?: { readonly required?: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] } };
    readonly claimRef?: { readonly namespace?: string; readonly name?: string; readonly uid?: string };
    readonly capacity?: ResourceTexts;
    readonly [other: string]: unknown;
  };
  readonly status?: { readonly phase?: string };
}

export interface StorageClass extends KubeObject {
  readonly provisioner: string;
  readonly volumeBindingMode?: "Immediate" | "WaitForFirstConsumer";
  readonly allowedTopologies?: readonly {
    readonly matchLabelExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[];
  }[];
}

export interface VolumeAttachment extends KubeObject {
  readonly spec: { readonly attacher: string; readonly nodeName: string; readonly source: { readonly persistentVolumeName?: string } };
  readonly status?: { readonly attached?: boolean };
}

/** Devices that a DRA driver offers; those of one pool may be spread over several. */
export interface ResourceSlice extends KubeObject {
  readonly spec: {
    readonly driver: string;
    readonly nodeName?: string;
    readonly pool: { readonly name: string; readonly generation: number; readonly resourceSliceCount: number };
  };
}
