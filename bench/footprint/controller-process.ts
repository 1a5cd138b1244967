/** The bundled controller as a process of its own: started, watched until it leads and rests, and stopped. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { appendFileSync, chmodSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuSecondsOf } from "./process-figures.ts";

export interface StartOptions {
  /** The Node that runs it. */
  readonly node: string;
  readonly bundle: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  /** Of Node itself, before the bundle's name. */
  readonly nodeFlags: readonly string[];
  /** The process puts itself into these control groups before it becomes Node. */
  readonly memberFiles: readonly string[];
  /** Gets all that it writes. */
  readonly logFile?: string;
}

export interface RunningController {
  readonly pid: number;
  /** From the start of the process to the first `ok` of `/readyz`, and CPU seconds used until then. */
  readonly readyMs: number;
  readonly readyCpuSeconds: number;
  /** When it said that it leads, on the clock of `performance.now()`. A standby does not, until the leader is gone. */
  readonly leading: Promise<number>;
  readonly startedAtMs: number;
  /** On the clock of `performance.now()`: when it said that a batch window closed, in order. */
  readonly windowClosesMs: readonly number[];
  /** The same: when it said that every NodeClaim has its instance, and solves. */
  readonly solveStartsMs: readonly number[];
  /** Its last lines, for errors. */
  readonly log: readonly string[];
  readonly hasExited: boolean;
  stop(): Promise<void>;
}

export class ControllerDied extends Error {}

const START_MS_MAX = 300_000;
const PROBE_EVERY_MS = 100;
const STOP_MS_MAX = 60_000;

export async function startController({
  node,
  bundle,
  env,
  args,
  nodeFlags,
  memberFiles,
  logFile,
}: StartOptions): Promise<RunningController> {
  // sh enters the groups and then becomes Node, so that everything Node ever allocates is charged to them.
  const enter = memberFiles.map((file) => `echo $$ > '${file}' && `).join("");
  const command = [node, ...nodeFlags, bundle, "controller", "--cloud-provider", "kwok", ...args];
  const startedMs = performance.now();
  const child = spawn("/bin/sh", ["-c", `${enter}exec "$@"`, "sh", ...command], { env, stdio: ["ignore", "pipe", "pipe"] });
  const killWithUs = () => void child.kill("SIGKILL");
  process.once("exit", killWithUs); // an error that nobody catches ends this process, and no finally block stops the child
  const log: string[] = [];
  const windowClosesMs: number[] = [];
  const solveStartsMs: number[] = [];
  let exit: string | undefined;
  const leading = Promise.withResolvers<number>();
  child.on("exit", (code, signal) => {
    process.off("exit", killWithUs);
    exit = signal ?? `status ${code}`;
    leading.reject(new ControllerDied(`the controller ended with ${exit}\n${log.join("\n")}`));
  });
  const port = Promise.withResolvers<number>();
  for (const stream of [child.stdout!, child.stderr!]) {
    createInterface({ input: stream }).on("line", (line) => {
      log.push(line);
      if (logFile !== undefined) appendFileSync(logFile, `${Math.round(performance.now() - startedMs)} ${line}\n`);
      if (log.length > 40) log.shift();
      const probePort = /"health-probe-port":(\d+)/.exec(line)?.[1];
      if (probePort !== undefined) port.resolve(Number(probePort));
      if (line.includes('"message":"leading"')) leading.resolve(performance.now());
      if (line.includes('"message":"batch window closed"')) windowClosesMs.push(performance.now());
      if (line.includes('"message":"every nodeclaim has its instance"')) solveStartsMs.push(performance.now());
    });
  }
  const dies = new Promise<never>((_, reject) => {
    const fail = (how: string) => reject(new ControllerDied(`the controller ${how}\n${log.join("\n")}`));
    child.once("exit", (code, signal) => fail(`ended with ${signal ?? code}`));
    sleep(START_MS_MAX, undefined, { ref: false }).then(() => fail(`was not ready within ${START_MS_MAX / 1000} s`));
  });
  dies.catch(() => undefined);
  leading.promise.catch(() => undefined);
  try {
    const probePort = await Promise.race([port.promise, dies]);
    await Promise.race([untilReady(probePort, () => exit !== undefined), dies]);
    const readyMs = performance.now() - startedMs;
    return {
      pid: child.pid ?? 0,
      readyMs,
      readyCpuSeconds: cpuSecondsOf(child.pid ?? 0),
      leading: leading.promise,
      startedAtMs: startedMs,
      windowClosesMs,
      solveStartsMs,
      log,
      get hasExited() {
        return exit !== undefined;
      },
      stop: () => stop(child),
    };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

async function untilReady(port: number, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok) return;
    await sleep(PROBE_EVERY_MS);
  }
}

/** Waits until the process has used less than 2 % of a core for three seconds. Returns how long that took, in milliseconds. */
export async function untilAtRest(controller: RunningController, maxMs: number): Promise<number> {
  const startedMs = performance.now();
  let quietSeconds = 0;
  while (quietSeconds < 3 && performance.now() - startedMs < maxMs && !controller.hasExited) {
    const before = cpuSecondsOf(controller.pid);
    await sleep(1000);
    if (controller.hasExited) break;
    quietSeconds = cpuSecondsOf(controller.pid) - before <= 0.02 ? quietSeconds + 1 : 0;
  }
  return performance.now() - startedMs;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  const kill = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
  await exited;
  clearTimeout(kill);
}

/**
 * A Node of the group's own that is not in the page cache, so that its pages are charged to the group that runs it, as those of a
 * container's image are; those of a Node that others run are charged to them.
 */
export function copyOfNode(folder: string): string {
  const path = join(folder, "node");
  execFileSync("dd", [`if=${process.execPath}`, `of=${path}`, "bs=1M", "conv=fsync", "status=none"]);
  execFileSync("dd", [`if=${path}`, "iflag=nocache", "count=0", "status=none"]);
  chmodSync(path, 0o755);
  return path;
}
