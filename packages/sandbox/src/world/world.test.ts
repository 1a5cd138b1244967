/** Workloads in a whole cluster under the virtual clock. */
import {
  type DaemonSet,
  DaemonSets,
  type Deployment,
  Deployments,
  Events,
  type Job,
  Jobs,
  type KubeObject,
  kind,
  Leases,
  Namespaces,
  Nodes,
  type PodDisruptionBudget,
  PodDisruptionBudgets,
  Pods,
  ReplicaSets,
  type StatefulSet,
  StatefulSets,
} from "@joinery/api";
import { afterEach, expect, test } from "vitest";
import { ControllerRevisions } from "../controllers/controller-revision.ts";
import { CronJobs } from "../controllers/cron-job.ts";
import { Services } from "../controllers/endpoint-slice.ts";
import { isReady } from "../controllers/pod-facts.ts";
import { RUN_SECONDS_ANNOTATION } from "../kubelet/pod-runtime.ts";
import { aDeployment, aFakeNode, aPod, aTemplate } from "./builders.ts";
import { aWorld as makeWorld, type TestWorld } from "./test-world.ts";

const made: TestWorld[] = [];
const aWorld: typeof makeWorld = async (options) => {
  const world = await makeWorld(options);
  made.push(world);
  return world;
};
afterEach(async () => {
  for (const { world, faults } of made.splice(0)) {
    await world.stop();
    expect(faults).toEqual([]);
  }
});

const web = { namespace: "default", name: "web" };

function conditionReasons({ status }: Deployment): readonly string[] {
  const conditions = (status?.conditions ?? []) as readonly { readonly reason: string }[];
  return conditions.map(({ reason }) => reason);
}

test("a Deployment's pods run on a node without machine", async () => {
  const { world, clock, user } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  await user.create(Deployments, aDeployment({ replicas: 3 }));
  await clock.advance(30_000);
  expect(world.pods().map(({ status, spec }) => [status?.phase, spec.nodeName])).toEqual(Array(3).fill(["Running", "n1"]));
  const deployment: Deployment = await user.get(Deployments, web);
  expect(deployment.status).toMatchObject({ replicas: 3, readyReplicas: 3, availableReplicas: 3, updatedReplicas: 3 });
  expect(deployment.status?.conditions).toMatchObject([
    { type: "Available", status: "True" },
    { type: "Progressing", reason: "NewReplicaSetAvailable" },
  ]);
  expect(deployment.metadata?.annotations).toMatchObject({ "deployment.kubernetes.io/revision": "1" });
});

test("a rolling update keeps enough pods available at every step, and the old ReplicaSet stays for a rollback", async () => {
  const { world, clock, user } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  await user.create(Deployments, aDeployment({ replicas: 4 }));
  await clock.advance(30_000);
  await user.patch(Deployments, web, { type: "merge", body: { spec: { template: { metadata: { annotations: { version: "2" } } } } } });
  let least = 4;
  for (let second = 0; second < 60; second++) {
    await clock.advance(1_000);
    const ready = world
      .pods()
      .filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"));
    least = Math.min(least, ready.length);
  }
  expect(least).toBeGreaterThanOrEqual(3);
  const versions = world.pods().map(({ metadata }) => metadata?.annotations?.version);
  expect(versions).toEqual(["2", "2", "2", "2"]);
  const { items } = await user.list(ReplicaSets, { namespace: "default" });
  expect(items.map(({ spec, metadata }) => [spec.replicas, metadata?.annotations?.["deployment.kubernetes.io/revision"]]).sort()).toEqual([
    [0, "1"],
    [4, "2"],
  ]);
});

test("Recreate stops every old pod before the first new one starts", async () => {
  const { world, clock, user } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  await user.create(Deployments, aDeployment({ replicas: 3, strategy: { type: "Recreate" } }));
  await clock.advance(30_000);
  await user.patch(Deployments, web, { type: "merge", body: { spec: { template: { metadata: { annotations: { version: "2" } } } } } });
  for (let second = 0; second < 30; second++) {
    await clock.advance(500);
    expect(new Set(world.pods().map(({ metadata }) => metadata?.annotations?.version)).size).toBeLessThan(2);
  }
  expect(world.pods().map(({ metadata }) => metadata?.annotations?.version)).toEqual(["2", "2", "2"]);
});

