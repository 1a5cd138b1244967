/** A storm of changes from a seed, then calm: nothing is overbooked at any moment, and in the end every wish is met. */
import {
  DaemonSets,
  Deployments,
  fits,
  type Node,
  Nodes,
  type Pod,
  Pods,
  parseResources,
  podRequests,
  ReplicaSets,
  StatefulSets,
  sumResources,
} from "@joinery/api";
import { createRandom, isNotFound, type Random } from "@joinery/kube";
import { expect, test } from "vitest";
import { isEnded, isReady } from "../controllers/pod-facts.ts";
import { aDeployment, aFakeNode, aTemplate } from "./builders.ts";
import { aWorld, type TestWorld } from "./test-world.ts";

const SEEDS = [1, 2, 3, 4, 5, 6];
const STEPS = 60;
const NODE_NAMES = ["n0", "n1", "n2", "n3", "n4", "n5"];
const DEPLOYMENT_NAMES = ["a", "b", "c"];

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random.below(from.length)] as T;
}

/** One change that a user or a machine may make; what is not there any more is no fault. */
async function change({ user, world }: TestWorld, random: Random, step: number): Promise<void> {
  const name = pick(random, DEPLOYMENT_NAMES);
  const key = { namespace: "default", name };
  const pod = world.pods().length > 0 ? pick(random, world.pods()) : undefined;
  const node = pick(random, NODE_NAMES);
  const merge = (body: unknown) => ({ type: "merge" as const, body });
  const actions: readonly (() => Promise<unknown>)[] = [
    () => user.create(Nodes, aFakeNode({ name: node, cpu: "4", zone: `us-east-1${pick(random, ["a", "b"])}` })),
    () => user.delete(Nodes, { name: node }),
    () => user.patch(Nodes, { name: node }, merge({ spec: { unschedulable: random.below(2) === 0 } })),
    () => user.create(Deployments, aDeployment({ name, cpu: "500m", replicas: random.below(8) })),
    () => user.patch(Deployments, key, merge({ spec: { replicas: random.below(8) } })),
    () => user.patch(Deployments, key, merge({ spec: { template: { metadata: { annotations: { step: String(step) } } } } })),
    () => user.delete(Deployments, key, { propagationPolicy: "Background" }),
    () => user.patch(StatefulSets, { namespace: "default", name: "db" }, merge({ spec: { replicas: random.below(4) } })),
    () => user.delete(Pods, { namespace: "default", name: pod?.metadata?.name ?? "none" }),
    () => user.delete(Pods, { namespace: "default", name: pod?.metadata?.name ?? "none" }, { gracePeriodSeconds: 0 }),
    () => user.patch(Nodes, { name: node }, merge({ spec: { taints: [{ key: "x", effect: pick(random, ["NoSchedule", "NoExecute"]) }] } })),
  ];
  await pick(random, actions)().catch((error: { readonly status?: number }) => {
    if (!isNotFound(error) && error.status !== 409) {
      throw error;
    }
  });
}

function overbooked(nodes: readonly Node[], pods: readonly Pod[]): readonly string[] {
  return nodes.flatMap((node) => {
    const here = pods.filter((pod) => pod.spec.nodeName === node.metadata?.name && !isEnded(pod));
    return fits(sumResources(...here.map(podRequests)), parseResources(node.status?.allocatable)) ? [] : [node.metadata?.name ?? ""];
  });
}

test.each(SEEDS)("seed %s", async (seed) => {
  const test = await aWorld({ seed });
  const { world, clock, user, faults } = test;
  const random = createRandom(`storm/${seed}`);
  const labels = { app: "agent" };
  const common = { selector: { matchLabels: labels }, template: aTemplate({ labels, cpu: "0" }) };
  await user.create(DaemonSets, {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { namespace: "default", name: "agent" },
    spec: common,
  });
  const claim = {
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "gp3", resources: { requests: { storage: "1Gi" } } },
  };
  const database = {
    replicas: 2,
    selector: { matchLabels: { app: "db" } },
    template: aTemplate({ labels: { app: "db" } }),
    volumeClaimTemplates: [claim],
  };
  await user.create(StatefulSets, {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { namespace: "default", name: "db" },
    spec: database,
  });
  for (let step = 0; step < STEPS; step++) {
    await change(test, random, step);
    await clock.advance(random.below(20_000));
    expect(overbooked(world.nodes(), world.pods())).toEqual([]);
  }
  // Calm: room for everything, in both zones.
  for (const name of NODE_NAMES) {
    const body = { spec: { unschedulable: null, taints: null } };
    const isThere = world.nodes().some(({ metadata }) => metadata?.name === name);
    await (isThere
      ? user.patch(Nodes, { name }, { type: "merge", body })
      : user.create(Nodes, aFakeNode({ name, cpu: "4", zone: "us-east-1a" })));
  }
  await user.create(Nodes, aFakeNode({ name: "last-a", cpu: "8", zone: "us-east-1a" }));
  await user.create(Nodes, aFakeNode({ name: "last-b", cpu: "8", zone: "us-east-1b" }));
  await clock.advance(15 * 60_000);
  const pods = world.pods();
  const names = new Set(world.nodes().map(({ metadata }) => metadata?.name));
  expect(
    pods.filter((pod) => !isReady(pod) || pod.metadata?.deletionTimestamp !== undefined || !names.has(pod.spec.nodeName ?? "")),
  ).toEqual([]);
  const { items: deployments } = await user.list(Deployments);
  const wished = deployments.reduce((sum, { spec }) => sum + (spec.replicas ?? 1), 0);
  const replicas = (await user.get(StatefulSets, { namespace: "default", name: "db" })).spec.replicas ?? 0;
  expect(pods).toHaveLength(wished + replicas + names.size);
  for (const { status, spec, metadata } of deployments) {
    expect([metadata?.name, status?.availableReplicas ?? 0]).toEqual([metadata?.name, spec.replicas]);
    expect(status?.observedGeneration).toBe(metadata?.generation);
  }
  const { items: sets } = await user.list(ReplicaSets);
  expect(sets.filter(({ metadata }) => !deployments.some((one) => one.metadata?.uid === metadata?.ownerReferences?.[0]?.uid))).toEqual([]);
  expect(faults).toEqual([]);
  await world.stop();
});
