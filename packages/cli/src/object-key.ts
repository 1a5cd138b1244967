import type { KubeObject } from "@joinery/api";

/** `namespace/name`, as plans call pods and pods' claims: of an object that has a namespace. */
export function keyOf({ metadata }: Pick<KubeObject, "metadata">): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}
