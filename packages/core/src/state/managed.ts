/** Whose objects are ours to act on. Rules L-1…L-3. */
import { type Kind, type Node, nodeClassLabel } from "@joinery/api";

/** L-1, L-2: group and kind of the reference decide, nothing else. */
export function isManaged(
  reference: { readonly group?: string; readonly kind?: string } | undefined,
  nodeClassKinds: readonly Kind[],
): boolean {
  return nodeClassKinds.some(({ group, kind }) => reference?.group === group && reference.kind === kind);
}

/** L-3. */
export function isManagedNode({ metadata }: Pick<Node, "metadata">, nodeClassKinds: readonly Kind[]): boolean {
  return nodeClassKinds.some((kind) => metadata?.labels?.[nodeClassLabel(kind)] !== undefined);
}
