/** How long a step of day one may take. */
import type { Clock } from "@joinery/kube";

/** Of the cluster's time: longer than any launch that fails once and is tried again. */
const CLUSTER_MS_MAX = 30 * 60_000;
/** Of the machine's time: processes start and answer no faster for a cluster whose clock runs fast. */
const MACHINE_MS_LEAST = 120_000;

export interface StepLimit {
  isOver(): boolean;
  /** Of the cluster's time since the step began, rounded. */
  minutes(): number;
}

export function startStepLimit(clusterClock: Clock, machineClock: Clock): StepLimit {
  const clusterStartMs = clusterClock.monotonicMs();
  const machineStartMs = machineClock.monotonicMs();
  const clusterMs = () => clusterClock.monotonicMs() - clusterStartMs;
  return {
    isOver: () => clusterMs() > CLUSTER_MS_MAX && machineClock.monotonicMs() - machineStartMs > MACHINE_MS_LEAST,
    minutes: () => Math.round(clusterMs() / 60_000),
  };
}
