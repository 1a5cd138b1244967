/** The workload controllers in a cluster: what the controllers of Kubernetes 1.37 were seen to do with the same objects. */
import {
  DaemonSets,
  Deployments,
  Events,
  type Job,
  Jobs,
  type Kind,
  kind,
  Namespaces,
  Nodes,
  PersistentVolumeClaims,
  Pods,
  type ReplicaSet,
  ReplicaSets,
  type StatefulSet,
  StatefulSets,
} from "@joinery/api";
import { expect, test } from "vitest";
import { aFakeNode, aTemplate } from "../world/builders.ts";
import { aWorld, type TestWorld } from "../world/test-world.ts";

const LimitRanges = kind("", "v1", "LimitRange", "limitranges", true);
const ConfigMaps = kind("", "v1", "ConfigMap", "configmaps", true);
const namespace = "default";
const labels = { app: "w" };
const selector = { matchLabels: labels };

async function withNode(): Promise<TestWorld> {
  const test = await aWorld();
  await test.user.create(Nodes, aFakeNode({ name: "n1" }));
  return test;
}

const aReplicaSet = (template: ReplicaSet["spec"]["template"], replicas = 1): ReplicaSet => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: { name: "w", namespace },
  spec: { replicas, selector, template },
});

test("a ReplicaSet lets a pod go whose labels no longer match, and makes another", async () => {
  const { world, clock, user } = await withNode();
  await user.create(ReplicaSets, aReplicaSet(aTemplate({ labels })));
  await clock.advance(10_000);
  const name = world.pods()[0]?.metadata?.name ?? "";
  await user.patch(Pods, { namespace, name }, { type: "merge", body: { metadata: { labels: { app: "debug" } } } });
  await clock.advance(10_000);
  expect(world.pods()).toHaveLength(2);
  expect((await user.get(Pods, { namespace, name })).metadata?.ownerReferences ?? []).toEqual([]);
  await world.stop();
});

test.each([
  { kind: Deployments, apiVersion: "apps/v1", more: { replicas: 2 } },
  { kind: StatefulSets, apiVersion: "apps/v1", more: { replicas: 2, serviceName: "w" } },
  { kind: DaemonSets, apiVersion: "apps/v1", more: {} },
])("a $kind.kind takes up what another of its name left behind", async ({ kind, apiVersion, more }) => {
  const { world, clock, user } = await withNode();
  const metadata = { name: "w", namespace };
  const wish = { apiVersion, kind: kind.kind, metadata, spec: { ...more, selector, template: aTemplate({ labels }) } };
  await user.create(kind as Kind, wish);
  await clock.advance(30_000);
  const before = world.pods().map((pod) => pod.metadata?.uid);
  await user.delete(kind as Kind, metadata, { propagationPolicy: "Orphan" });
  await clock.advance(10_000);
  await user.create(kind as Kind, wish);
  await clock.advance(30_000);
  expect(before.length).toBeGreaterThan(0);
  expect(world.pods().map((pod) => pod.metadata?.uid)).toEqual(before);
  const { status } = (await user.get(kind as Kind, metadata)) as { readonly status?: Readonly<Record<string, number>> };
  expect(status?.readyReplicas ?? status?.numberReady).toBe(before.length);
  await world.stop();
});

test("pods carry the finalizers of their template, and hold the deletion of their owner", async () => {
  const { world, clock, user } = await withNode();
  const template = aTemplate({ labels });
  const held = { ...template, metadata: { ...template.metadata, finalizers: ["example.com/hold"] } };
  await user.create(ReplicaSets, aReplicaSet(held));
  await clock.advance(10_000);
  await user.delete(ReplicaSets, { namespace, name: "w" }, { propagationPolicy: "Foreground" });
  await clock.advance(120_000);
  expect(world.pods()).toHaveLength(1);
  expect((await user.get(ReplicaSets, { namespace, name: "w" })).metadata?.deletionTimestamp).toBeDefined();
  await world.stop();
});

test("a DaemonSet with maxSurge starts the new pod before the old one goes", async () => {
  const { world, clock, user } = await withNode();
  const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  const metadata = { name: "agent", namespace };
  await user.create(DaemonSets, {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata,
    spec: { selector, updateStrategy, template: aTemplate({ labels }) },
  });
  await clock.advance(20_000);
  let readyMin = Number.POSITIVE_INFINITY;
  world.apiServer.onChange(() => {
    const ready = world.pods().filter(({ metadata: { deletionTimestamp } = {}, status }) => {
      return deletionTimestamp === undefined && status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
    });
    readyMin = Math.min(readyMin, ready.length);
  });
  await user.patch(DaemonSets, metadata, { type: "merge", body: { spec: { template: { metadata: { annotations: { v: "2" } } } } } });
  await clock.advance(60_000);
  expect(world.pods().map((pod) => pod.metadata?.annotations?.v)).toEqual(["2"]);
  expect(readyMin).toBe(1);
  await world.stop();
});

