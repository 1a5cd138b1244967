/** What one run of a controller process writes: a file for people, and its lines with their times for `kubectl logs`. */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import type { Clock } from "@joinery/kube";
import type { ContainerLog, LogLine } from "@joinery/sandbox";

export interface ProcessLog extends ContainerLog {
  /** @param text one line, without its break */
  write(text: string): void;
  /** The process has exited. Further calls do nothing. */
  end(): void;
}

/** @param clock the cluster's: by it, lines get their times */
export function createProcessLog(path: string, clock: Clock): ProcessLog {
  const file = opened(path);
  // The texts stay on disk: a long day would fill the memory.
  const timesMs: number[] = [];
  const listeners = new Set<(line: LogLine) => void>();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let isOver = false;
  return {
    ended,
    lines() {
      if (timesMs.length === 0) return [];
      const texts = readFileSync(path, "utf8").split("\n");
      return timesMs.map((atMs, at) => ({ atMs, text: texts[at] ?? "" }));
    },
    onLine(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    write(text) {
      if (isOver || file === undefined) return;
      const line = { atMs: clock.wallMs(), text };
      try {
        writeSync(file, `${text}\n`);
      } catch {
        return; // A full disk costs lines of the log, not the cluster.
      }
      timesMs.push(line.atMs);
      for (const listener of [...listeners]) listener(line);
    },
    end() {
      if (isOver) return;
      isOver = true;
      if (file !== undefined) closeSync(file);
      end();
    },
  };
}

function opened(path: string): number | undefined {
  try {
    return openSync(path, "a");
  } catch {
    return undefined; // as a full disk
  }
}
