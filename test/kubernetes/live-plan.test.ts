/** `joinery plan`, `explain` and `lint` of a real cluster, by a reader who has the ClusterRole of docs/live.md and no other right. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Deployment,
  Deployments,
  type Kind,
  type KubeObject,
  KwokNodeClasses,
  kind,
  Namespaces,
  NodeClaims,
  NodePools,
  Nodes,
  Pods,
  ReplicaSets,
  StorageClasses,
} from "@joinery/api";
import { type ApiError, createKubeClient, createOnce, type KubeClient, loadTransport } from "@joinery/kube";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { clock, connect, type Exit, eventually, installCrds, joinery, workFolder } from "./cluster.ts";

const ServiceAccounts = kind("", "v1", "ServiceAccount", "serviceaccounts", true);
const Secrets = kind("", "v1", "Secret", "secrets", true);
const ClusterRoles = kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false);
const ClusterRoleBindings = kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", false);

const NAMESPACE = "live-plan";
/** More than a page. The scheduler leaves them alone, and so does every plan. */
const GATED_PODS = 520;
/** Nobody else's pods ask for it, and no other suite's node has it. */
const ONLY_HERE = { "example.com/suite": "live-plan" };
const catalog = ["--catalog", join(import.meta.dirname, "../lint/catalog.json")];

interface ClusterRole extends KubeObject {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

let admin: KubeClient;
const role = roleOfTheDocs();
const created: (readonly [Kind, { readonly name: string; readonly namespace?: string }])[] = [];

beforeAll(async () => {
  admin = await connect();
  await installCrds(admin);
  await add(Namespaces, { metadata: { name: NAMESPACE } });
  await reader("joinery-reader", role);
  await reader("nobody");
  const withoutSome = role.rules.map((rule) => ({
    ...rule,
    resources: rule.resources.filter((name) => !["limitranges", "jobs"].includes(name)),
  }));
  await reader("half-reader", { ...role, metadata: { name: "half-reader" }, rules: withoutSome });
  await add(KwokNodeClasses, { metadata: { name: "live-plan" } });
  await add(NodePools, pool("live-plan", ["zone-a"]));
  await add(Deployments, deployment("web", 3, {}));
  await add(Deployments, deployment("elsewhere", 1, { "topology.kubernetes.io/zone": "zone-b" }));
  const gated = { schedulingGates: [{ name: "example.com/wait" }], containers: [{ name: "c", image: "i" }] };
  for (let from = 0; from < GATED_PODS; from += 40) {
    const names = Array.from({ length: Math.min(40, GATED_PODS - from) }, (_, index) => `gated-${from + index}`);
    await Promise.all(names.map((name) => admin.create(Pods, { metadata: { name, namespace: NAMESPACE }, spec: gated })));
  }
  await eventually("the pods of the Deployments", 60_000, async () => {
    const { items } = await admin.list(Pods, { namespace: NAMESPACE, labelSelector: "app" });
    return items.length === 4 || `${items.length} pods`;
  });
});

afterAll(async () => {
  for (const [of, key] of created.reverse()) await admin.delete(of, key, { gracePeriodSeconds: 0 }).catch(() => undefined);
});

async function add(of: Kind, object: object): Promise<void> {
  const named = object as KubeObject;
  await createOnce(admin, of, named);
  const { name = "", namespace } = named.metadata ?? {};
  created.push([of, { name, ...(namespace && { namespace }) }]);
}

function roleOfTheDocs(): ClusterRole {
  const text = readFileSync(join(import.meta.dirname, "../../docs/live.md"), "utf8");
  return parse(text.match(/```yaml\n(apiVersion: rbac[\s\S]*?)```/)![1]!) as ClusterRole;
}

const kubeconfigOf = (name: string) => join(workFolder(), `${name}.kubeconfig`);

/** A service account with that role and a kubeconfig of its own. */
async function reader(name: string, its?: ClusterRole): Promise<void> {
  await add(ServiceAccounts, { metadata: { name, namespace: NAMESPACE } });
  if (its !== undefined) {
    await add(ClusterRoles, its);
    await add(ClusterRoleBindings, {
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: its.metadata?.name },
      subjects: [{ kind: "ServiceAccount", name, namespace: NAMESPACE }],
    });
  }
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } };
  const answer = await admin.createSubresource(ServiceAccounts, { name, namespace: NAMESPACE }, "token", request);
  const { token } = (answer as { readonly status: { readonly token: string } }).status;
  const config = parse(readFileSync(process.env.KUBECONFIG!, "utf8"));
  const users = [{ name, user: { token } }];
  const contexts = [{ name, context: { cluster: config.clusters[0].name, user: name, namespace: NAMESPACE } }];
  writeFileSync(kubeconfigOf(name), JSON.stringify({ ...config, users, contexts, "current-context": name }));
}

