/**
 * What must not matter: the leader dies in the middle of a launch, the API server is away for a while. No node is lost, none is there twice.
 * Linux: the API server's command is found in /proc.
 */
import { spawn } from "node:child_process";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Deployment, Deployments, KwokNodeClasses, Leases, NodeClaims, type NodePool, NodePools, Nodes, Pods } from "@joinery/api";
import { createOnce, type KubeClient } from "@joinery/kube";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clock, connect, eventually, installCrds, type RunningController, startController, workFolder } from "./cluster.ts";

const namespace = "default";
const POOL = "karpenter.sh/nodepool";

let client: KubeClient;
const controllers = new Map<string, RunningController>();
let starts = 0;
let isStopping = false;

beforeAll(async () => {
  client = await connect();
  await installCrds(client);
  await createOnce(client, KwokNodeClasses, { metadata: { name: "default" }, spec: {} });
  const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
  const requirements = [{ key: "karpenter.kwok.sh/instance-cpu", operator: "Lt", values: ["5"] }] as const;
  await client.create(NodePools, {
    metadata: { name: "failover" },
    spec: { template: { spec: { nodeClassRef, requirements, expireAfter: "Never" } } },
  } as unknown as NodePool);
  for (const name of ["one", "two"]) start(name);
});

afterAll(async () => {
  for (const { metadata } of (await client.list(Deployments, { namespace })).items) {
    await client.delete(Deployments, { namespace, name: metadata?.name ?? "" }, { propagationPolicy: "Background" });
  }
  await client.delete(NodePools, { name: "failover" });
  await eventually("all NodeClaims and Nodes to go", 180_000, async () => {
    const [claims, nodes] = [(await client.list(NodeClaims)).items.length, (await client.list(Nodes)).items.length];
    return (claims === 0 && nodes === 0) || `${claims} NodeClaims, ${nodes} Nodes`;
  });
  isStopping = true;
  for (const controller of controllers.values()) controller.signal("SIGTERM");
  for (const controller of controllers.values()) expect(await controller.ended).toBe(0);
});

/** The pod's name is what its identity in the Lease begins with. One that ends by itself (O-78) is started again, as its pod would be. */
function start(name: string): void {
  const controller = startController(`failover-${name}-${++starts}`, [], { POD_NAME: name });
  controllers.set(name, controller);
  void controller.ended.then(() => {
    if (!isStopping && controllers.get(name) === controller) start(name);
  });
}

async function leader(): Promise<string | undefined> {
  const lease = await client.find(Leases, { namespace: "kube-system", name: "karpenter-leader-election" });
  return lease?.spec?.holderIdentity?.split("_")[0];
}

function deployment(name: string, replicas: number): Deployment {
  const labels = { app: name };
  const containers = [{ name: "main", image: "example.com/app", resources: { requests: { cpu: "900m", memory: "256Mi" } } }];
  const spec = { terminationGracePeriodSeconds: 1, nodeSelector: { [POOL]: "failover" }, containers };
  return { metadata: { name, namespace }, spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } } };
}

async function untilRunning(name: string, count: number): Promise<void> {
  await eventually(`${count} pods of ${name} to run`, 180_000, async () => {
    const pods = (await client.list(Pods, { namespace, labelSelector: `app=${name}` })).items;
    const running = pods.filter(({ status }) => status?.phase === "Running").length;
    return running === count || `${running} run`;
  });
}

/** Each NodeClaim has its own Node, and each Node its NodeClaim. */
async function untilAgreed(): Promise<number> {
  await eventually("every NodeClaim to be Ready", 60_000, async () =>
    (await client.list(NodeClaims)).items.every(
      ({ status }) => status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false,
    ),
  );
  const claims = (await client.list(NodeClaims)).items;
  const nodes = (await client.list(Nodes)).items;
  expect(claims.map(({ status }) => status?.nodeName).sort()).toEqual(nodes.map(({ metadata }) => metadata?.name).sort());
  expect(new Set(claims.map(({ status }) => status?.providerID)).size).toBe(claims.length);
  return claims.length;
}

test("law 3: kill -9 of the leader in the middle of its launches: the other replica ends what it began", async () => {
  await eventually("a leader", 30_000, async () => controllers.has((await leader()) ?? ""));
  await client.create(Deployments, deployment("burst", 30));
  const dead = (await leader())!;
  await eventually("a NodeClaim", 60_000, async () => (await client.list(NodeClaims)).items.length > 0);
  controllers.get(dead)!.signal("SIGKILL");
  controllers.delete(dead);
  await eventually("another leader", 60_000, async () => controllers.has((await leader()) ?? ""));
  await untilRunning("burst", 30);
  // 900m on nodes of four cores at most: ten would do, whoever planned them.
  const count = await untilAgreed();
  expect(count).toBeLessThanOrEqual(15);
  start(dead);
});

test("an API server that is away for a while: controllers wait, and go on where they were", async () => {
  const before = (await client.list(NodeClaims)).items.map(({ metadata }) => metadata?.uid).sort();
  await client.patch(Deployments, { namespace, name: "burst" }, { type: "merge", body: { spec: { replicas: 40 } } });
  await restartApiServer();
  await untilRunning("burst", 40);
  await untilAgreed();
  const after = new Set((await client.list(NodeClaims)).items.map(({ metadata }) => metadata?.uid));
  expect(before.every((uid) => after.has(uid))).toBe(true);
  await eventually("a leader", 60_000, async () => controllers.has((await leader()) ?? ""));
});

/** Kills it and starts the same command again after some seconds. */
async function restartApiServer(): Promise<void> {
  const folder = workFolder();
  const pids = readFileSync(join(folder, "pids"), "utf8").trim().split("\n");
  const command = (pid: string) => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").filter(Boolean);
  const index = pids.findIndex((pid) => command(pid)[0]?.endsWith("kube-apiserver"));
  const [file = "", ...args] = command(pids[index]!);
  process.kill(Number(pids[index]), "SIGKILL");
  await clock.sleep(5000);
  const log = openSync(join(folder, "apiserver.log"), "a");
  const child = spawn(file, args, { cwd: folder, detached: true, stdio: ["ignore", log, log] });
  child.unref();
  pids[index] = String(child.pid);
  writeFileSync(join(folder, "pids"), `${pids.join("\n")}\n`);
  await eventually("the API server", 60_000, async () =>
    client.raw("/readyz").then(
      () => true,
      () => false,
    ),
  );
}