test("a paused Deployment scales but keeps its template until it goes on", async () => {
  const { world, clock, user } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  await user.create(Deployments, aDeployment({ replicas: 2 }));
  await clock.advance(30_000);
  const change = { paused: true, replicas: 3, template: { metadata: { annotations: { version: "2" } } } };
  await user.patch(Deployments, web, { type: "merge", body: { spec: change } });
  await clock.advance(30_000);
  const versions = () => world.pods().map(({ metadata }) => metadata?.annotations?.version);
  expect(versions()).toEqual([undefined, undefined, undefined]);
  const progressing = async () => conditionReasons(await user.get(Deployments, web))[1];
  expect(await progressing()).toBe("DeploymentPaused");
  await user.patch(Deployments, web, { type: "merge", body: { spec: { paused: null } } });
  await clock.advance(60_000);
  expect(versions()).toEqual(["2", "2", "2"]);
  expect(await progressing()).toBe("NewReplicaSetAvailable");
});

test("a Deployment that gets nowhere says so when its deadline has passed", async () => {
  const { clock, user } = await aWorld();
  await user.create(Deployments, aDeployment());
  await clock.advance(590_000);
  const reasons = async () => conditionReasons(await user.get(Deployments, web));
  expect(await reasons()).toEqual(["MinimumReplicasUnavailable", "ReplicaSetUpdated"]);
  await clock.advance(20_000);
  expect(await reasons()).toEqual(["MinimumReplicasUnavailable", "ProgressDeadlineExceeded"]);
});

test("a Deployment scales down to the pods that are worth most", async () => {
  const { world, clock, user } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  await user.create(Deployments, aDeployment({ replicas: 3 }));
  await clock.advance(30_000);
  const [keep] = world.pods();
  const annotations = { "controller.kubernetes.io/pod-deletion-cost": "100" };
  await user.patch(
    Pods,
    { namespace: "default", name: keep?.metadata?.name ?? "" },
    { type: "merge", body: { metadata: { annotations } } },
  );
  await user.patch(Deployments, web, { type: "merge", body: { spec: { replicas: 1 } } });
  await clock.advance(60_000);
  expect(world.pods().map(({ metadata }) => metadata?.name)).toEqual([keep?.metadata?.name]);
});

test("a pod that nothing takes says so as kube-scheduler would, and is bound when a node comes", async () => {
  const { clock, user, podNamed } = await aWorld();
  await user.create(Pods, aPod({ name: "p", cpu: "3" }));
  await clock.advance(1_000);
  const scheduled = () => podNamed("p")?.status?.conditions?.find(({ type }) => type === "PodScheduled");
  expect(scheduled()).toMatchObject({ status: "False", reason: "Unschedulable", message: "no nodes available to schedule pods" });
  await user.create(Nodes, aFakeNode({ name: "n1", cpu: "2" }));
  await clock.advance(15_000);
  expect(scheduled()?.message).toBe(
    "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
  );
  await user.create(Nodes, aFakeNode({ name: "n2" }));
  await clock.advance(30_000);
  expect(podNamed("p")?.spec.nodeName).toBe("n2");
  expect(podNamed("p")?.status?.phase).toBe("Running");
});

test("a gated pod waits for its gate, another scheduler's pod is left alone", async () => {
  const { clock, user, podNamed } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  await user.create(Pods, aPod({ name: "gated", spec: { schedulingGates: [{ name: "quota" }] } }));
  await user.create(Pods, aPod({ name: "foreign", spec: { schedulerName: "mine" } }));
  await clock.advance(10_000);
  expect(podNamed("gated")?.status?.conditions).toMatchObject([{ type: "PodScheduled", reason: "SchedulingGated" }]);
  expect(podNamed("foreign")?.status?.conditions).toBeUndefined();
  await user.patch(Pods, { namespace: "default", name: "gated" }, { type: "merge", body: { spec: { schedulingGates: null } } });
  await clock.advance(10_000);
  expect(podNamed("gated")?.status?.phase).toBe("Running");
});

