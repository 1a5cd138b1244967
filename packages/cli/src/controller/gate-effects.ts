/** What of the feature gates is not built yet. They are taken, so that manifests keep working, and it is said that they change nothing. */
import type { FeatureGates } from "./feature-gates.ts";

export const GATES_WITHOUT_EFFECT: readonly (keyof FeatureGates)[] = [
  "NodeRepair",
  "SpotToSpotConsolidation",
  "TerminateFirstDrift",
  "TerminateFirstRepair",
];
