/** Settings of the controller with the defaults of operations.md section 1.2. Durations in milliseconds. */
import type { TopologySpreadConstraint } from "@joinery/api";
import { type Improvement, improvementOf } from "@joinery/scheduling";

export interface CoreOptions {
  /** O-26: a batch ends after this time without a new pod. */
  readonly batchIdleMs: number;
  /** O-25: longest batch. */
  readonly batchMaxMs: number;
  /** O-21: scales the number of workers (L-19). */
  readonly cpuRequestsMillicores: number;
  readonly preferencePolicy: "Respect" | "Ignore";
  readonly minValuesPolicy: "Strict" | "BestEffort";
  /** O-31: topology spread of pods that ask for none (S-157). */
  readonly defaultSpread: readonly TopologySpreadConstraint[];
  /** How a solve looks for a cheaper plan than the greedy one; undefined = it does not. */
  readonly improvement: Improvement | undefined;
  /** Feature gate `ReservedCapacity`. */
  readonly isReservedCapacityOn: boolean;
  /** Feature gate `StaticCapacity`. */
  readonly isStaticCapacityOn: boolean;
  /** Feature gate `CapacityBuffer`. */
  readonly isCapacityBufferOn: boolean;
  /** Feature gate `NodeOverlay`. */
  readonly isNodeOverlayOn: boolean;
  /** Feature gate `PodDeletionCostManagement`. */
  readonly isPodDeletionCostManaged: boolean;
  /** O-29: nodes do not wait for the DRA drivers that their NodeClaim asks for (L-105). */
  readonly isDraIgnored: boolean;
  /** O-17: no series per pod, node and condition. */
  readonly isClusterStateObservabilityDisabled: boolean;
}

export const DEFAULT_OPTIONS: CoreOptions = {
  batchIdleMs: 1000,
  batchMaxMs: 10_000,
  cpuRequestsMillicores: 1000,
  preferencePolicy: "Respect",
  minValuesPolicy: "Strict",
  defaultSpread: [],
  improvement: improvementOf("default"),
  isReservedCapacityOn: true,
  isStaticCapacityOn: false,
  isCapacityBufferOn: false,
  isNodeOverlayOn: false,
  isPodDeletionCostManaged: false,
  isDraIgnored: true,
  isClusterStateObservabilityDisabled: false,
};
