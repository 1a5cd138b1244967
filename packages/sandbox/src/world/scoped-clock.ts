/** A clock whose timers end with a signal, so that a world that was stopped neither acts nor keeps its process alive. */
import type { Clock } from "@joinery/kube";

export function scopedClock(clock: Clock, signal: AbortSignal): Clock {
  const pending = new Set<() => void>();
  signal.addEventListener(
    "abort",
    () => {
      for (const cancel of pending) {
        cancel();
      }
      pending.clear();
    },
    { once: true },
  );

  const after: Clock["after"] = (ms, action) => {
    if (signal.aborted) {
      return () => {};
    }
    const cancelTimer = clock.after(ms, () => {
      pending.delete(cancel);
      action();
    });
    const cancel = (): void => {
      pending.delete(cancel);
      cancelTimer();
    };
    pending.add(cancel);
    return cancel;
  };

  return {
    wallMs: () => clock.wallMs(),
    monotonicMs: () => clock.monotonicMs(),
    after,
    sleep: (ms, own) => clock.sleep(ms, own === undefined ? signal : AbortSignal.any([signal, own])),
  };
}
