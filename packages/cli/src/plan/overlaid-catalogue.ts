/** The catalogue as the NodeOverlays of the input make it, and what became of each overlay. Rules L-225…L-235, S-204. */
import { invalidityMessage, type NodeOverlay, type NodePool } from "@joinery/api";
import { evaluateOverlays, type OverlayVerdict } from "@joinery/scheduling";
import type { Catalogue } from "./catalogue.ts";

export interface OverlaidCatalogue {
  readonly catalogue: Catalogue;
  /** By name of the overlay. */
  readonly verdicts: ReadonlyMap<string, OverlayVerdict>;
}

/** @param nodePools all of the input: conflicts on pools that cannot be planned with count too (L-229) */
export function overlaidCatalogue(
  catalogue: Catalogue,
  overlays: readonly NodeOverlay[],
  nodePools: readonly NodePool[],
): OverlaidCatalogue {
  if (overlays.length === 0) return { catalogue, verdicts: new Map() };
  const known = nodePools.filter(({ spec }) => {
    const { group, kind } = spec.template.spec.nodeClassRef;
    return catalogue.nodeClassKinds.some((one) => one.group === group && one.kind === kind);
  });
  const offers = known.map((nodePool) => ({ nodePool, instanceTypes: catalogue.typesFor(nodePool) }));
  const { verdicts, overlays: set } = evaluateOverlays(overlays, offers, catalogue.vocabulary);
  const typesFor = (nodePool: NodePool) => set.typesFor(nodePool, catalogue.typesFor(nodePool));
  return { catalogue: { ...catalogue, typesFor }, verdicts };
}

/** What is the matter with the overlay; undefined where nothing is. */
export function overlayFault(verdict: OverlayVerdict): string | undefined {
  switch (verdict.kind) {
    case "invalid":
      return invalidityMessage(verdict.invalid);
    case "conflict": {
      const about = verdict.about === "price" ? "the price" : `the ${verdict.about}`;
      return `conflicts with NodeOverlay ${verdict.other} of the same weight about ${about} of ${verdict.instanceType} in NodePool ${verdict.nodePool}, so it is applied nowhere`;
    }
    case "valid":
      return verdict.typeCount === 0 ? "no instance type of any NodePool meets its requirements, so it changes nothing" : undefined;
  }
}
