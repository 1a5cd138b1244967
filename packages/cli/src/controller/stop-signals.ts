/** SIGTERM and SIGINT → one wish to stop. A second signal means "now". */
import type { Clock } from "@joinery/kube";

/** A terminal and a launcher may both deliver the same Ctrl-C. */
const SAME_WISH_MS = 500;
const LOOK_FOR_PARENT_EVERY_MS = 500;

export interface StopSignals {
  readonly signal: AbortSignal;
  /** The end of stdin counts as a signal: whoever started this process is gone. */
  followStdin(): void;
  /** The end of the parent counts as a signal: npm passes one on to its shell only, which dies of it and leaves this process alone. */
  followParent(): void;
  /** No longer listens. */
  dispose(): void;
}

export function onStopSignals(clock: Clock, insist: () => void, parentId = () => process.ppid): StopSignals {
  const stop = new AbortController();
  let firstMs: number | undefined;
  let isFollowing = false;
  let lookNoMore = () => {};
  const receive = (name: NodeJS.Signals) => {
    const nowMs = clock.monotonicMs();
    if (firstMs === undefined) {
      firstMs = nowMs;
      stop.abort(new Error(`received ${name}`));
    } else if (nowMs - firstMs > SAME_WISH_MS) insist();
  };
  const names: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGHUP"];
  for (const name of names) process.on(name, receive);
  return {
    signal: stop.signal,
    followStdin() {
      isFollowing = true;
      process.stdin.on("end", () => stop.abort(new Error("stdin was closed"))).resume();
    },
    followParent() {
      const parent = parentId();
      const look = () => {
        if (parentId() !== parent) stop.abort(new Error("the process that started this one has ended"));
        else lookNoMore = clock.after(LOOK_FOR_PARENT_EVERY_MS, look);
      };
      look();
    },
    dispose() {
      lookNoMore();
      for (const name of names) process.off(name, receive);
      // A stdin that is read keeps the process.
      if (isFollowing) process.stdin.destroy();
    },
  };
}
