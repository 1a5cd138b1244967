/** Which objects of the input a plan does not look at: kinds that Joinery does not read, and features that are off. */
import { CapacityBuffers, type Kind, NodeOverlays } from "@joinery/api";
import type { FeatureGates } from "../controller/feature-gates.ts";
import type { Loaded } from "../manifests/load.ts";

const GATED: readonly { readonly kind: Kind; readonly gate: keyof FeatureGates }[] = [
  { kind: NodeOverlays, gate: "NodeOverlay" },
  { kind: CapacityBuffers, gate: "CapacityBuffer" },
];

/** `3 ConfigMap`, `1 NodeOverlay (feature gate NodeOverlay is off)` …, sorted. */
export function ignoredObjects({ ignoredKinds, manifests }: Loaded, gates: FeatureGates): readonly string[] {
  const texts = [...ignoredKinds].map(([kind, count]) => ({ kind, text: `${count} ${kind}` }));
  for (const { kind, gate } of GATED) {
    if (gates[gate]) continue;
    const count = manifests.filter(({ object }) => object.kind === kind.kind).length;
    if (count > 0) texts.push({ kind: kind.kind, text: `${count} ${kind.kind} (feature gate ${gate} is off)` });
  }
  return texts.sort((a, b) => (a.kind < b.kind ? -1 : 1)).map(({ text }) => text);
}
