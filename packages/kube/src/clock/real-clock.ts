/** The clocks of real processes: the machine's own time, and the same time run faster (law 2: the only reader of machine time). */
import { type Clock, type EpochMs, sleepOn } from "./clock.ts";

/** Where scaled time begins: at machine time `realMs` the scaled wall clock reads `wallMs`. */
export interface ClockAnchor {
  readonly realMs: EpochMs;
  readonly wallMs: EpochMs;
}

/** Longest span that `setTimeout` takes; longer ones are slept in pieces. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** The machine's own time. */
export function createRealClock(): Clock {
  return createScaledClock({ speed: 1, anchor: { realMs: 0, wallMs: 0 } });
}

/**
 * Wall time and spans run `speed` times as fast as the machine's. Processes on one machine that are given the same anchor agree
 * about the time.
 */
export function createScaledClock({ speed, anchor }: { readonly speed: number; readonly anchor: ClockAnchor }): Clock {
  if (!(speed > 0 && speed < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`Cannot make a clock: speed is ${speed}, wanted a number above 0`);
  }
  const after: Clock["after"] = (ms, action) => startTimer(ms / speed, action);
  return {
    wallMs: () => Math.floor(anchor.wallMs + (Date.now() - anchor.realMs) * speed),
    monotonicMs: () => performance.now() * speed,
    sleep: (ms, signal) => sleepOn(after, ms, signal),
    after,
  };
}

/** An anchor at this moment of the machine: scaled time starts where real time is. */
export function anchorNow(): ClockAnchor {
  const now = Date.now();
  return { realMs: now, wallMs: now };
}

function startTimer(realMs: number, action: () => void): () => void {
  if (Number.isNaN(realMs)) {
    throw new RangeError("Cannot start a timer: the span is not a number");
  }
  let leftMs = Math.max(0, realMs);
  let timer: NodeJS.Timeout;
  const arm = () => {
    const pieceMs = Math.min(leftMs, TIMER_MAX_MS);
    leftMs -= pieceMs;
    timer = setTimeout(() => (leftMs > 0 ? arm() : action()), pieceMs);
  };
  arm();
  return () => clearTimeout(timer);
}
