/** One line on a terminal that says how far a longer step is, rewritten in place and gone at the end. Silent where nobody looks. */
import type { Terminal } from "./terminal.ts";

export interface ProgressLine {
  show(text: string): void;
  /** Takes the line away, so that what follows begins at the left. */
  clear(): void;
}

/** To the beginning of the line, and erase to its end. */
const ERASE = "\r\u001b[K";

export function createProgressLine(terminal: Terminal): ProgressLine {
  let isShown = false;
  return {
    show(text) {
      if (!terminal.isInteractive) return;
      isShown = true;
      // A line that wraps could not be erased.
      terminal.write(`${ERASE}${text.slice(0, terminal.columns - 1)}`);
    },
    clear() {
      if (isShown) terminal.write(ERASE);
      isShown = false;
    },
  };
}
