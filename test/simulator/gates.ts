/** Feature gates of the simulated controller: with all of them on, people also wish for capacity beside their pods. */
import type { CoreOptions } from "@joinery/core";

export const GATES = ["all", "none"] as const;

export type Gates = (typeof GATES)[number];

export function optionsOf(gates: Gates): Partial<CoreOptions> {
  if (gates === "none") return {};
  return { isStaticCapacityOn: true, isCapacityBufferOn: true, isNodeOverlayOn: true, isPodDeletionCostManaged: true };
}
