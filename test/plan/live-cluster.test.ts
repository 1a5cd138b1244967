/** `plan`, `explain` and `lint` of a cluster: the answers are those of the same objects in files. docs/live.md. */
import { join } from "node:path";
import {
  CustomResourceDefinitions,
  crdOf,
  DaemonSets,
  Deployments,
  type Kind,
  type KubeObject,
  KwokNodeClasses,
  Namespaces,
  NodeClaims,
  NodePools,
  Nodes,
  OWNED_KINDS,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  ReplicaSets,
  StorageClasses,
} from "@joinery/api";
import { createKubeClient, createRandom, createVirtualClock, type KubeClient } from "@joinery/kube";
import { createApiServer } from "@joinery/sandbox";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type GuardedServer, guardedServer } from "./guarded-server.ts";
import { type RunOptions, runJoinery } from "./run-joinery.ts";

const catalog = ["--catalog", join(import.meta.dirname, "../lint/catalog.json")];
const KINDS: readonly Kind[] = [
  KwokNodeClasses,
  NodePools,
  NodeClaims,
  Nodes,
  Pods,
  Deployments,
  ReplicaSets,
  DaemonSets,
  PersistentVolumeClaims,
  PersistentVolumes,
  StorageClasses,
];

const pool = (name: string, zones: readonly string[], more: object = {}) => ({
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name },
  spec: {
    template: {
      spec: {
        nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
        requirements: [{ key: "topology.kubernetes.io/zone", operator: "In", values: zones }],
      },
    },
    ...more,
  },
});
const container = (cpu: string) => ({
  name: "main",
  image: "registry.example/app:1",
  env: [{ name: "SECRET_OF_NOBODY", value: "x" }],
  volumeMounts: [{ name: "token", mountPath: "/token" }],
  resources: { requests: { cpu, memory: "1Gi" } },
});
const podSpec = (cpu: string, more: object = {}) => ({ containers: [container(cpu)], volumes: [{ name: "token", emptyDir: {} }], ...more });
const template = (app: string, cpu: string, more: object = {}) => ({ metadata: { labels: { app } }, spec: podSpec(cpu, more) });
const owner = (kind: string, name: string, uid: string) => ({
  ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid, controller: true }],
});

let world: { readonly user: KubeClient; readonly server: GuardedServer };
const create = (kind: Kind, object: object) => world.user.create(kind, object as KubeObject);

beforeAll(async () => {
  const api = createApiServer({ clock: createVirtualClock({ startMs: Date.UTC(2026, 0, 1) }), random: createRandom(7) });
  const user = createKubeClient(api.transport("people"));
  world = { user, server: await guardedServer(api.transport("joinery")) };
  for (const owned of OWNED_KINDS) await create(CustomResourceDefinitions, crdOf(owned));
  await furnish();
});
afterAll(() => world.server.close());
beforeEach(() => {
  world.server.refusals.clear();
  world.server.requests.length = 0;
});

/** A node with a resident, a Deployment that lacks places, one with a volume, a DaemonSet, one that asks for what no pool has. */
async function furnish(): Promise<void> {
  await create(Namespaces, { metadata: { name: "shop" } });
  await create(KwokNodeClasses, { metadata: { name: "default" } });
  await create(NodePools, pool("default", ["zone-a"]));
  await create(Nodes, {
    metadata: {
      name: "old",
      labels: {
        "topology.kubernetes.io/zone": "zone-a",
        "kubernetes.io/hostname": "old",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
      },
    },
    spec: { providerID: "x:///old" },
    status: {
      capacity: { cpu: "4", memory: "16Gi", pods: "110" },
      allocatable: { cpu: "4", memory: "16Gi", pods: "110" },
      conditions: [{ type: "Ready", status: "True" }],
      images: [{ names: ["registry.example/app:1"], sizeBytes: 1 }],
    },
  });
  await world.user.patch(
    Nodes,
    { name: "old" },
    {
      type: "merge",
      body: {
        status: {
          capacity: { cpu: "4", memory: "16Gi", pods: "110" },
          allocatable: { cpu: "4", memory: "16Gi", pods: "110" },
          conditions: [{ type: "Ready", status: "True" }],
        },
      },
    },
    { subresource: "status" },
  );
  for (const [app, cpu, count, more] of [
    ["web", "1", 5, {}],
    ["arm", "1", 2, { nodeSelector: { "topology.kubernetes.io/zone": "zone-b" } }],
  ] as const) {
    const deployment = await create(Deployments, {
      metadata: { name: app, namespace: "shop" },
      spec: { replicas: count, selector: { matchLabels: { app } }, template: template(app, cpu, more) },
    });
    const set = await create(ReplicaSets, {
      metadata: { name: `${app}-1`, namespace: "shop", ...owner("Deployment", app, deployment.metadata!.uid!) },
      spec: { replicas: count, selector: { matchLabels: { app } }, template: template(app, cpu, more) },
    });
    for (let n = 0; n < count; n++)
      await create(Pods, {
        metadata: { name: `${app}-1-${n}`, namespace: "shop", labels: { app }, ...owner("ReplicaSet", `${app}-1`, set.metadata!.uid!) },
        spec: podSpec(cpu, { ...more, ...(app === "web" && n < 2 && { nodeName: "old" }) }),
      });
  }
  await create(DaemonSets, {
    metadata: { name: "agent", namespace: "shop" },
    spec: { selector: { matchLabels: { app: "agent" } }, template: template("agent", "100m") },
  });
}

