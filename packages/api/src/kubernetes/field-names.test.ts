/** Every field that our trimmed shapes name exists under that name in Kubernetes' own types; a misspelt one does not compile. */
import type { Deployment as RealDeployment } from "kubernetes-types/apps/v1.js";
import type { Lease as RealLease } from "kubernetes-types/coordination/v1.js";
import type * as core from "kubernetes-types/core/v1.js";
import type { ObjectMeta as RealMeta, LabelSelector as RealSelector } from "kubernetes-types/meta/v1.js";
import type { PodDisruptionBudget as RealBudget } from "kubernetes-types/policy/v1.js";
import type {
  VolumeAttachment as RealAttachment,
  CSINode as RealCsiNode,
  StorageClass as RealStorageClass,
} from "kubernetes-types/storage/v1.js";
import { expectTypeOf, test } from "vitest";
import type { LabelSelector, ObjectMeta } from "./meta.ts";
import type { CsiNode, KubeEvent, Lease, Node } from "./node.ts";
import type {
  Affinity,
  Container,
  NodeSelectorTerm,
  Pod,
  PodAffinityTerm,
  PodSpec,
  PodStatus,
  Taint,
  Toleration,
  TopologySpreadConstraint,
} from "./pod.ts";
import type { PersistentVolumeClaim, PodDisruptionBudget, StorageClass, VolumeAttachment } from "./workloads.ts";

/** Fields of ours that the other shape does not have. */
type Unknown<Ours, Theirs> = Exclude<keyof Ours, keyof Theirs>;
type Deep<T> = NonNullable<T>;

test("names of fields are Kubernetes' own", () => {
  expectTypeOf<Unknown<ObjectMeta, RealMeta>>().toBeNever();
  expectTypeOf<Unknown<LabelSelector, RealSelector>>().toBeNever();
  expectTypeOf<Unknown<Pod, core.Pod>>().toBeNever();
  // Pod-level resources came after 1.30, which the published types describe.
  expectTypeOf<Unknown<PodSpec, core.PodSpec>>().toEqualTypeOf<"resources">();
  expectTypeOf<Unknown<PodStatus, core.PodStatus>>().toBeNever();
  expectTypeOf<Unknown<Container, core.Container>>().toBeNever();
  expectTypeOf<Unknown<Taint, core.Taint>>().toBeNever();
  expectTypeOf<Unknown<Toleration, core.Toleration>>().toBeNever();
  expectTypeOf<Unknown<Affinity, core.Affinity>>().toBeNever();
  expectTypeOf<Unknown<PodAffinityTerm, core.PodAffinityTerm>>().toBeNever();
  expectTypeOf<Unknown<NodeSelectorTerm, core.NodeSelectorTerm>>().toBeNever();
  expectTypeOf<Unknown<TopologySpreadConstraint, core.TopologySpreadConstraint>>().toBeNever();
  expectTypeOf<Unknown<Deep<Node["spec"]>, core.NodeSpec>>().toBeNever();
  expectTypeOf<Unknown<Deep<Node["status"]>, core.NodeStatus>>().toBeNever();
  expectTypeOf<Unknown<KubeEvent, core.Event>>().toBeNever();
  expectTypeOf<Unknown<Deep<Lease["spec"]>, Deep<RealLease["spec"]>>>().toBeNever();
  expectTypeOf<Unknown<CsiNode["spec"], RealCsiNode["spec"]>>().toBeNever();
  expectTypeOf<Unknown<StorageClass, RealStorageClass>>().toBeNever();
  expectTypeOf<Unknown<VolumeAttachment["spec"], RealAttachment["spec"]>>().toBeNever();
  expectTypeOf<Unknown<PersistentVolumeClaim["spec"], Deep<core.PersistentVolumeClaim["spec"]>>>().toBeNever();
  expectTypeOf<Unknown<PodDisruptionBudget["spec"], Deep<RealBudget["spec"]>>>().toBeNever();
  expectTypeOf<Unknown<Deep<PodDisruptionBudget["status"]>, Deep<RealBudget["status"]>>>().toBeNever();
  expectTypeOf<"replicas" | "selector" | "template">().toExtend<keyof Deep<RealDeployment["spec"]>>();
});