test("pods that a suspended Job takes away have not failed; a pod that somebody else takes away has, and is waited for", async () => {
  const { world, clock, user } = await withNode();
  const job = (name: string): Job => ({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, namespace },
    spec: { template: aTemplate({ spec: { restartPolicy: "Never", nodeSelector: { no: "where" } } }) },
  });
  await user.create(Jobs, job("paused"));
  await user.create(Jobs, job("robbed"));
  await clock.advance(5_000);
  await user.patch(Jobs, { namespace, name: "paused" }, { type: "merge", body: { spec: { suspend: true } } });
  const robbed = world.pods().find(({ metadata }) => metadata?.name?.startsWith("robbed-"))?.metadata?.name ?? "";
  await user.delete(Pods, { namespace, name: robbed });
  await clock.advance(4_000);
  expect(world.pods()).toEqual([]);
  expect((await user.get(Jobs, { namespace, name: "paused" })).status?.failed).toBeUndefined();
  expect((await user.get(Jobs, { namespace, name: "robbed" })).status?.failed).toBe(1);
  await clock.advance(20_000);
  expect(world.pods()).toHaveLength(1);
  await world.stop();
});

test("persistentVolumeClaimRetentionPolicy: claims go with the pod that a smaller set loses", async () => {
  const { world, clock, user } = await withNode();
  const claim = { metadata: { name: "data" }, spec: { storageClassName: "gp3", resources: { requests: { storage: "1Gi" } } } };
  const set: StatefulSet = {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "db", namespace },
    spec: {
      replicas: 2,
      selector,
      template: aTemplate({ labels }),
      volumeClaimTemplates: [claim],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Delete" },
    },
  };
  await user.create(StatefulSets, set);
  await clock.advance(60_000);
  await user.patch(StatefulSets, { namespace, name: "db" }, { type: "merge", body: { spec: { replicas: 1 } } });
  await clock.advance(60_000);
  const { items } = await user.list(PersistentVolumeClaims, { namespace });
  expect(items.map(({ metadata }) => metadata?.name)).toEqual(["data-db-0"]);
  await world.stop();
});

test("a namespace says what holds its deletion", async () => {
  const { world, clock, user } = await aWorld();
  await user.create(Namespaces, { metadata: { name: "team" } });
  await user.create(ConfigMaps, { metadata: { name: "held", namespace: "team", finalizers: ["example.com/hold"] } });
  await user.delete(Namespaces, { name: "team" });
  await clock.advance(10_000);
  const { status } = (await user.get(Namespaces, { name: "team" })) as { status?: { conditions?: { type: string; message?: string }[] } };
  const messages = Object.fromEntries((status?.conditions ?? []).map(({ type, message }) => [type, message]));
  expect(messages.NamespaceContentRemaining).toBe("Some resources are remaining: configmaps. has 1 resource instances");
  expect(messages.NamespaceFinalizersRemaining).toBe(
    "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
  );
  await world.stop();
});

test.each([
  { kind: Deployments, apiVersion: "apps/v1", about: "ReplicaSet", more: { replicas: 2 } },
  { kind: StatefulSets, apiVersion: "apps/v1", about: "StatefulSet", more: { replicas: 2, serviceName: "w" } },
  { kind: DaemonSets, apiVersion: "apps/v1", about: "DaemonSet", more: {} },
])("a $kind.kind whose pods are refused says so, and goes on when they no longer are", async ({ kind, apiVersion, about, more }) => {
  const { world, clock, user } = await withNode();
  const range = { apiVersion: "v1", kind: "LimitRange", metadata: { name: "r", namespace } };
  await user.create(LimitRanges, { ...range, spec: { limits: [{ type: "Container", min: { memory: "1Ti" } }] } } as never);
  const template = aTemplate({ labels });
  await user.create(
    kind as Kind,
    { apiVersion, kind: kind.kind, metadata: { name: "w", namespace }, spec: { ...more, selector, template } } as never,
  );
  await clock.advance(20_000);
  expect(world.pods()).toHaveLength(0);
  const { items } = await user.list(Events, { namespace, fieldSelector: "reason=FailedCreate" });
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({ type: "Warning", involvedObject: { kind: about } });
  expect(items[0]?.message).toMatch(
    /^Error creating: pods "w-.*" is forbidden: minimum memory usage per Container is 1Ti, but request is 64Mi$/,
  );
  expect(items[0]?.count).toBeGreaterThan(2);
  await user.delete(LimitRanges, { namespace, name: "r" });
  await clock.advance(60_000);
  expect(world.pods().length).toBeGreaterThan(0);
  await world.stop();
});