const pool = (name: string, zones: readonly string[]) => ({
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name },
  spec: {
    template: {
      metadata: { labels: ONLY_HERE },
      spec: {
        nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "live-plan" },
        requirements: [{ key: "topology.kubernetes.io/zone", operator: "In", values: zones }],
      },
    },
  },
});
const deployment = (app: string, replicas: number, selector: object): Deployment => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: app, namespace: NAMESPACE },
  spec: {
    replicas,
    selector: { matchLabels: { app } },
    template: {
      metadata: { labels: { app } },
      spec: {
        nodeSelector: { ...ONLY_HERE, ...selector },
        containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1", memory: "1Gi" } } }],
      },
    },
  },
});

function ask(
  command: readonly string[],
  { as = "joinery-reader", file }: { readonly as?: string; readonly file?: object } = {},
): Promise<Exit> {
  const path = join(workFolder(), "layer.json");
  if (file !== undefined) writeFileSync(path, JSON.stringify(file));
  const env = { ...process.env, KUBECONFIG: kubeconfigOf(as) };
  return joinery([...command, ...(file === undefined ? [] : [path]), ...catalog, "--live"], env);
}

interface PlanDocument {
  readonly newNodes: readonly { readonly nodePool: string; readonly pods: readonly string[] }[];
  readonly unschedulable: readonly { readonly pod: string }[];
}

const isOurs = (pod: string) => pod.startsWith(`${NAMESPACE}/`);
const placed = ({ newNodes }: PlanDocument) => newNodes.flatMap(({ pods }) => pods.filter(isOurs)).map(withoutHash);
const unplaced = ({ unschedulable }: PlanDocument) =>
  unschedulable
    .map(({ pod }) => pod)
    .filter(isOurs)
    .map(withoutHash);
/** Of `live-plan/web-5d4f-x7k2p`: the Deployment. */
const withoutHash = (pod: string) => pod.replace(/-[a-z0-9]+-[a-z0-9]+$/, "");

test("the reader may list, and nothing else", async () => {
  const { transport } = await loadTransport({ clock, env: {}, kubeconfigPath: kubeconfigOf("joinery-reader") });
  const client = createKubeClient(transport);
  const outcomes = await Promise.allSettled([
    client.list(Secrets),
    client.create(Namespaces, { metadata: { name: "not-mine" } }),
    client.delete(Deployments, { name: "web", namespace: NAMESPACE }),
    client.get(Pods, { name: "gated-0", namespace: NAMESPACE }),
  ]);
  expect(outcomes.map((outcome) => (outcome.status === "rejected" ? (outcome.reason as ApiError).status : 0))).toEqual([
    403, 403, 403, 403,
  ]);
  await transport.close();
});

