/** Settings and gates, as core calls them. Rules O-21, O-25…O-29, O-47…O-50. */
import type { CoreOptions } from "@joinery/core";
import { type Effort, improvementOf } from "@joinery/scheduling";
import type { FeatureGates } from "./feature-gates.ts";
import type { Settings } from "./setting-table.ts";

/** @param settings checked when they were read */
export function coreOptions(settings: Settings, gates: FeatureGates): Partial<CoreOptions> {
  return {
    batchIdleMs: settings.batchIdleDuration,
    batchMaxMs: settings.batchMaxDuration,
    cpuRequestsMillicores: settings.cpuRequests,
    preferencePolicy: settings.preferencePolicy as CoreOptions["preferencePolicy"],
    minValuesPolicy: settings.minValuesPolicy as CoreOptions["minValuesPolicy"],
    improvement: improvementOf(settings.optimize as Effort, settings.nodeOverheadPrice),
    isReservedCapacityOn: gates.ReservedCapacity,
    isStaticCapacityOn: gates.StaticCapacity,
    isCapacityBufferOn: gates.CapacityBuffer,
    isNodeOverlayOn: gates.NodeOverlay,
    isPodDeletionCostManaged: gates.PodDeletionCostManagement,
    isDraIgnored: settings.ignoreDraRequests,
    isClusterStateObservabilityDisabled: settings.disableClusterStateObservability,
  };
}
