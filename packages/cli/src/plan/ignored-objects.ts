/** Which objects of the input a plan does not look at: kinds that Joinery does not read, features that are off, what makes pods later. */
import { CapacityBuffers, NodeOverlays } from "@joinery/api";
import type { FeatureGates } from "../controller/feature-gates.ts";
import type { Loaded } from "../manifests/load.ts";

export interface IgnoredObjects {
  readonly kind: string;
  readonly count: number;
  /** Absent: Joinery does not read the kind. */
  readonly why?: string;
}

const UNREAD: readonly { readonly kind: string; readonly why: string; readonly gate?: keyof FeatureGates }[] = [
  { kind: NodeOverlays.kind, why: "feature gate NodeOverlay is off", gate: "NodeOverlay" },
  { kind: CapacityBuffers.kind, why: "feature gate CapacityBuffer is off", gate: "CapacityBuffer" },
  { kind: "CronJob", why: "its pods come when it is due; to plan for them give its template as a Job" },
];

/** Sorted by kind. */
export function ignoredObjects({ ignoredKinds, manifests }: Loaded, gates: FeatureGates): readonly IgnoredObjects[] {
  const found: IgnoredObjects[] = Array.from(ignoredKinds, ([kind, count]) => ({ kind, count }));
  for (const { kind, why, gate } of UNREAD) {
    if (gate !== undefined && gates[gate]) continue;
    const count = manifests.filter(({ object }) => object.kind === kind).length;
    if (count > 0) found.push({ kind, count, why });
  }
  return found.sort((a, b) => (a.kind < b.kind ? -1 : 1));
}
