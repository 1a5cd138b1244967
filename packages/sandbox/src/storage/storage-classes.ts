/** The storage classes that a new cluster has: gp3 where the first pod goes, and one that does not wait. */
import { DEFAULT_CLASS_ANNOTATION, type StorageClass } from "@joinery/api";

export const EBS_PROVISIONER = "ebs.csi.aws.com";

export const DEFAULT_STORAGE_CLASSES: readonly StorageClass[] = [
  storageClass("gp3", "WaitForFirstConsumer", true),
  storageClass("gp3-immediate", "Immediate", false),
];

function storageClass(name: string, volumeBindingMode: NonNullable<StorageClass["volumeBindingMode"]>, isDefault: boolean): StorageClass {
  const rest = { parameters: { type: "gp3" }, reclaimPolicy: "Delete", allowVolumeExpansion: true };
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name, ...(isDefault ? { annotations: { [DEFAULT_CLASS_ANNOTATION]: "true" } } : {}) },
    provisioner: EBS_PROVISIONER,
    volumeBindingMode,
    ...rest,
  };
}