test("a StatefulSet starts in order, stops in reverse order, and keeps its claims", async () => {
  const { clock, user, podLines } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  const spec = {
    replicas: 3,
    serviceName: "db",
    selector: { matchLabels: { app: "db" } },
    template: aTemplate({ labels: { app: "db" }, container: { volumeMounts: [{ name: "data", mountPath: "/data" }] } as object }),
    volumeClaimTemplates: [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], storageClassName: "gp3", resources: { requests: { storage: "1Gi" } } },
      },
    ],
  };
  const set: StatefulSet = { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { namespace: "default", name: "db" }, spec };
  await user.create(StatefulSets, set);
  await clock.advance(6_000);
  expect(podLines().map((line) => line.split(" ")[0])).toEqual(["db-0"]);
  await clock.advance(60_000);
  expect(podLines()).toEqual(["db-0 Running n1", "db-1 Running n1", "db-2 Running n1"]);
  await user.patch(StatefulSets, { namespace: "default", name: "db" }, { type: "merge", body: { spec: { replicas: 1 } } });
  await clock.advance(60_000);
  expect(podLines()).toEqual(["db-0 Running n1"]);
});

test("a DaemonSet runs on each node that its template allows, and goes with a taint that it does not tolerate", async () => {
  const { clock, user, podLines } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  await user.create(
    Nodes,
    aFakeNode({ name: "n2", labels: { "eks.amazonaws.com/compute-type": "fargate" }, taints: [{ key: "t", effect: "NoSchedule" }] }),
  );
  const spec = { selector: { matchLabels: { app: "agent" } }, template: aTemplate({ labels: { app: "agent" } }) };
  const set: DaemonSet = { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { namespace: "default", name: "agent" }, spec };
  await user.create(DaemonSets, set);
  await clock.advance(20_000);
  expect(podLines().map((line) => line.split(" ").slice(1))).toEqual([["Running", "n1"]]);
  const status = (await user.get(DaemonSets, { namespace: "default", name: "agent" })).status;
  expect(status).toMatchObject({ desiredNumberScheduled: 1, numberReady: 1, numberAvailable: 1 });
  await user.patch(Nodes, { name: "n1" }, { type: "merge", body: { spec: { taints: [{ key: "x", effect: "NoExecute" }] } } });
  await clock.advance(60_000);
  expect(podLines()).toEqual([]);
});

test("a DaemonSet keeps its past templates, rolls to a new one node by node, and comes back to an old one", async () => {
  const { world, clock, user } = await aWorld();
  for (const name of ["n1", "n2", "n3"]) {
    await user.create(Nodes, aFakeNode({ name }));
  }
  const spec = { selector: { matchLabels: { app: "agent" } }, template: aTemplate({ labels: { app: "agent" } }) };
  const key = { namespace: "default", name: "agent" };
  await user.create(DaemonSets, { apiVersion: "apps/v1", kind: "DaemonSet", metadata: key, spec });
  await clock.advance(20_000);
  const to = (version: string | null) => ({ spec: { template: { metadata: { annotations: { version } } } } });
  await user.patch(DaemonSets, key, { type: "merge", body: to("2") });
  let readyMin = 3;
  world.apiServer.onChange(() => {
    readyMin = Math.min(readyMin, world.pods().filter((pod) => isReady(pod) && pod.metadata?.deletionTimestamp === undefined).length);
  });
  await clock.advance(60_000);
  expect(readyMin).toBe(2);
  expect(world.pods().map(({ metadata }) => metadata?.annotations?.version)).toEqual(["2", "2", "2"]);
  const revisions = async () =>
    (await user.list(ControllerRevisions, { namespace: "default" })).items.map(({ revision }) => revision).sort();
  expect(await revisions()).toEqual([1, 2]);
  await user.patch(DaemonSets, key, { type: "merge", body: { spec: { template: { metadata: { annotations: null } } } } });
  await clock.advance(60_000);
  expect(await revisions()).toEqual([2, 3]);
});