const joinery = (args: readonly string[], options: RunOptions = {}) => runJoinery([...args, ...catalog], options);
const live = (args: readonly string[], options: RunOptions = {}) => joinery([...args, "--kubeconfig", world.server.kubeconfig], options);

/** What kubectl would print of the same objects. */
async function asFile(): Promise<string> {
  const items: object[] = [];
  for (const kind of KINDS) {
    const { items: found } = await world.user.list(kind);
    const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
    items.push(...found.map((object) => ({ ...object, apiVersion, kind: kind.kind })));
  }
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}

const withoutTime = (text: string) => text.replace(/"solveMilliseconds": [\d.]+/, `"solveMilliseconds": 0`);

/** What was read from where is all that a file does not say. */
function withoutNotes({ summary, ...document }: Readonly<Record<string, unknown>> & { readonly summary?: { readonly notes?: unknown } }) {
  const { notes: _, ...rest } = summary ?? {};
  return Object.keys(rest).length === 0 ? document : { ...document, summary: rest };
}

test.each([
  { args: ["plan"], status: 3 },
  { args: ["explain", "pod", "shop/arm"], status: 0 },
  { args: ["explain", "pod", "shop/web-1-4"], status: 0 },
  { args: ["explain", "node", "old"], status: 0 },
])("$args of a cluster is that of the same objects in a file", async ({ args, status }) => {
  const ofCluster = await live([...args, "-o", "json"]);
  const ofFile = await joinery([...args, "-", "-o", "json"], { stdin: await asFile() });
  expect(ofCluster.err).toBe("");
  expect(ofCluster.status).toBe(status);
  expect(withoutNotes(JSON.parse(withoutTime(ofCluster.out)))).toEqual(JSON.parse(withoutTime(ofFile.out)));
});

test("the plan says what was read", async () => {
  const table = await live(["plan"]);
  expect(table.out).toContain("\nCluster prod (http://127.0.0.1:");
  expect(table.out).toMatch(/: 7 Pod, 1 NodePool, 1 Node, .*2 Deployment, 2 ReplicaSet, 1 DaemonSet/);
  const { summary } = JSON.parse((await live(["plan", "-o", "json"])).out);
  expect(table.out).toContain(`\n${summary.notes.join("\n")}\n`);
});

test("a proposed edit of a list has all that stands in it, so that the patch takes nothing away", async () => {
  await create(Pods, { metadata: { name: "huge", namespace: "default" }, spec: podSpec("900") });
  const { fix } = JSON.parse((await live(["explain", "pod", "default/huge", "-o", "json"])).out);
  expect(fix.patch.spec.containers).toEqual(
    [{ ...container("900"), resources: { requests: { cpu: expect.any(String), memory: "1Gi" } } }].map((one) =>
      expect.objectContaining(one),
    ),
  );
  await world.user.delete(Pods, { name: "huge", namespace: "default" }, { gracePeriodSeconds: 0 });
});

