/**
 * The sandbox's stand-ins for the Kubernetes controllers beside the real ones: the same objects, the same steps, and afterwards the same
 * statuses and events. What they answer differently is a fault of the sandbox. Pods that fit no node are ended by hand in both.
 */
import {
  DaemonSets,
  Deployments,
  Jobs,
  type Kind,
  type KubeObject,
  kind,
  Namespaces,
  Nodes,
  PodDisruptionBudgets,
  Pods,
  ReplicaSets,
  StatefulSets,
} from "@joinery/api";
import { ApiError, createKubeClient, type KubeClient, loadTransport } from "@joinery/kube";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aFakeNode, aTemplate } from "../../packages/sandbox/src/world/builders.ts";
import { aWorld, type TestWorld } from "../../packages/sandbox/src/world/test-world.ts";
import { clock } from "./cluster.ts";

const ConfigMaps = kind("", "v1", "ConfigMap", "configmaps", true);
const Events = kind("", "v1", "Event", "events", true);
const WORKLOADS: readonly Kind[] = [Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, PodDisruptionBudgets];
const SUITE = { suite: "stand-ins" };
const NOWHERE = { no: "where" };

interface Stage {
  readonly client: KubeClient;
  readonly namespace: string;
  /** Real seconds on the real cluster, virtual ones in the sandbox. */
  wait(seconds: number): Promise<void>;
}

const labels = { app: "w" };
const selector = { matchLabels: labels };
const fast = { terminationGracePeriodSeconds: 0 };
const fits = aTemplate({ labels, cpu: "10m", memory: "10Mi", spec: { ...fast, nodeSelector: SUITE } });
const stuck = aTemplate({ labels, cpu: "10m", memory: "10Mi", spec: { ...fast, nodeSelector: NOWHERE } });
const batch = { ...stuck, spec: { ...stuck.spec, restartPolicy: "Never" as const } };

function create(kindOf: Kind, { client, namespace }: Stage, spec: object, name = "w"): Promise<KubeObject> {
  const object = { apiVersion: kindOf.group === "" ? kindOf.version : `${kindOf.group}/${kindOf.version}`, kind: kindOf.kind };
  return client.create(kindOf, { ...object, metadata: { name, namespace }, spec } as KubeObject);
}

function change(kindOf: Kind, { client, namespace }: Stage, spec: object): Promise<KubeObject> {
  return client.patch(kindOf, { name: "w", namespace }, { type: "merge", body: { spec } });
}

/** Ends the pods that wait, those of one completion index or all. */
async function end(
  { client, namespace }: Stage,
  phase: "Succeeded" | "Failed",
  { index, status = {} }: { index?: number; status?: object } = {},
): Promise<void> {
  const { items } = await client.list(Pods, { namespace });
  for (const { metadata, status: is } of items) {
    const isMeant = index === undefined || metadata?.annotations?.["batch.kubernetes.io/job-completion-index"] === String(index);
    if (isMeant && is?.phase === "Pending") {
      const key = { name: metadata?.name ?? "", namespace };
      await client.patch(Pods, key, { type: "merge", body: { status: { ...status, phase } } }, { subresource: "status" });
    }
  }
}

const newTemplate = { template: { metadata: { annotations: { v: "2" } } } };
const stuckTemplate = { template: { spec: { nodeSelector: { suite: null, ...NOWHERE } } } };

async function until(stage: Stage, what: string, ask: () => Promise<boolean>): Promise<void> {
  for (let seconds = 0; !(await ask()); seconds++) {
    if (seconds === 60) throw new Error(`${stage.namespace}: ${what}`);
    await stage.wait(1);
  }
}

/** The names of the pods, once there are as many as wanted and all run. */
async function running(stage: Stage, count: number): Promise<readonly string[]> {
  let names: readonly string[] = [];
  await until(stage, `${count} pods do not run`, async () => {
    const { items } = await stage.client.list(Pods, { namespace: stage.namespace });
    names = items.map(({ metadata }) => metadata?.name ?? "").sort();
    return items.length === count && items.every(({ status, metadata }) => status?.phase === "Running" && !metadata?.deletionTimestamp);
  });
  return names;
}

