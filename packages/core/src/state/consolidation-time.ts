/** When something last changed that could make nodes superfluous; whoever saw nothing to do then need not look again. Rules L-66, L-67, D-10, D-11. */
import type { Clock } from "@joinery/kube";

export interface ConsolidationTime {
  bump(): void;
  /** Monotonic milliseconds. What is five minutes old counts as changed now: prices and the like change unseen. */
  read(): number;
}

const AGE_MAX_MS = 5 * 60_000;

export function createConsolidationTime(clock: Clock): ConsolidationTime {
  let changedAtMs = clock.monotonicMs();
  const bump = () => {
    changedAtMs = clock.monotonicMs();
  };
  return {
    bump,
    read() {
      if (clock.monotonicMs() - changedAtMs >= AGE_MAX_MS) bump();
      return changedAtMs;
    },
  };
}