test("a Job runs its pods side by side, retries a failure after a pause, and expires", async () => {
  const { clock, user, podLines } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  const template = aTemplate({ labels: {}, annotations: { [RUN_SECONDS_ANNOTATION]: "10" }, spec: { restartPolicy: "Never" } });
  const spec = { parallelism: 2, completions: 4, ttlSecondsAfterFinished: 60, template };
  const job: Job = { apiVersion: "batch/v1", kind: "Job", metadata: { namespace: "default", name: "sum" }, spec };
  await user.create(Jobs, job);
  await clock.advance(8_000);
  expect(podLines()).toHaveLength(2);
  await clock.advance(40_000);
  const { status } = await user.get(Jobs, { namespace: "default", name: "sum" });
  expect(status).toMatchObject({ succeeded: 4 });
  expect(status?.conditions).toMatchObject([{ type: "SuccessCriteriaMet" }, { type: "Complete", status: "True" }]);
  await clock.advance(120_000);
  expect(await user.find(Jobs, { namespace: "default", name: "sum" })).toBeUndefined();
  expect(podLines()).toEqual([]);
});

test("a Job whose pods keep failing gives up after its backoff limit", async () => {
  const { clock, user } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  const annotations = { [RUN_SECONDS_ANNOTATION]: "1", "sandbox.joinery.dev/exit-code": "3" };
  const template = aTemplate({ labels: {}, annotations, spec: { restartPolicy: "Never" } });
  const job: Job = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace: "default", name: "bad" },
    spec: { backoffLimit: 2, template },
  };
  await user.create(Jobs, job);
  await clock.advance(120_000);
  const { status } = await user.get(Jobs, { namespace: "default", name: "bad" });
  expect(status).toMatchObject({ failed: 3 });
  expect(status?.conditions).toMatchObject([{ type: "FailureTarget" }, { type: "Failed", reason: "BackoffLimitExceeded" }]);
});

test("work that a Job has done stays done when its pods are deleted, and a pod taken away is made again", async () => {
  const { world, clock, user } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  const template = aTemplate({ labels: {}, annotations: { [RUN_SECONDS_ANNOTATION]: "20" }, spec: { restartPolicy: "Never" } });
  const job: Job = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace: "default", name: "sum" },
    spec: { completions: 2, template },
  };
  const remove = async () => user.delete(Pods, { namespace: "default", name: world.pods()[0]?.metadata?.name ?? "" });
  await user.create(Jobs, job);
  await clock.advance(10_000);
  await remove();
  await clock.advance(20_000);
  expect((await user.get(Jobs, job.metadata as { name: string })).status).toMatchObject({ failed: 1 });
  await clock.runUntil(() => world.pods().some(({ status }) => status?.phase === "Succeeded"), 60_000);
  await remove();
  await clock.advance(60_000);
  expect((await user.get(Jobs, job.metadata as { name: string })).status).toMatchObject({ failed: 1, succeeded: 2 });
  expect(world.pods()).toHaveLength(1);
});

test("a CronJob starts a Job at each hit, keeps three that are done, and rests while suspended", async () => {
  const { clock, user } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  const template = aTemplate({ labels: {}, annotations: { [RUN_SECONDS_ANNOTATION]: "5" }, spec: { restartPolicy: "Never" } });
  const key = { namespace: "default", name: "tick" };
  await user.create(CronJobs, {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: key,
    spec: { schedule: "*/10 * * * *", jobTemplate: { spec: { template } } },
  });
  await clock.advance(9 * 60_000);
  expect((await user.list(Jobs)).items).toEqual([]);
  await clock.advance(2 * 60_000);
  expect((await user.list(Jobs)).items.map(({ status }) => status?.succeeded)).toEqual([1]);
  await clock.advance(60 * 60_000);
  expect((await user.list(Jobs)).items).toHaveLength(3);
  expect((await user.get(CronJobs, key)).status).toMatchObject({ lastScheduleTime: "2026-01-01T01:10:00Z" });
  await user.patch(CronJobs, key, { type: "merge", body: { spec: { suspend: true } } });
  await clock.advance(60 * 60_000);
  expect((await user.get(CronJobs, key)).status).toMatchObject({ lastScheduleTime: "2026-01-01T01:10:00Z" });
});

test("events are forgotten an hour after they were last seen", async () => {
  const { clock, user } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  await user.create(Pods, aPod({ name: "p" }));
  await clock.advance(60_000);
  expect((await user.list(Events)).items.map(({ reason }) => reason)).toEqual(expect.arrayContaining(["Scheduled", "Started"]));
  await clock.advance(3_600_000);
  expect((await user.list(Events)).items).toEqual([]);
});

