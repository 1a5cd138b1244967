/** Runs the `joinery` command in this process, with streams of its own. */
import { runCommand } from "joinery";

export interface Run {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly stdin?: string;
  /** A person looks at what is written. */
  readonly isInteractive?: boolean;
}

export async function runJoinery(args: readonly string[], { stdin = "", isInteractive = false }: RunOptions = {}): Promise<Run> {
  const written = { out: "", err: "" };
  const terminal = (name: "out" | "err") => ({
    write(text: string) {
      written[name] += text;
    },
    isInteractive,
    columns: 120,
    style: (_style: unknown, text: string) => text,
  });
  const status = await runCommand(args, { env: {}, out: terminal("out"), err: terminal("err"), readStdin: async () => stdin });
  return { status, ...written };
}