test("only lists are asked for, each kind of the feature gates only with them", async () => {
  await live(["plan"]);
  const paths = (requests: readonly string[]) => new Set(requests.map((request) => request.split("/").at(-1)));
  const plain = paths(world.server.requests);
  expect(world.server.requests.every((request) => request.startsWith("GET "))).toBe(true);
  expect(plain).not.toContain("nodeoverlays");
  expect(plain).not.toContain("capacitybuffers");
  world.server.requests.length = 0;
  await live(["plan", "--feature-gates", "NodeOverlay=true,CapacityBuffer=true"]);
  const added = [...paths(world.server.requests)].filter((resource) => !plain.has(resource));
  expect(added.sort()).toEqual(["capacitybuffers", "nodeoverlays", "podtemplates"]);
});

test("lint names the objects of the cluster where it names files and lines otherwise", async () => {
  const text = await live(["lint"]);
  expect(text.out).toMatch(/^cluster:Deployment\/shop\/arm\n {2}error \[/m);
  expect(text.out).toMatch(/1 error, .* in 1 object of the cluster\n$/);
  expect(text.status).toBe(5);
  const { findings } = JSON.parse((await live(["lint", "-o", "json"])).out);
  expect(findings.find(({ file }: { file: string }) => file === "cluster:Deployment/shop/arm")).not.toHaveProperty("line");
  const sarif = JSON.parse((await live(["lint", "-o", "sarif"])).out);
  expect(sarif.runs[0].results[0].locations[0]).not.toHaveProperty("physicalLocation");
  expect(sarif.runs[0].results[0].locations[0].logicalLocations[0].fullyQualifiedName).toMatch(/\/default|\/arm/);
});

test("lint says for sure that a node class is missing, since all of the cluster's are known", async () => {
  const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "none" };
  const file = { ...pool("more", ["zone-a"]), spec: { template: { spec: { nodeClassRef, requirements: [] } } } };
  const severities = async (run: typeof live) =>
    JSON.parse((await run(["lint", "-", "-o", "json"], { stdin: JSON.stringify(file) })).out).findings.flatMap(
      ({ rule, severity }: { rule: string; severity: string }) => (rule === "node-class-missing" ? [severity] : []),
    );
  expect(await severities(live)).toEqual(["error"]);
  expect(await severities(joinery)).toEqual(["note"]);
  world.server.refusals.set("ec2nodeclasses", 403);
  expect(await severities(live)).toEqual(["note"]);
});

test("a NodePool in a file is tried in place of the cluster's, and one more beside it", async () => {
  const inPlace = await live(["plan", "-"], { stdin: JSON.stringify(pool("default", ["zone-a", "zone-b"])) });
  expect(inPlace.out).toContain("\nIn place of the cluster's, from files: NodePool/default\n");
  expect(inPlace.status).toBe(0);
  const beside = await live(["plan", "-"], { stdin: JSON.stringify(pool("more", ["zone-b"])) });
  expect(beside.out).toContain("\nBeside the cluster's, from files: NodePool/more\n");
  expect(beside.status).toBe(0);
  const linted = await live(["lint", "-", "-o", "json"], { stdin: JSON.stringify(pool("default", ["zone-z"])) });
  const files = JSON.parse(linted.out).findings.map(({ file }: { file: string }) => file);
  expect(files).toContain("<stdin>");
  expect(files).not.toContain("cluster:NodePool/default");
});

test("a NodePool in a file whose node class the cluster does not have gets no nodes; one in another file will do", async () => {
  const wish = pool("more", ["zone-b"]);
  const { template } = wish.spec;
  const lost = {
    ...wish,
    spec: { template: { spec: { ...template.spec, nodeClassRef: { ...template.spec.nodeClassRef, name: "lost" } } } },
  };
  const nodeClass = { apiVersion: "karpenter.kwok.sh/v1alpha1", kind: "KWOKNodeClass", metadata: { name: "lost" } };
  const plan = (...items: readonly object[]) => live(["plan", "-"], { stdin: JSON.stringify({ apiVersion: "v1", kind: "List", items }) });
  const without = await plan(lost);
  expect(without.out).toContain("\nNodePool more is left out: the cluster has no KWOKNodeClass lost\n");
  expect(without.status).toBe(3);
  expect((await plan(lost, nodeClass)).status).toBe(0);
});