test("the plan of the cluster is that of its objects in a file", async () => {
  const { stdout, stderr, status } = await ask(["plan", "-o", "json"]);
  expect({ stderr, status }).toEqual({ stderr: "", status: 3 });
  const ofCluster = JSON.parse(stdout) as PlanDocument;
  expect(placed(ofCluster)).toEqual(Array(3).fill(`${NAMESPACE}/web`));
  expect(unplaced(ofCluster)).toEqual([`${NAMESPACE}/elsewhere`]);
  const path = join(workFolder(), "objects.json");
  writeFileSync(path, JSON.stringify({ apiVersion: "v1", kind: "List", items: await allObjects() }));
  const ofFile = JSON.parse((await joinery(["plan", path, "-o", "json", ...catalog])).stdout) as PlanDocument;
  const ours = ({ newNodes, unschedulable }: PlanDocument) => ({
    newNodes: newNodes.filter(({ nodePool }) => nodePool === "live-plan"),
    unschedulable: unschedulable.filter(({ pod }) => isOurs(pod)),
  });
  expect(ours(ofCluster)).toEqual(ours(ofFile));
});

async function allObjects(): Promise<readonly object[]> {
  const items: object[] = [];
  const kinds: readonly Kind[] = [
    KwokNodeClasses,
    NodePools,
    NodeClaims,
    Nodes,
    Pods,
    Deployments,
    ReplicaSets,
    StorageClasses,
    Namespaces,
  ];
  for (const of of kinds) {
    const apiVersion = of.group === "" ? of.version : `${of.group}/${of.version}`;
    for await (const object of admin.listAll(of)) items.push({ ...object, apiVersion, kind: of.kind });
  }
  return items;
}

test("every page is read, and the summary says how much", async () => {
  const { stdout } = await ask(["plan"]);
  const pods = Number(stdout.match(/\nCluster joinery-reader \(https:[^)]*\): (\d+) Pod,/)?.[1]);
  expect(pods).toBeGreaterThanOrEqual(GATED_PODS + 4);
  expect(stdout).toContain(`${GATED_PODS} behind a scheduling gate`);
});

test("a NodePool that is to be applied is tried over the cluster's", async () => {
  const { stdout } = await ask(["plan", "-o", "json"], { file: pool("live-plan", ["zone-a", "zone-b"]) });
  expect(unplaced(JSON.parse(stdout))).toEqual([]);
  expect(placed(JSON.parse(stdout))).toContain(`${NAMESPACE}/elsewhere`);
});

test("explain and lint read the same cluster", async () => {
  const explained = await ask(["explain", "pod", `${NAMESPACE}/elsewhere`]);
  expect(explained.stdout).toContain(`Deployment ${NAMESPACE}/elsewhere: 1 of 1 pods without a place`);
  expect({ status: explained.status, stderr: explained.stderr }).toEqual({ status: 0, stderr: "" });
  const linted = await ask(["lint"]);
  expect(linted.stdout).toContain(`cluster:Deployment/${NAMESPACE}/elsewhere\n  error [`);
  expect({ status: linted.status, stderr: linted.stderr }).toEqual({ status: 5, stderr: "" });
});

describe("a reader with fewer rights", () => {
  test("is told what is missing, and gets a plan without it", async () => {
    const { stdout, stderr, status } = await ask(["plan"], { as: "half-reader" });
    expect(stderr).toMatch(
      /^warning: cluster half-reader \(.*\): you may not list jobs\.batch, limitranges; what they would say is not known here\n$/,
    );
    expect(stdout).toContain("\nNot read from the cluster: you may not list jobs.batch, limitranges; ");
    expect(status).toBe(3);
  });

  test("gets no plan without Pods and NodePools", async () => {
    const { stdout, stderr, status } = await ask(["plan"], { as: "nobody" });
    expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
    expect(stderr).toMatch(
      /^error: cluster nobody \(.*\): you may not list pods, nodepools\.karpenter\.sh, nodeclaims\.karpenter\.sh, nodes in all namespaces, .*ClusterRole of docs\/live\.md\n$/,
    );
  });
});
