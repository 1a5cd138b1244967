/** `joinery sandbox` is stopped, by Ctrl-C or by force, early or late: nothing of it stays. Real processes. Linux: it looks into /proc. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRealClock, loadTransport, type Transport } from "@joinery/kube";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const clock = createRealClock();
const launcher = join(import.meta.dirname, "../../packages/cli/bin/joinery.mjs");
const canFindProcesses = existsSync("/proc/self/environ");
if (!canFindProcesses) console.warn("skipped: this machine has no /proc, in which processes are found");

interface Sandbox {
  readonly process: ChildProcess;
  readonly output: () => string;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
}

/** Of its own, so that processes and folders of other sandboxes on this machine do not count. */
let temporary = "";
const started: Sandbox[] = [];

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), "joinery-stopping-"));
});
afterEach(async () => {
  for (const sandbox of started.splice(0)) {
    signalGroup(sandbox, "SIGKILL");
    await sandbox.ended;
  }
  await eventually("every process to be gone", 10_000, () => (processes().length === 0 ? true : undefined));
  rmSync(temporary, { recursive: true, force: true });
});

describe.skipIf(!canFindProcesses)("joinery sandbox, stopped", () => {
  test("by Ctrl-C in the middle of its start: says that it was stopped, ends with 0, leaves nothing", async () => {
    const sandbox = start();
    await sayingOf(sandbox, /Fargate profile/);
    await eventually("both controllers", 60_000, () => (controllers().length === 2 ? true : undefined));
    await expectCleanEnd(sandbox, 0);
    expect(sandbox.output()).toMatch(/■ .+: stopped\n/);
    expect(sandbox.output()).not.toMatch(/✘|error:/);
  }, 120_000);

  test("by Ctrl-C with --exit before every pod runs: that is no success", async () => {
    const sandbox = start("--exit");
    await sayingOf(sandbox, /API server/);
    await expectCleanEnd(sandbox, 1);
  }, 120_000);

  test("by Ctrl-C when it is up: kubectl logs -f that somebody reads ends too", async () => {
    const sandbox = start();
    const kubeconfig = (await sayingOf(sandbox, /export KUBECONFIG=(\S+)/))[1] ?? "";
    const log = await followLog(kubeconfig);
    await eventually("the controller's first lines", 10_000, () => (log.text().includes('"message":"starting"') ? true : undefined));
    await expectCleanEnd(sandbox, 0);
    await log.ended;
  }, 180_000);

  test("by kill -9: its controllers follow, and the next sandbox sweeps its folder", async () => {
    const first = start();
    await eventually("both controllers", 90_000, () => (controllers().length === 2 ? true : undefined));
    const [left] = folders();
    first.process.kill("SIGKILL");
    expect(await first.ended).toBe("SIGKILL");
    await eventually("the controllers to end", 30_000, () => (processes().length === 0 ? true : undefined));
    expect(folders()).toEqual([left]);
    const second = start();
    await sayingOf(second, /API server: /);
    expect(folders()).not.toContain(left);
    await expectCleanEnd(second, 0);
  }, 180_000);
});

function start(...args: readonly string[]): Sandbox {
  let output = "";
  const child = spawn(process.execPath, [launcher, "sandbox", "--port", "0", "--pods", "8", "--speed", "30", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    // A process group, as a shell gives each of its jobs one.
    detached: true,
    env: { PATH: process.env.PATH, HOME: temporary, TMPDIR: temporary },
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk) => {
      output += chunk;
    });
  }
  const ended = new Promise<number | string | null>((resolve) => child.on("close", (code, signal) => resolve(signal ?? code)));
  const sandbox = { process: child, output: () => output, ended };
  started.push(sandbox);
  return sandbox;
}

/** A terminal sends Ctrl-C to the whole group. */
async function expectCleanEnd(sandbox: Sandbox, status: number): Promise<void> {
  signalGroup(sandbox, "SIGINT");
  expect(await sandbox.ended, sandbox.output()).toBe(status);
  expect(processes(), "processes that outlived the sandbox").toEqual([]);
  expect(folders(), "folders that outlived the sandbox").toEqual([]);
}

function signalGroup({ process: child }: Sandbox, signal: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid ?? 0), signal);
  } catch {
    // Nobody is left in it.
  }
}

async function sayingOf(sandbox: Sandbox, wanted: RegExp): Promise<RegExpExecArray> {
  return eventually(`${wanted}`, 120_000, () => {
    if (sandbox.process.exitCode !== null) throw new Error(`the sandbox ended: ${sandbox.output()}`);
    return wanted.exec(sandbox.output()) ?? undefined;
  });
}

function folders(): readonly string[] {
  return readdirSync(temporary).filter((name) => name.startsWith("joinery-sandbox-"));
}

/** Command lines of the processes that work for this test. */
function processes(): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ["cmdline", "environ"].map((file) => readText(`/proc/${name}/${file}`).replaceAll("\0", " ")).join(" "))
    .filter((text) => text.includes(temporary));
}

function controllers(): readonly string[] {
  return processes().filter((text) => text.includes("--service-account-directory="));
}

function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // the process has ended meanwhile
  }
}

/** What `kubectl logs -n karpenter deploy/karpenter -f` reads. */
async function followLog(kubeconfig: string): Promise<{ text(): string; ended: Promise<void> }> {
  const { transport, server } = await loadTransport({ clock, env: {}, kubeconfigPath: kubeconfig });
  const pod = await firstPod(transport);
  const token = /token: (\S+)/.exec(readFileSync(kubeconfig, "utf8"))?.[1];
  let text = "";
  const ended = new Promise<void>((resolve) => {
    const call = request(
      `${server}/api/v1/namespaces/karpenter/pods/${pod}/log?follow=true`,
      { headers: { authorization: `Bearer ${token}` }, rejectUnauthorized: false, agent: false },
      (response) => {
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("error", () => undefined).on("close", () => resolve());
      },
    );
    call.on("error", () => resolve());
    call.end();
  });
  await transport.close();
  return { text: () => text, ended };
}

async function firstPod(transport: Transport): Promise<string> {
  const { body } = await transport.send({ method: "GET", path: "/api/v1/namespaces/karpenter/pods" });
  return (body as { readonly items: readonly { readonly metadata: { readonly name: string } }[] }).items[0]?.metadata.name ?? "";
}

async function eventually<T>(what: string, timeoutMs: number, ask: () => T | undefined): Promise<T> {
  const deadline = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const answer = ask();
    if (answer !== undefined) return answer;
    if (clock.monotonicMs() > deadline) {
      throw new Error(`waited ${timeoutMs} ms for ${what}; the sandboxes said:\n${started.map(({ output }) => output()).join("\n")}`);
    }
    await clock.sleep(50);
  }
}