test("a Deployment in a file scales the cluster's in the namespace of the context", async () => {
  const spec = { selector: { matchLabels: { app: "web" } }, template: template("web", "1") };
  const file = (replicas?: number) =>
    JSON.stringify({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec: { ...spec, replicas } });
  const pods = async (stdin: string, ...args: string[]) =>
    JSON.parse((await live(["plan", "-", "-o", "json", ...args], { stdin })).out).stats.pods;
  const waiting = 5;
  expect(await pods(file(9), "--context", "shop")).toBe(waiting + 4);
  expect(await pods(file(), "--context", "shop")).toBe(waiting);
  // In the namespace `default` there is no such Deployment.
  expect(await pods(file(9))).toBe(waiting + 9);
});

test.each([
  {
    name: "no such context",
    args: ["--context", "nope"],
    status: 2,
    err: /^error: .*context "nope" is not in it, wanted one of prod, shop, gone\n$/,
  },
  {
    name: "nobody there",
    args: ["--context", "gone"],
    status: 1,
    err: /^error: cluster gone \(http:\/\/127\.0\.0\.1:1\): Cannot GET .*cannot be reached.*\n$/,
  },
  {
    name: "a login that is refused",
    refusals: { "*": 401 },
    status: 2,
    err: /^error: cluster prod .*: it does not accept this login .*; log in again\n$/,
  },
  {
    name: "Pods may not be listed",
    refusals: { pods: 403 },
    status: 2,
    err: /^error: cluster prod .*: you may not list pods in all namespaces, .*no \/api\/v1\/pods for you.*; ask for the ClusterRole of docs\/live\.md\n$/,
  },
  {
    name: "NodePools and Nodes may not be listed",
    refusals: { nodepools: 403, nodes: 403 },
    status: 2,
    err: /you may not list nodepools\.karpenter\.sh, nodes in all namespaces/,
  },
  {
    name: "no definitions",
    refusals: { nodepools: 404, nodeclaims: 404 },
    status: 2,
    err: /^error: cluster prod .*: it does not serve nodepools of karpenter\.sh\/v1; install the definitions/,
  },
])("what ends it with one line: $name", async ({ args = [], refusals = {}, status, err }) => {
  for (const [resource, code] of Object.entries(refusals)) world.server.refusals.set(resource, code);
  for (const command of [["plan"], ["explain", "pod", "shop/web"], ["lint"]]) {
    const result = await live([...command, ...args]);
    expect({ status: result.status, out: result.out }).toEqual({ status, out: "" });
    expect(result.err).toMatch(err);
    expect(result.err.trimEnd()).not.toContain("\n");
  }
});

test("without definitions the NodePools of files are tried", async () => {
  world.server.refusals.set("nodepools", 404).set("nodeclaims", 404).set("ec2nodeclasses", 404);
  const { status, err } = await live(["plan", "-"], { stdin: JSON.stringify(pool("new", ["zone-a", "zone-b"])) });
  expect({ status, err }).toEqual({ status: 0, err: "" });
});

test("what may not be listed is one warning and one line of the summary; extensions that are absent are none", async () => {
  world.server.refusals.set("limitranges", 403).set("storageclasses", 403).set("csinodes", 404).set("ec2nodeclasses", 404);
  const { status, out, err } = await live(["plan"]);
  expect(status).toBe(3);
  expect(err.split("\n")).toEqual([
    expect.stringMatching(/^warning: cluster prod .*: you may not list storageclasses\.storage\.k8s\.io, limitranges; /),
    expect.stringMatching(/^warning: cluster prod .*: it does not serve csinodes\.storage\.k8s\.io$/),
    "",
  ]);
  expect(out).toContain("\nNot read from the cluster: you may not list storageclasses.storage.k8s.io, limitranges; ");
});

test("wrong files are told before the cluster is asked anything", async () => {
  const { status, err } = await live(["plan", "-"], { stdin: JSON.stringify({ ...pool("x", ["zone-a"]), spec: {} }) });
  expect(status).toBe(2);
  expect(err).toMatch(/^error: <stdin>:1:\d+: NodePool\/x: spec\.template: /);
  expect(world.server.requests).toEqual([]);
});

test("progress is one line that is rewritten and taken away, and only a terminal sees it", async () => {
  const { err } = await live(["plan"], { isInteractive: true });
  const lines = err.split("\r\u001b[K");
  expect(lines.length).toBeGreaterThan(10);
  expect(lines[1]).toMatch(/^Reading the cluster prod/);
  expect(lines.some((line) => / 7 pods …$/.test(line))).toBe(true);
  expect(lines.at(-1)).toBe("");
  expect((await live(["plan"])).err).toBe("");
});
