/** What Linux knows about one process: memory and CPU time. */
import { readFileSync } from "node:fs";

export interface MemoryFigures {
  readonly rssBytes: number;
  /** The highest RSS since the process started. */
  readonly rssPeakBytes: number;
  /** The part of RSS that is no file: heap, stacks, buffers. */
  readonly anonymousBytes: number;
}

/** `USER_HZ`, which is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

export function memoryOf(pid: number): MemoryFigures {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1] ?? 0) * 1024;
  return { rssBytes: bytes("VmRSS"), rssPeakBytes: bytes("VmHWM"), anonymousBytes: bytes("RssAnon") };
}

/** User and system time of all threads, in seconds. */
export function cpuSecondsOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the name in brackets, which may hold anything; utime and stime are fields 14 and 15.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
