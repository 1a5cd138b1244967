/** One `joinery controller` in a process of its own, as a pod would run it: its log, its probes, its end. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createRealClock } from "@joinery/kube";

export const clock = createRealClock();

export type LogLine = { readonly level: string; readonly message: string } & Readonly<Record<string, unknown>>;

export interface ControllerProcess {
  readonly lines: readonly LogLine[];
  /** What it wrote, for failures. */
  readonly output: () => string;
  readonly ended: Promise<number | string | null>;
  signal(signal: NodeJS.Signals): void;
  /** Asks the port of probes or of metrics, once it is open. */
  get(port: "health-probe-port" | "metrics-port", path: string): Promise<{ readonly status: number; readonly text: string }>;
  /** Waits for a line of the log. */
  saying(message: string, timeoutMs?: number): Promise<LogLine>;
}

const launcher = join(import.meta.dirname, "../../packages/cli/bin/joinery.mjs");
const ARGUMENTS = ["controller", "--cloud-provider=kwok", "--bind-address=127.0.0.1", "--health-probe-port=0", "--metrics-port=0"];

/** @param program the sources when absent */
export function startControllerProcess(kubeconfig: string, args: readonly string[] = [], program = launcher): ControllerProcess {
  const child = spawn(process.execPath, [program, ...ARGUMENTS, "--leader-election-namespace=default", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, KUBECONFIG: kubeconfig, POD_NAME: "karpenter-0" },
  });
  const lines: LogLine[] = [];
  let output = "";
  let rest = "";
  child.stderr.on("data", (chunk) => (output += chunk));
  child.stdout.on("data", (chunk) => {
    output += chunk;
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) if (part.startsWith("{")) lines.push(JSON.parse(part) as LogLine);
  });
  const ended = new Promise<number | string | null>((resolve) => child.on("close", (code, signal) => resolve(signal ?? code)));

  const saying: ControllerProcess["saying"] = (message, timeoutMs = 60_000) =>
    eventually(
      `"${message}"`,
      async () => {
        if (child.exitCode !== null) throw new Error(`the controller ended with ${child.exitCode}: ${output}`);
        return lines.find((line) => line.message === message);
      },
      { timeoutMs, output: () => output },
    );
  return {
    lines,
    output: () => output,
    ended,
    signal: (signal) => void child.kill(signal),
    async get(port, path) {
      const line = await saying("serving probes and metrics");
      const response = await fetch(`http://127.0.0.1:${line[port]}${path}`);
      return { status: response.status, text: await response.text() };
    },
    saying,
  };
}

export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  { timeoutMs = 60_000, output = () => "" }: { readonly timeoutMs?: number; readonly output?: () => string } = {},
): Promise<T> {
  const deadlineMs = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (clock.monotonicMs() > deadlineMs) throw new Error(`waited ${timeoutMs} ms for ${what}; the controller said:\n${output()}`);
    await clock.sleep(50);
  }
}
