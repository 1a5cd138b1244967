/**
 * `--memory-limit`: V8 fixes the size of its heap when the process starts, so near the limit the garbage is collected at once, and what
 * is free given back to the machine, instead of when V8 would find it worth while. It is a wish, not a wall. Rules O-20, O-285.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "@joinery/kube";

interface Rooms {
  readonly clock: Clock;
  /** Memory that the process holds, in bytes. */
  readonly residentBytes?: () => number;
  readonly collect?: () => void;
}

/** O-20. */
const SOFT_SHARE = 0.9;
const LOOK_EVERY_MS = 5000;
/** A full collection costs a quarter of a core most of a second: where it does not help, it is not tried at each look. */
const COLLECT_EVERY_MS = 30_000;

/** @returns what ends the looking */
export function keepBelow(limitBytes: number, { clock, residentBytes = () => process.memoryUsage.rss(), collect }: Rooms): () => void {
  if (limitBytes <= 0) return () => {};
  const softBytes = softLimit(limitBytes);
  const collectAll = collect ?? fullCollection();
  let collectedAtMs = Number.NEGATIVE_INFINITY;
  let cancel = () => {};
  const look = () => {
    const nowMs = clock.monotonicMs();
    if (residentBytes() > softBytes && nowMs - collectedAtMs >= COLLECT_EVERY_MS) {
      collectedAtMs = nowMs;
      collectAll();
    }
    cancel = clock.after(LOOK_EVERY_MS, look);
  };
  look();
  return () => cancel();
}

export function softLimit(limitBytes: number): number {
  return Math.floor(limitBytes * SOFT_SHARE);
}

type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/** V8 shows its collector to scripts only when it is asked to. */
function fullCollection(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as Collect;
  setFlagsFromString("--no-expose-gc");
  return () => gc({ type: "major", execution: "sync", flavor: "last-resort" });
}
