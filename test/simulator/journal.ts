/**
 * What happened in a run, line by line: every write, every call to the cloud, every fault, every death. Two runs of one seed have the
 * same journal byte for byte; its digest says so in one word.
 */
import { createHash } from "node:crypto";
import type { Clock } from "@joinery/kube";

export interface Journal {
  write(line: string): void;
  readonly lineCount: number;
  /** SHA-256 of all lines so far. */
  digest(): string;
  /** The last lines, oldest first. */
  tail(): readonly string[];
}

/** Enough to see what led to a violation. */
const TAIL_LINES = 120;

/** @param onLine is given every line, e.g. to write it to a file */
export function createJournal(clock: Clock, onLine: (line: string) => void = () => {}): Journal {
  const hash = createHash("sha256");
  const startMs = clock.monotonicMs();
  let recent: string[] = [];
  let lineCount = 0;
  return {
    write(text) {
      const line = `${timeText(clock.monotonicMs() - startMs)} ${text}\n`;
      lineCount++;
      hash.update(line);
      recent.push(line);
      if (recent.length > 2 * TAIL_LINES) recent = recent.slice(-TAIL_LINES);
      onLine(line);
    },
    get lineCount() {
      return lineCount;
    },
    digest: () => hash.copy().digest("hex"),
    tail: () => recent.slice(-TAIL_LINES),
  };
}

const DAY_MS = 86_400_000;

/** `12d03:04:05.678` */
export function timeText(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  return `${days}d${new Date(Math.floor(ms % DAY_MS)).toISOString().slice(11, 23)}`;
}
