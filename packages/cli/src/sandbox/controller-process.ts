/**
 * The containers of the controller's pods, run as what they are: processes of their own, which reach the API server as a pod does
 * (environment and a mounted service account) and EC2 over loopback.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Pod } from "@joinery/api";
import type { Clock } from "@joinery/kube";
import type { PodExit, PodRun, PodRuntime } from "@joinery/sandbox";
import { joineryCommand } from "../build-info.ts";
import { createProcessLog, type ProcessLog } from "./process-log.ts";

export interface ControllerProcessOptions {
  /** The sandbox's own, scaled: grace periods and probes run on it. */
  readonly clock: Clock;
  readonly speed: number;
  /** `realMs,wallMs` of that clock. */
  readonly clockAnchor: string;
  readonly apiServer: { readonly host: string; readonly port: number };
  readonly ec2Endpoint: string;
  /** Holds `ca.crt`, `namespace` and `token`. */
  readonly serviceAccountDirectory: string;
  /** Each process writes `<pod>.log` here; what is started again, `<pod>.1.log` and so on. */
  readonly logDirectory: string;
}

export interface ControllerProcesses extends PodRuntime {
  /** Process IDs of the processes that live, by pod name. */
  readonly living: ReadonlyMap<string, ChildProcess>;
  /** Ends all of them; resolves when none is left. */
  stopAll(): Promise<void>;
}

/** For the smallest box of Fargate. Measured with 40 pods: 135 MB of RSS for the leader instead of 205 MB, 115 MB for the standby. */
const SMALL_NODE = ["--max-semi-space-size=1", "--optimize-for-size", "--max-old-space-size=128"];
const PROBE_EVERY_MS = 1000;
/** Of the machine's time: a process that ignores SIGTERM that long is killed. */
const STOP_MS_MAX = 5000;

export function createControllerProcesses(options: ControllerProcessOptions): ControllerProcesses {
  const living = new Map<string, ChildProcess>();
  const runCounts = new Map<string, number>();
  let isOver = false;
  // Whatever ends this process, also a fault of its own, ends the others.
  const killAll = () => living.forEach((child) => void child.kill("SIGKILL"));
  process.on("exit", killAll);

  function start(pod: Pod): PodRun {
    if (isOver) return neverAgain;
    const name = pod.metadata?.name ?? "";
    const log = createProcessLog(logPath(name), options.clock);
    const child = launch(pod, options);
    keepOutput(child, log);
    living.set(name, child);
    const { promise: exited, resolve: exit } = Promise.withResolvers<PodExit>();
    const end = (exitCode: number) => {
      if (living.get(name) === child) living.delete(name);
      exit({ exitCode });
    };
    child.on("error", () => end(127));
    child.on("exit", (code, signal) => end(code ?? (signal === "SIGKILL" ? 137 : 143)));
    return {
      ready: whenReady(log, exited, options),
      exited,
      log,
      stop(graceMs) {
        child.kill("SIGTERM");
        const cancel = options.clock.after(graceMs, () => child.kill("SIGKILL"));
        child.once("exit", cancel);
      },
    };
  }

  function logPath(podName: string): string {
    const run = runCounts.get(podName) ?? 0;
    runCounts.set(podName, run + 1);
    return join(options.logDirectory, run === 0 ? `${podName}.log` : `${podName}.${run}.log`);
  }

  return {
    start,
    living,
    async stopAll() {
      // The kubelet would start again what ends; it may not.
      isOver = true;
      await Promise.all(
        [...living.values()].map(
          (child) =>
            new Promise<void>((resolve) => {
              if (child.exitCode !== null || child.signalCode !== null) return resolve();
              child.once("exit", () => resolve());
              child.kill("SIGTERM");
              const cancel = options.clock.after(STOP_MS_MAX * options.speed, () => child.kill("SIGKILL"));
              child.once("exit", cancel);
            }),
        ),
      );
      process.off("exit", killAll);
    },
  };
}

const neverAgain: PodRun = { ready: new Promise(() => undefined), exited: new Promise(() => undefined), stop: () => undefined };

function launch(pod: Pod, options: ControllerProcessOptions): ChildProcess {
  const { apiServer, ec2Endpoint, serviceAccountDirectory, logDirectory, speed, clockAnchor } = options;
  const name = pod.metadata?.name ?? "controller";
  const [command = "", ...args] = joineryCommand(SMALL_NODE);
  const env = (pod.spec.containers[0] as { readonly env?: readonly { readonly name: string; readonly value?: string }[] }).env ?? [];
  const child = spawn(
    command,
    [
      ...args,
      "controller",
      "--cloud-provider=aws",
      `--ec2-endpoint=${ec2Endpoint}`,
      `--service-account-directory=${serviceAccountDirectory}`,
      "--bind-address=127.0.0.1",
      "--metrics-port=0",
      "--health-probe-port=0",
      `--clock-speed=${speed}`,
      `--clock-anchor=${clockAnchor}`,
      "--stop-with-stdin",
    ],
    {
      // A pipe to stdin that closes with this process, so that none outlives it, whatever happens to it.
      stdio: ["pipe", "pipe", "pipe"],
      env: {
        PATH: process.env.PATH,
        HOME: logDirectory,
        ...Object.fromEntries(env.map((variable) => [variable.name, variable.value ?? ""])),
        POD_NAME: name,
        AWS_REGION: "us-east-1",
        KUBERNETES_SERVICE_HOST: apiServer.host,
        KUBERNETES_SERVICE_PORT: String(apiServer.port),
      },
    },
  );
  child.stdin?.on("error", () => undefined);
  return child;
}

function keepOutput(child: ChildProcess, log: ProcessLog): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) => log.write(line));
  }
  child.on("error", () => log.end());
  child.on("close", () => log.end());
}

/** The readiness probe: `/readyz` at the port that the process says it has. Resolves never when it exits before. */
async function whenReady(log: ProcessLog, exited: Promise<PodExit>, { clock }: ControllerProcessOptions): Promise<void> {
  let isOver = false;
  void exited.then(() => {
    isOver = true;
  });
  const port = await healthPortOf(log);
  while (!isOver) {
    if (port !== undefined && (await probe(port))) return;
    await clock.sleep(PROBE_EVERY_MS);
  }
  await new Promise<never>(() => undefined);
}

function healthPortOf(log: ProcessLog): Promise<number | undefined> {
  return new Promise((resolve) => {
    const unlisten = log.onLine(({ text }) => {
      const port = /"health-probe-port":(\d+)/.exec(text)?.[1];
      if (port === undefined) return;
      unlisten();
      resolve(Number(port));
    });
    void log.ended.then(() => resolve(undefined));
  });
}

async function probe(port: number): Promise<boolean> {
  const { request } = await import("node:http");
  return new Promise((resolve) => {
    const call = request({ host: "127.0.0.1", port, path: "/readyz", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.on("error", () => resolve(false));
    call.end();
  });
}