/** Of the budget `w`: so many pods must stay. */
async function demand({ client, namespace }: Stage, minAvailable: number): Promise<void> {
  await client.patch(PodDisruptionBudgets, { name: "w", namespace }, { type: "merge", body: { spec: { minAvailable } } });
}

/** Waits until the budget's controller has counted so many pods that may go. */
function allowing(stage: Stage, count: number, name = "w"): Promise<void> {
  return until(stage, `${name} does not allow ${count}`, async () => {
    const { status } = await stage.client.get(PodDisruptionBudgets, { name, namespace: stage.namespace });
    return status?.disruptionsAllowed === count;
  });
}

/** The status and the words of the answer to an eviction. */
async function evict({ client, namespace }: Stage, name: string): Promise<string> {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
  try {
    await client.createSubresource(Pods, { name, namespace }, "eviction", eviction);
    return "evicted";
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `${error.status} ${error.message}`;
  }
}

function createMap({ client, namespace }: Stage, name: string, owners: readonly KubeObject[] = [], finalizers?: readonly string[]) {
  const ownerReferences = owners.map(({ metadata }) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    name: metadata?.name ?? "",
    uid: metadata?.uid ?? "",
    blockOwnerDeletion: true,
  }));
  return client.create(ConfigMaps, { metadata: { name, namespace, ownerReferences, ...(finalizers && { finalizers: [...finalizers] }) } });
}

async function familyOf({ client, namespace }: Stage): Promise<string[]> {
  const maps = (await client.list(ConfigMaps, { namespace })).items.filter(({ metadata }) => metadata?.name !== "kube-root-ca.crt");
  return maps.map(({ metadata }) => {
    const owners = metadata?.ownerReferences?.map(({ name }) => name) ?? [];
    const isGoing = metadata?.deletionTimestamp === undefined ? "" : `, going, held by ${metadata.finalizers}`;
    return `${metadata?.name} of [${owners}]${isGoing}`;
  });
}

