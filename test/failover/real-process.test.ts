/** The same with real processes: `joinery sandbox` in one process, its two controllers in two, and kill -9 from outside. Linux: it looks into /proc. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Deployments, Leases, NodeClaims, Pods } from "@joinery/api";
import { createHttpEc2Port } from "@joinery/aws";
import { createHttpTransport, createKubeClient, createRealClock, type KubeClient, loadTransport, type Transport } from "@joinery/kube";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const clock = createRealClock();
const launcher = join(import.meta.dirname, "../../packages/cli/bin/joinery.mjs");

let sandbox: ChildProcess;
let output = "";
let transport: Transport;
let client: KubeClient;

const canFindProcesses = existsSync("/proc/self/environ");
if (!canFindProcesses) console.warn("skipped: this machine has no /proc, in which the controllers' processes are found");

describe.skipIf(!canFindProcesses)("joinery sandbox with two real controller processes", () => {
  beforeAll(async () => {
    sandbox = spawn(process.execPath, [launcher, "sandbox", "--speed", "10", "--pods", "12", "--seed", "5"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [sandbox.stdout, sandbox.stderr]) stream?.on("data", (chunk) => (output += chunk));
    const path = await eventually("the sandbox to be up", 120_000, async () => {
      if (sandbox.exitCode !== null) throw new Error(`the sandbox ended: ${output}`);
      return /export KUBECONFIG=(\S+)/.exec(output)?.[1];
    });
    ({ transport } = await loadTransport({ clock, env: {}, kubeconfigPath: path }));
    client = createKubeClient(transport, { userAgent: "test" });
  }, 150_000);

  afterAll(async () => {
    await transport?.close();
    if (sandbox.exitCode !== null) return;
    const children = controllers();
    const ended = new Promise<number | null>((resolve) => sandbox.on("exit", resolve));
    sandbox.kill("SIGINT");
    expect(await ended).toBe(0);
    for (const { pid } of children) expect(isAlive(pid), `controller ${pid} outlived the sandbox`).toBe(false);
  }, 60_000);

  test("kill -9 of the leader in the middle of a launch: the other takes over, no pod stays pending, no instance is leaked or doubled", async () => {
    const before = await leaderName();
    await client.create(Deployments, {
      metadata: { name: "burst", namespace: "default" },
      spec: {
        replicas: 20,
        selector: { matchLabels: { app: "burst" } },
        template: {
          metadata: { labels: { app: "burst" } },
          spec: { containers: [{ name: "main", image: "example.com/app", resources: { requests: { cpu: "3", memory: "4Gi" } } }] },
        },
      },
    });
    const victim = controllers().find(({ podName }) => podName === before);
    expect(victim, `a process of ${before}`).toBeDefined();
    await eventually("a NodeClaim that is not launched", 60_000, async () => ((await unlaunched()) > 0 ? true : undefined), 5);
    process.kill(victim!.pid, "SIGKILL");
    expect(await unlaunched(), "NodeClaims without instance when the leader died").toBeGreaterThan(0);

    await eventually("another leader", 60_000, async () => ((await leaderName()) !== before ? true : undefined));
    await eventually("every pod to run", 120_000, async () => {
      const pods = (await client.list(Pods, { namespace: "default" })).items;
      return pods.length >= 20 && pods.every(({ status }) => status?.phase === "Running") ? true : undefined;
    });
    const endpoint = controllers()[0]?.ec2Endpoint;
    const { Instances: instances } = await createHttpEc2Port(createHttpTransport({ server: endpoint ?? "", clock })).describeInstances({});
    const owners = instances.map(({ Tags }) => Tags?.find(({ Key }) => Key === "joinery.dev/nodeclaim-uid")?.Value);
    expect(new Set(owners).size, "no NodeClaim has two instances").toBe(instances.length);
    const living = instances.filter(({ State }) => State.Name === "running" || State.Name === "pending");
    const claims = (await client.list(NodeClaims)).items;
    expect(claims.map(({ metadata }) => metadata?.uid).sort()).toEqual(
      living.map(({ Tags }) => Tags?.find(({ Key }) => Key === "joinery.dev/nodeclaim-uid")?.Value).sort(),
    );
  }, 240_000);
});

async function unlaunched(): Promise<number> {
  return (await client.list(NodeClaims)).items.filter(({ status }) => status?.providerID === undefined).length;
}

async function leaderName(): Promise<string> {
  const lease = await client.get(Leases, { namespace: "karpenter", name: "karpenter-leader-election" });
  return lease.spec?.holderIdentity?.split("_")[0] ?? "";
}

interface ControllerProcess {
  readonly pid: number;
  readonly podName: string;
  readonly ec2Endpoint: string;
}

/** Controller processes that this test's sandbox started. */
function controllers(): readonly ControllerProcess[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const [stat, command, environment] = ["stat", "cmdline", "environ"].map((file) => readText(`/proc/${name}/${file}`));
      const parent = Number(stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      const ec2Endpoint = /--ec2-endpoint=([^\0]+)/.exec(command ?? "")?.[1];
      const podName = /(?:^|\0)POD_NAME=([^\0]+)/.exec(environment ?? "")?.[1];
      return parent === sandbox.pid && ec2Endpoint !== undefined && podName !== undefined
        ? [{ pid: Number(name), podName, ec2Endpoint }]
        : [];
    });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined; // the process has ended meanwhile
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function eventually<T>(what: string, timeoutMs: number, ask: () => Promise<T | undefined>, everyMs = 100): Promise<T> {
  const deadline = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (clock.monotonicMs() > deadline) throw new Error(`waited ${timeoutMs} ms for ${what}; the sandbox said:\n${output}`);
    await clock.sleep(everyMs);
  }
}
