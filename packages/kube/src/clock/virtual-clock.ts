/**
 * Time that stands still until it is moved. The clock jumps from one due timer to the next, so a quiet day costs as much as it has
 * timers.
 *
 * Before the first timer and after each one the clock lets work settle: it waits two `setImmediate` rounds. Node runs every pending
 * promise reaction and `nextTick` before it starts an immediate, however long the chain, so the first round ends only when all
 * work that consists of promises waits for a timer or for another party; the second round covers work that itself goes through one
 * `setImmediate` (as web streams' sources do). Work that waits for the outside world (a file, a socket, a thread) is not
 * covered by rounds: whoever starts such work takes a `hold`, and time stands still until it is given back.
 */
import { type Clock, type EpochMs, sleepOn } from "./clock.ts";
import { TimerHeap } from "./timer-heap.ts";

export interface VirtualClock extends Clock {
  /** Moves time forward by `ms`, firing what falls due in (time, sequence) order. Rejects with what a timer's action throws. */
  advance(ms: number): Promise<void>;
  /** As `advance`, to a point of wall time. A point in the past only settles. */
  advanceTo(wallMs: EpochMs): Promise<void>;
  /**
   * Moves time until `isDone()`, asked after each timer has settled. True when done; false when `withinMs` went by first or no timer is left.
   * After false the clock stands at the end of the span (or at the last timer).
   */
  runUntil(isDone: () => boolean, withinMs?: number): Promise<boolean>;
  /** Lets all work of this instant come to rest without moving time. */
  settle(): Promise<void>;
  /** Keeps time still while work outside of promises is under way. Returns what gives the hold back. */
  hold(): () => void;
  /** Wall time of the soonest timer. */
  readonly nextDueMs: EpochMs | undefined;
  readonly timerCount: number;
}

/** See the head of the file. */
const SETTLE_ROUNDS = 2;

/** Wall time begins at `startMs`, monotonic time at 0. */
export function createVirtualClock({ startMs }: { readonly startMs: EpochMs }): VirtualClock {
  const timers = new TimerHeap();
  let nowMs = 0;
  let holdCount = 0;
  let isMoving = false;
  let onHoldsGone: (() => void) | undefined;

  const after: Clock["after"] = (ms, action) => {
    if (Number.isNaN(ms)) {
      throw new RangeError("Cannot start a timer: the span is not a number");
    }
    if (ms === Number.POSITIVE_INFINITY) {
      return () => {};
    }
    const timer = timers.add(nowMs + Math.max(0, ms), action);
    return () => timers.cancel(timer);
  };

  async function settle(): Promise<void> {
    await runPendingWork();
    while (holdCount > 0) {
      await new Promise<void>((resolve) => {
        onHoldsGone = resolve;
      });
      await runPendingWork();
    }
  }

  async function move(untilMs: number, isDone?: () => boolean): Promise<boolean> {
    if (isMoving) {
      throw new Error("Cannot move the clock: it is moving already, wanted one mover at a time");
    }
    isMoving = true;
    try {
      await settle();
      if (isDone?.()) {
        return true;
      }
      for (let next = timers.peek(); next !== undefined && next.dueMs <= untilMs; next = timers.peek()) {
        nowMs = next.dueMs;
        timers.pop()?.();
        await settle();
        if (isDone?.()) {
          return true;
        }
      }
      if (untilMs !== Number.POSITIVE_INFINITY) {
        nowMs = Math.max(nowMs, untilMs);
      }
      return false;
    } finally {
      isMoving = false;
    }
  }

  return {
    wallMs: () => Math.floor(startMs + nowMs),
    monotonicMs: () => nowMs,
    sleep: (ms, signal) => sleepOn(after, ms, signal),
    after,
    advance: async (ms) => void (await move(nowMs + ms)),
    advanceTo: async (wallMs) => void (await move(Math.max(nowMs, wallMs - startMs))),
    runUntil: (isDone, withinMs = Number.POSITIVE_INFINITY) => move(nowMs + withinMs, isDone),
    settle,
    hold() {
      holdCount++;
      let isHeld = true;
      return () => {
        if (isHeld) {
          isHeld = false;
          holdCount--;
          if (holdCount === 0) {
            onHoldsGone?.();
            onHoldsGone = undefined;
          }
        }
      };
    },
    get nextDueMs() {
      const next = timers.peek();
      return next === undefined ? undefined : startMs + next.dueMs;
    },
    get timerCount() {
      return timers.size;
    },
  };
}

async function runPendingWork(): Promise<void> {
  for (let round = 0; round < SETTLE_ROUNDS; round++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
