/** ResourceSlices as the controller keeps them: whose they are and how many there should be. Rule L-105. */
import type { ResourceSlice } from "@joinery/api";

/** Devices are many and nobody here reads them. */
export function trimSlice({ metadata = {}, spec: { driver, nodeName, pool } }: ResourceSlice): ResourceSlice {
  const { name, uid, resourceVersion, ownerReferences } = metadata;
  return { metadata: { name, uid, resourceVersion, ownerReferences }, spec: { driver, nodeName, pool } };
}

/** The Node that the slice is local to. */
export function nodeOfSlice({ metadata, spec }: ResourceSlice): string | undefined {
  return spec.nodeName || metadata?.ownerReferences?.find(({ apiVersion, kind }) => apiVersion === "v1" && kind === "Node")?.name;
}
