/** Everything that a command takes from the process around it: environment, streams. Tests pass their own. */
import type { Terminal } from "./terminal/terminal.ts";
import { terminalOf } from "./terminal/terminal.ts";

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: Terminal;
  readonly err: Terminal;
  /** All of stdin as UTF-8 text. */
  readStdin(): Promise<string>;
}

export function surroundingsOf(process: NodeJS.Process): Surroundings {
  return {
    env: process.env,
    out: terminalOf(process.stdout, process.env),
    err: terminalOf(process.stderr, process.env),
    readStdin: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString("utf8");
    },
  };
}
