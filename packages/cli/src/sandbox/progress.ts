/** Steps for people: a line per step that is done; on a terminal the step at work is alive, with its own short story. */
import type { Clock } from "@joinery/kube";
import type { Terminal } from "../terminal/terminal.ts";

export interface Progress {
  /** Runs `work`, which may tell how far it is; its result's text ends the line. Throws what `work` throws. */
  step<T>(title: string, work: (tell: (story: string) => void) => Promise<T>, summary?: (result: T) => string): Promise<T>;
  /** A line of its own. */
  say(line: string): void;
}

export interface ProgressOptions {
  readonly terminal: Terminal;
  /** The machine's own. */
  readonly clock: Clock;
  /** The cluster's. */
  readonly clusterClock: Clock;
  /** People stopped it: a step that ends then has not failed. */
  readonly signal: AbortSignal;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
const CLEAR_LINE = "\r\u001b[2K";

export function createProgress({ terminal, clock, clusterClock, signal }: ProgressOptions): Progress {
  const startMs = clusterClock.monotonicMs();
  const since = () => formatSpan(clusterClock.monotonicMs() - startMs);

  function done(mark: string, title: string, story: string): void {
    const time = terminal.style("dim", since().padStart(6));
    terminal.write(
      `${terminal.isInteractive ? CLEAR_LINE : ""}${mark} ${time}  ${title}${story === "" ? "" : terminal.style("dim", `: ${story}`)}\n`,
    );
  }

  return {
    say: (line) => terminal.write(`${line}\n`),
    async step(title, work, summary) {
      let story = "";
      const live = terminal.isInteractive ? animate(() => `${title}${story === "" ? "" : `: ${story}`}`) : undefined;
      try {
        const result = await work((told) => {
          story = told;
        });
        live?.stop();
        done(terminal.style("green", "✔"), title, summary?.(result) ?? story);
        return result;
      } catch (error) {
        live?.stop();
        if (signal.aborted) done(terminal.style("yellow", "■"), title, "stopped");
        else done(terminal.style("red", "✘"), title, story);
        throw error;
      }
    },
  };

  function animate(text: () => string): { stop(): void } {
    let frame = 0;
    let cancel: () => void = () => undefined;
    const draw = () => {
      const line = `${FRAMES[frame++ % FRAMES.length]} ${since().padStart(6)}  ${text()}`;
      terminal.write(`${CLEAR_LINE}${line.slice(0, Math.max(20, terminal.columns - 1))}`);
      cancel = clock.after(FRAME_MS, draw);
    };
    draw();
    return { stop: () => cancel() };
  }
}

/** `47s`, `2m03s`: time of the cluster. */
function formatSpan(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, "0")}s`;
}
