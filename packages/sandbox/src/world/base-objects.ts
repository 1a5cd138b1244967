/** What every new cluster has beyond that which its API server makes: the storage classes of the EBS driver. */
import { StorageClasses } from "@joinery/api";
import { isAlreadyExists, type KubeClient } from "@joinery/kube";
import { DEFAULT_STORAGE_CLASSES } from "../storage/storage-classes.ts";

export async function createBaseObjects(client: KubeClient): Promise<void> {
  for (const storageClass of DEFAULT_STORAGE_CLASSES) {
    try {
      await client.create(StorageClasses, storageClass);
    } catch (error) {
      if (!isAlreadyExists(error)) {
        throw error;
      }
    }
  }
}