/** What a scenario returns is compared too. */
const SCENARIOS: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  async "evictions that a budget allows and refuses"(stage) {
    await create(ReplicaSets, stage, { replicas: 3, selector, template: fits });
    const [first = ""] = await running(stage, 3);
    await create(PodDisruptionBudgets, stage, { minAvailable: 2, selector });
    await allowing(stage, 1);
    const answers = [await evict(stage, first)];
    const [second = ""] = await running(stage, 3);
    // What comes for the evicted pod may be there before the next question: only a budget that wants all refuses for sure.
    await demand(stage, 3);
    await allowing(stage, 0);
    answers.push(await evict(stage, second), await evict(stage, "nobody"));
    await demand(stage, 2);
    await allowing(stage, 1);
    await create(PodDisruptionBudgets, stage, { maxUnavailable: 1, selector }, "twice");
    await allowing(stage, 1, "twice");
    return normalized([...answers, await evict(stage, second)]);
  },
  async "evictions of pods that wait or are ill"(stage) {
    const { client, namespace } = stage;
    await client.create(Pods, { metadata: { name: "waits", namespace, labels }, spec: stuck.spec } as never);
    await create(PodDisruptionBudgets, stage, { minAvailable: 1, selector });
    await stage.wait(3);
    const waits = await evict(stage, "waits");
    await stage.wait(2);
    await client.create(Pods, { metadata: { name: "bare", namespace, labels: { app: "nobody" } }, spec: fits.spec } as never);
    await running(stage, 1);
    return [waits, await evict(stage, "bare")];
  },
  async "dependents of what is deleted in the background, in the foreground, and orphaned"(stage) {
    const { client, namespace } = stage;
    const answers: string[][] = [];
    for (const propagationPolicy of ["Background", "Foreground", "Orphan"] as const) {
      const name = propagationPolicy.toLowerCase();
      const owner = await createMap(stage, name);
      const other = await createMap(stage, `${name}-other`);
      const child = await createMap(stage, `${name}-child`, [owner]);
      await createMap(stage, `${name}-grandchild`, [child]);
      await createMap(stage, `${name}-shared`, [owner, other]);
      await createMap(stage, `${name}-held`, [owner], ["example.com/hold"]);
      await stage.wait(2);
      await client.delete(ConfigMaps, { name, namespace }, { propagationPolicy });
      await stage.wait(6);
      answers.push(await familyOf(stage));
      await client.patch(ConfigMaps, { name: `${name}-held`, namespace }, { type: "merge", body: { metadata: { finalizers: null } } });
      await stage.wait(4);
      answers.push(await familyOf(stage));
    }
    return answers;
  },
  async "a rolling update and its way back"(stage) {
    await create(Deployments, stage, { replicas: 4, selector, template: fits });
    await stage.wait(8);
    await change(Deployments, stage, newTemplate);
    await stage.wait(10);
    await change(Deployments, stage, { template: { metadata: { annotations: { v: null } } } });
    await stage.wait(10);
  },
  async "a Deployment made while paused"(stage) {
    await create(Deployments, stage, { replicas: 2, paused: true, selector, template: fits });
    await stage.wait(4);
    await change(Deployments, stage, { replicas: 3 });
    await stage.wait(4);
  },
  async "a rollout past its deadline"(stage) {
    await create(Deployments, stage, { replicas: 2, progressDeadlineSeconds: 4, selector, template: stuck });
    await stage.wait(12);
  },
  async "a Deployment scaled up in a rollout that is stuck"(stage) {
    await create(Deployments, stage, { replicas: 10, selector, template: fits });
    await stage.wait(8);
    await change(Deployments, stage, stuckTemplate);
    await stage.wait(8);
    await change(Deployments, stage, { replicas: 20 });
    await stage.wait(8);
  },
  async "a Deployment scaled down in a rollout that is stuck"(stage) {
    await create(Deployments, stage, { replicas: 10, selector, template: fits });
    await stage.wait(8);
    await change(Deployments, stage, stuckTemplate);
    await stage.wait(8);
    await change(Deployments, stage, { replicas: 5 });
    await stage.wait(8);
  },
  async "a Deployment made again over what it left behind"(stage) {
    await create(Deployments, stage, { replicas: 2, selector, template: fits });
    await stage.wait(6);
    await stage.client.delete(Deployments, { name: "w", namespace: stage.namespace }, { propagationPolicy: "Orphan" });
    await stage.wait(4);
    await create(Deployments, stage, { replicas: 3, selector, template: fits });
    await stage.wait(8);
  },
  async "a StatefulSet, updated"(stage) {
    await create(StatefulSets, stage, { replicas: 3, serviceName: "s", selector, template: fits });
    await stage.wait(16);
    await change(StatefulSets, stage, newTemplate);
    await stage.wait(20);
  },
  async "a StatefulSet, scaled down in parallel"(stage) {
    await create(StatefulSets, stage, { replicas: 3, serviceName: "s", podManagementPolicy: "Parallel", selector, template: fits });
    await stage.wait(8);
    await change(StatefulSets, stage, { replicas: 1 });
    await stage.wait(8);
  },
  async "a DaemonSet with maxSurge, updated"(stage) {
    const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    await create(DaemonSets, stage, { updateStrategy, selector, template: fits });
    await stage.wait(8);
    await change(DaemonSets, stage, newTemplate);
    await stage.wait(20);
  },
  async "a Job that succeeds"(stage) {
    await create(Jobs, stage, { completions: 3, parallelism: 2, template: batch });
    for (let round = 0; round < 3; round++) {
      await stage.wait(4);
      await end(stage, "Succeeded");
    }
    await stage.wait(4);
  },
  async "a Job past its back-off limit"(stage) {
    await create(Jobs, stage, { backoffLimit: 0, template: batch });
    await stage.wait(3);
    await end(stage, "Failed");
    await stage.wait(6);
  },
  async "a Job between two tries"(stage) {
    await create(Jobs, stage, { backoffLimit: 3, template: batch });
    await stage.wait(2);
    await end(stage, "Failed");
    await stage.wait(4);
  },
  async "a Job with an index that fails"(stage) {
    const spec = { completions: 3, parallelism: 3, completionMode: "Indexed", backoffLimitPerIndex: 0, maxFailedIndexes: 2 };
    await create(Jobs, stage, { ...spec, template: batch });
    await stage.wait(4);
    await end(stage, "Failed", { index: 1 });
    await stage.wait(4);
    await end(stage, "Succeeded");
    await stage.wait(5);
  },
  async "a Job that ignores disruptions"(stage) {
    const rules = [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }];
    await create(Jobs, stage, { backoffLimit: 0, podFailurePolicy: { rules }, template: batch });
    await stage.wait(3);
    await end(stage, "Failed", { status: { conditions: [{ type: "DisruptionTarget", status: "True" }] } });
    await stage.wait(8);
  },
  async "a Job that a part of its work is enough for"(stage) {
    const successPolicy = { rules: [{ succeededIndexes: "0" }] };
    await create(Jobs, stage, { completions: 3, parallelism: 3, completionMode: "Indexed", successPolicy, template: batch });
    await stage.wait(4);
    await end(stage, "Succeeded", { index: 0 });
    await stage.wait(6);
  },
  async "a Job suspended and resumed"(stage) {
    await create(Jobs, stage, { suspend: true, template: batch });
    await stage.wait(3);
    await change(Jobs, stage, { suspend: false });
    await stage.wait(4);
    await change(Jobs, stage, { suspend: true });
    await stage.wait(4);
  },
  async "a Job past its deadline"(stage) {
    await create(Jobs, stage, { activeDeadlineSeconds: 3, template: batch });
    await stage.wait(9);
  },
  async "budgets over a Deployment"(stage) {
    await create(Deployments, stage, { replicas: 4, selector, template: fits });
    await stage.wait(6);
    await create(PodDisruptionBudgets, stage, { maxUnavailable: "30%", selector }, "share");
    await stage.wait(6);
  },
  async "a budget over a DaemonSet, which has no scale"(stage) {
    await create(DaemonSets, stage, { selector, template: fits });
    await stage.wait(6);
    await create(PodDisruptionBudgets, stage, { maxUnavailable: 1, selector });
    await stage.wait(5);
  },
  async "a budget over pods of nobody"(stage) {
    const { client, namespace } = stage;
    await client.create(Pods, { apiVersion: "v1", kind: "Pod", metadata: { name: "bare", namespace, labels }, spec: fits.spec });
    await stage.wait(5);
    await create(PodDisruptionBudgets, stage, { maxUnavailable: 1, selector });
    await stage.wait(5);
  },
};