test("a budget counts what its Deployment wants and what is healthy", async () => {
  const { clock, user } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  await user.create(Deployments, aDeployment({ replicas: 4 }));
  const budget: PodDisruptionBudget = {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: web,
    spec: { minAvailable: "75%", selector: { matchLabels: { app: "web" } } },
  };
  await user.create(PodDisruptionBudgets, budget);
  await clock.advance(30_000);
  const { status } = await user.get(PodDisruptionBudgets, web);
  expect(status).toMatchObject({ expectedPods: 4, desiredHealthy: 3, currentHealthy: 4, disruptionsAllowed: 1 });
});

test("a Service's slice lists the ready pods behind it", async () => {
  const { clock, user } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  await user.create(Deployments, aDeployment({ replicas: 2, container: { ports: [{ name: "http", containerPort: 8080 }] } }));
  const spec = { selector: { app: "web" }, ports: [{ port: 80, targetPort: "http" }] };
  await user.create(Services, { apiVersion: "v1", kind: "Service", metadata: web, spec });
  await clock.advance(30_000);
  const EndpointSlices = kind<KubeObject & { readonly endpoints: readonly unknown[] }>(
    "discovery.k8s.io",
    "v1",
    "EndpointSlice",
    "endpointslices",
    true,
  );
  const { items } = await user.list(EndpointSlices, { namespace: "default" });
  expect(items).toMatchObject([
    { ports: [{ port: 8080 }], endpoints: [{ conditions: { ready: true }, nodeName: "n1" }, { nodeName: "n1" }] },
  ]);
  await user.delete(Services, web);
  await clock.advance(30_000);
  expect((await user.list(EndpointSlices, { namespace: "default" })).items).toEqual([]);
});

test("a namespace takes everything inside with it", async () => {
  const { clock, user, podLines } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  await user.create(Namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } });
  await user.create(Deployments, aDeployment({ namespace: "team", replicas: 2 }));
  await clock.advance(30_000);
  await user.delete(Namespaces, { name: "team" });
  await clock.advance(60_000);
  expect(podLines()).toEqual([]);
  expect(await user.find(Namespaces, { name: "team" })).toBeUndefined();
});

test("a deleted pod is stopped within its grace period and then goes", async () => {
  const { clock, user, podNamed } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  const annotations = { "sandbox.joinery.dev/stop-seconds": "600" };
  await user.create(Pods, aPod({ name: "slow", annotations, spec: { terminationGracePeriodSeconds: 20 } }));
  await clock.advance(20_000);
  await user.delete(Pods, { namespace: "default", name: "slow" });
  await clock.advance(19_000);
  expect(podNamed("slow")?.metadata?.deletionTimestamp).toBeDefined();
  await clock.advance(2_000);
  expect(podNamed("slow")).toBeUndefined();
});

test("a stopped world has no timer left and writes nothing more", async () => {
  const { world, clock, user } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  await user.create(Deployments, aDeployment({ replicas: 3 }));
  await clock.advance(1_000);
  await world.stop();
  await clock.settle();
  expect(clock.timerCount).toBe(0);
});

test("a lease that is read was renewed in time, and costs nothing while nobody reads", async () => {
  const { clock, user } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  await clock.advance(5_000);
  const key = { namespace: "kube-node-lease", name: "n1" };
  const before = await user.get(Leases, key);
  await clock.advance(1_234_567);
  const ageMs = async () => clock.wallMs() - Date.parse((await user.get(Leases, key)).spec?.renewTime ?? "");
  expect(await ageMs()).toBeLessThan(10_000);
  const after = await user.get(Leases, key);
  expect(after.metadata?.resourceVersion).not.toBe(before.metadata?.resourceVersion);
  expect((await user.get(Leases, key)).metadata?.resourceVersion).toBe(after.metadata?.resourceVersion);
  const dead = { namespace: "kube-node-lease", name: "dead" };
  const silent = await user.create(Leases, { ...after, metadata: dead });
  await clock.advance(60_000);
  expect(await user.get(Leases, dead)).toEqual(silent);
});
