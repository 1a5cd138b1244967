/** The real control plane that `run.mjs` started, and the built controller beside it. */
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { CustomResourceDefinitions, type KubeObject } from "@joinery/api";
import { ApiError, createKubeClient, createOnce, createRealClock, type KubeClient, loadTransport } from "@joinery/kube";
import { parseAllDocuments } from "yaml";

export const clock = createRealClock();
/** Too many requests (also while the storage of a new kind is made ready), and service unavailable. */
const NOT_READY: ReadonlySet<number> = new Set([429, 503]);

const root = join(import.meta.dirname, "../..");

/** Where logs go; kept when a test fails. */
export function workFolder(): string {
  const folder = process.env.REAL_CLUSTER_DIR;
  if (folder === undefined) throw new Error("run this suite by `npm run test:kubernetes`, which starts the control plane");
  return folder;
}

export async function connect(): Promise<KubeClient> {
  const { transport } = await loadTransport({ clock, env: process.env });
  return createKubeClient(transport, { userAgent: "joinery-test" });
}

export interface Exit {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the bundle with arguments, to its end. */
export function joinery(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Exit> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, "dist/joinery.mjs"), ...args], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("error", reject);
    child.on("exit", (status) => resolve({ status, stdout, stderr }));
  });
}

/** Installs what `joinery crds` prints and waits until each is served. */
export async function installCrds(client: KubeClient): Promise<readonly string[]> {
  const { stdout, status, stderr } = await joinery(["crds"]);
  if (status !== 0) throw new Error(`joinery crds failed: ${stderr}`);
  const names: string[] = [];
  for (const document of parseAllDocuments(stdout)) {
    const crd = document.toJS() as KubeObject | null;
    if (crd === null) continue;
    await createOnce(client, CustomResourceDefinitions, crd);
    names.push(crd.metadata?.name ?? "");
  }
  for (const name of names) {
    await eventually(`${name} to be established`, 30_000, async () => {
      const crd = (await client.get(CustomResourceDefinitions, { name })) as KubeObject & {
        status?: { conditions?: { type: string; status: string }[] };
      };
      return crd.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;
    });
  }
  return names;
}

/** Asks until the answer is true; an API server that says that it is not ready yet is asked again. Throws with what it waited for, and with the last answer, when the time is over. */
export async function eventually(what: string, timeoutMs: number, ask: () => Promise<boolean | string>, everyMs = 200): Promise<void> {
  const deadline = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const answer = await ask().catch((error: unknown) => {
      if (error instanceof ApiError && NOT_READY.has(error.status)) return error.message;
      throw error;
    });
    if (answer === true) return;
    if (clock.monotonicMs() > deadline) throw new Error(`waited ${timeoutMs} ms for ${what}${answer === false ? "" : `: ${answer}`}`);
    await clock.sleep(everyMs);
  }
}

export interface RunningController {
  readonly pid: number;
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<number | null>;
  /** Throws with the end of its log when it no longer runs. */
  assertAlive(): void;
  /** Of its log so far, the lines with this message. */
  said(message: string): readonly Readonly<Record<string, unknown>>[];
}

/** Starts the bundled controller with the kwok provider; its log goes to `<work folder>/<name>.log`. */
export function startController(name: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): RunningController {
  const child: ChildProcess = spawn(process.execPath, [join(root, "dist/joinery.mjs"), "controller", "--cloud-provider", "kwok", ...args], {
    cwd: root,
    env: {
      ...process.env,
      CLUSTER_NAME: "test",
      LEADER_ELECTION_NAMESPACE: "kube-system",
      METRICS_PORT: "0",
      HEALTH_PROBE_PORT: "0",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const path = join(workFolder(), `${name}.log`);
  const log = createWriteStream(path);
  child.stdout?.pipe(log);
  child.stderr?.pipe(log);
  const ended = new Promise<number | null>((resolve) => child.on("exit", (status) => resolve(status)));
  function assertAlive(): void {
    if (child.exitCode === null && child.signalCode === null) return;
    const tail = readFileSync(path, "utf8").slice(-2000);
    throw new Error(`controller ${name} ended (${child.exitCode ?? child.signalCode}): ${tail}`);
  }
  function said(message: string) {
    const lines = readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line.includes(message));
    return lines.map((line) => JSON.parse(line)).filter((line) => line.message === message);
  }
  return { pid: child.pid ?? 0, signal: (signal) => void child.kill(signal), ended, assertAlive, said };
}
