/** Annotations by which Kubernetes tells of claims and storage classes. */
import type { KubeObject } from "./meta.ts";

/** On a claim: the binding that the control plane began is complete. */
export const BIND_COMPLETED_ANNOTATION = "pv.kubernetes.io/bind-completed";
/** `"true"` on the class of claims that name none. */
export const DEFAULT_CLASS_ANNOTATION = "storageclass.kubernetes.io/is-default-class";

export function isDefaultClass({ metadata }: KubeObject): boolean {
  return metadata?.annotations?.[DEFAULT_CLASS_ANNOTATION] === "true";
}
