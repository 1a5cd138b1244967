/** The spans of the Lease. Rule O-74. */
import type { LeaderElectionOptions } from "@joinery/core";

/**
 * O-74 in seconds of the machine, also where the cluster's clock runs faster: a busy machine answers no faster for that, and a leader
 * that loses its Lease ends. A standby then takes over after as long a time as in a real cluster.
 * @param clockSpeed how much faster the cluster's clock runs; a slower one does not stretch the spans
 */
export function leaseTiming(clockSpeed = 1): NonNullable<LeaderElectionOptions["timing"]> {
  const speed = Math.max(1, clockSpeed);
  return {
    leaseMs: Math.round(15_000 * speed),
    renewDeadlineMs: Math.round(10_000 * speed),
    retryMs: Math.round(2000 * speed),
  };
}