/** Kept apart: what differs from run to run, and what other suites look at. */
const FIELDS_OF_A_RUN: ReadonlySet<string> = new Set([
  "observedGeneration",
  "startTime",
  "completionTime",
  "currentRevision",
  "updateRevision",
]);
/** What client-go puts before an event that it counts together with others. */
const COMBINED = "(combined from similar events): ";
const EVENTS_OF_OTHERS = /^(Pod|Node)$/;

function normalized(value: unknown): unknown {
  const text = JSON.stringify(value, (name, inner: unknown) => (FIELDS_OF_A_RUN.has(name) || /Time$/.test(name) ? undefined : inner));
  return JSON.parse(
    text.replace(/\bw-([0-9a-z]{6,10})(-[0-9a-z]{5})?\b/g, "w-HASH").replace(/\bw-(\d-)?[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, "w-$1POD"),
  );
}

/**
 * What a Deployment said of scaling, one sentence per direction. How many steps a rolling update takes depends on how many pods
 * happen to become ready between two looks of the controller, so only the smallest and the largest count can be compared.
 */
function withScalingSummed(messages: readonly { said: string; message: string }[]): string[] {
  const others: string[] = [];
  const scaled = new Map<string, number[]>();
  for (const { said, message } of messages) {
    const [, step, from, to] = /^(Scaled (?:up|down) replica set \S+) from (\d+) to (\d+)$/.exec(message) ?? [];
    if (step === undefined) {
      others.push(`${said}: ${message}`);
      continue;
    }
    const key = `${said}: ${step}`;
    scaled.set(key, [...(scaled.get(key) ?? []), Number(from), Number(to)]);
  }
  const sums = [...scaled].map(([key, counts]) => `${key} between ${Math.min(...counts)} and ${Math.max(...counts)}`);
  return [...others, ...sums];
}

/** Everything that the controllers said about a namespace. */
async function resultOf({ client, namespace }: Stage): Promise<object> {
  const statuses: unknown[] = [];
  for (const resource of WORKLOADS) {
    const { items } = await client.list(resource, { namespace });
    for (const item of items as (KubeObject & { status?: { conditions?: { type: string }[] } })[]) {
      const { conditions, ...status } = item.status ?? {};
      const sorted = [...(conditions ?? [])].sort((a, b) => (a.type < b.type ? -1 : 1));
      statuses.push(normalized({ kind: resource.kind, name: item.metadata?.name, status, conditions: sorted }));
    }
  }
  const pods = (await client.list(Pods, { namespace })).items.map(({ metadata, status }) =>
    normalized(`${metadata?.name} ${status?.phase}`),
  );
  const events = (await client.list(Events, { namespace })).items as (KubeObject &
    Record<"type" | "reason" | "message", string> & { involvedObject: { kind: string } })[];
  const said = withScalingSummed(
    events
      .filter(({ involvedObject }) => !EVENTS_OF_OTHERS.test(involvedObject.kind))
      .map(({ involvedObject, type, reason, message }) => ({
        said: `${involvedObject.kind} ${type} ${reason}`,
        message: normalized(message.replace(COMBINED, "")) as string,
      })),
  );
  const texts = statuses.map((status) => JSON.stringify(status));
  return { statuses: texts.sort().map((text) => JSON.parse(text)), pods: pods.sort(), events: [...new Set(said)].sort() };
}

async function play(name: string, stage: Stage): Promise<unknown> {
  await stage.client.create(Namespaces, { metadata: { name: stage.namespace } });
  const answers = await SCENARIOS[name]?.(stage);
  return { answers, ...(await resultOf(stage)) };
}

const names = Object.keys(SCENARIOS);
const real = new Map<string, Promise<unknown>>();
let client: KubeClient;
let sandbox: TestWorld;

async function createNodes(to: KubeClient): Promise<void> {
  for (const name of ["stand-in-1", "stand-in-2"]) {
    await to.create(Nodes, aFakeNode({ name, labels: SUITE }));
  }
}

beforeAll(async () => {
  const { transport } = await loadTransport({ clock, env: process.env });
  client = createKubeClient(transport, { userAgent: "joinery-test" });
  sandbox = await aWorld();
  await createNodes(client);
  await createNodes(sandbox.user);
  await clock.sleep(3_000);
  await sandbox.clock.advance(3_000);
  // The real ones need real seconds: all at once.
  for (const [at, name] of names.entries()) {
    const played = play(name, { client, namespace: `stand-in-${at}`, wait: (seconds) => clock.sleep(seconds * 1_000) });
    played.catch(() => {});
    real.set(name, played);
  }
});

afterAll(async () => {
  await sandbox.world.stop();
  for (const at of names.keys()) {
    await client.delete(Namespaces, { name: `stand-in-${at}` });
  }
  for (const name of ["stand-in-1", "stand-in-2"]) {
    await client.delete(Nodes, { name });
  }
});

test.each(names)("%s", async (name) => {
  const stage = {
    client: sandbox.user,
    namespace: `stand-in-${names.indexOf(name)}`,
    wait: (seconds: number) => sandbox.clock.advance(seconds * 1_000),
  };
  expect(await play(name, stage)).toEqual(await real.get(name));
});
