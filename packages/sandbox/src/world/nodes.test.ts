/** Nodes in a whole cluster: machines, Fargate, silence, volumes, real processes as pods. */
import { CsiNodes, Deployments, Events, Nodes, PersistentVolumeClaims, PersistentVolumes, Pods, VolumeAttachments } from "@joinery/api";
import { afterEach, expect, test } from "vitest";
import type { Machine } from "../ec2/index.ts";
import { FargateError } from "../fargate/profiles.ts";
import type { PodExit, PodRuntime } from "../kubelet/pod-runtime.ts";
import { aDeployment, aFakeNode, aNode, aPod } from "./builders.ts";
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

const GIB = 2 ** 30;

/** Instances without EC2 around them. */
function someInstances() {
  const running: ((machine: Machine) => void)[] = [];
  const stopping: ((machine: Machine) => void)[] = [];
  return {
    onInstanceRunning: (listener: (machine: Machine) => void) => void running.push(listener),
    onInstanceStopping: (listener: (machine: Machine) => void) => void stopping.push(listener),
    onInstanceTerminated: () => {},
    onSpotNotice: () => {},
    run: (machine: Machine) => running.forEach((listener) => void listener(machine)),
    stop: (machine: Machine) => stopping.forEach((listener) => void listener(machine)),
  };
}

const MACHINE: Machine = {
  name: "ip-10-0-0-9.ec2.internal",
  providerId: "aws:///us-east-1b/i-0123456789abcdef0",
  labels: {
    "karpenter.sh/nodepool": "default",
    "kubernetes.io/hostname": "ip-10-0-0-9.ec2.internal",
    "kubernetes.io/arch": "arm64",
    "kubernetes.io/os": "linux",
    "node.kubernetes.io/instance-type": "c7g.large",
    "topology.kubernetes.io/zone": "us-east-1b",
    "topology.kubernetes.io/region": "us-east-1",
    "topology.k8s.aws/zone-id": "use1-az2",
  },
  taints: [{ key: "karpenter.sh/unregistered", effect: "NoExecute" }],
  capacity: { cpu: 2000, memory: 4 * GIB, pods: 29, "ephemeral-storage": 20 * GIB },
  allocatable: { cpu: 1930, memory: 3.3 * GIB, pods: 29, "ephemeral-storage": 18 * GIB },
  addresses: [{ type: "InternalIP", address: "10.0.0.9" }],
  volumesMax: 26,
  instanceId: "i-0123456789abcdef0",
  instanceType: "c7g.large",
  zone: "us-east-1b",
  capacityType: "on-demand",
};

test("a booted instance registers a node with its taints; the cloud fills in what it knows; the node gets ready", async () => {
  const ec2 = someInstances();
  const { world, clock, user } = await aWorld({ ec2 });
  ec2.run(MACHINE);
  await clock.runUntil(() => world.nodes().length > 0, 60_000);
  const [young] = world.nodes();
  expect(young?.spec?.taints?.map(({ key }) => key)).toEqual(
    expect.arrayContaining(["karpenter.sh/unregistered", "node.kubernetes.io/not-ready"]),
  );
  expect(young?.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("False");
  await clock.advance(20_000);
  const node = await user.get(Nodes, { name: MACHINE.name });
  expect(node.spec).toMatchObject({ providerID: MACHINE.providerId, taints: MACHINE.taints });
  expect(node.metadata?.labels).toMatchObject({
    "node.kubernetes.io/instance-type": "c7g.large",
    "topology.kubernetes.io/zone": "us-east-1b",
  });
  expect(node.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
  const csiNode = await user.get(CsiNodes, { name: MACHINE.name });
  expect(csiNode.spec.drivers).toMatchObject([{ name: "ebs.csi.aws.com", allocatable: { count: 26 } }]);
});

test("when the instance goes, its node falls silent, is tainted and deleted, and its pods start elsewhere", async () => {
  const ec2 = someInstances();
  const { world, clock, user, podLines } = await aWorld({ ec2 });
  ec2.run({ ...MACHINE, taints: [] });
  await clock.advance(60_000);
  await user.create(Deployments, aDeployment({ replicas: 2 }));
  await clock.advance(30_000);
  expect(podLines().every((line) => line.endsWith(`Running ${MACHINE.name}`))).toBe(true);
  await user.create(Nodes, aFakeNode({ name: "other" }));
  ec2.stop(MACHINE);
  await clock.advance(30_000);
  expect(world.nodes()).toHaveLength(2);
  await clock.advance(40_000);
  expect(world.nodes().map(({ metadata }) => metadata?.name)).toEqual(["other"]);
  await clock.advance(120_000);
  expect(podLines().map((line) => line.split(" ").slice(1))).toEqual([
    ["Running", "other"],
    ["Running", "other"],
  ]);
});

test("a node that nobody beats for becomes unreachable, and its pods are evicted after their toleration", async () => {
  const { clock, user, podNamed } = await aWorld();
  const conditions = [{ type: "Ready", status: "True" as const, lastHeartbeatTime: "2026-01-01T00:00:00Z" }];
  const node = aNode({ name: "lonely" });
  await user.create(Nodes, { ...node, status: { ...node.status, conditions } });
  await user.create(Pods, aPod({ name: "p" }));
  await clock.advance(40_000);
  expect(podNamed("p")?.spec.nodeName).toBe("lonely");
  await clock.advance(20_000);
  const silent = await user.get(Nodes, { name: "lonely" });
  expect(silent.spec?.taints?.map(({ key, effect }) => `${key}:${effect}`)).toEqual([
    "node.kubernetes.io/unreachable:NoSchedule",
    "node.kubernetes.io/unreachable:NoExecute",
  ]);
  const { items: events } = await user.list(Events, { namespace: "default" });
  const said = events.map(({ involvedObject, reason, message }) => `${involvedObject?.kind} ${reason}: ${message}`);
  expect(said).toContain("Node RegisteredNode: Node lonely event: Registered Node lonely in Controller");
  expect(said).toContain("Node NodeNotReady: Node lonely status is now: NodeNotReady");
  expect(podNamed("p")?.metadata?.deletionTimestamp).toBeUndefined();
  await clock.advance(300_000);
  expect(podNamed("p")?.metadata?.deletionTimestamp).toBeDefined();
});

test("F-33, F-44…F-48, F-56: a pod of a Fargate profile gets a node of its own, and the node goes with it", async () => {
  const { world, clock, user, podNamed } = await aWorld({ region: "eu-west-2" });
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  const wish = {
    name: "karpenter",
    podExecutionRoleArn: "arn:aws:iam::111122223333:role/fargate",
    subnetIds: ["subnet-a"],
    selectors: [{ namespace: "default", labels: { app: "karpenter" } }],
  };
  await user.create(Pods, aPod({ name: "early", labels: { app: "karpenter" }, spec: { nodeSelector: { none: "such" } } }));
  const profile = world.fargate.create(wish);
  await expect(world.fargate.create({ ...wish, name: "second" })).rejects.toThrow(FargateError);
  await clock.advance(121_000);
  expect(await profile).toMatchObject({ status: "ACTIVE" });
  await user.create(Pods, aPod({ name: "c", cpu: "250m", memory: "256Mi", labels: { app: "karpenter" } }));
  await user.create(Pods, aPod({ name: "other" }));
  await clock.advance(75_000);
  const pod = podNamed("c");
  expect(pod?.spec).toMatchObject({ schedulerName: "fargate-scheduler", priorityClassName: "system-node-critical" });
  expect(pod?.metadata?.annotations).toMatchObject({ CapacityProvisioned: "0.25vCPU 0.5GB" });
  expect(pod?.spec.nodeName).toMatch(/^fargate-ip-\d+-\d+-\d+-\d+\.eu-west-2\.compute\.internal$/);
  expect(pod?.status).toMatchObject({ phase: "Running" });
  expect(pod?.status?.podIP).toBe(pod?.status?.hostIP);
  const node = await user.get(Nodes, { name: pod?.spec.nodeName ?? "" });
  expect(node.metadata?.labels).toMatchObject({ "eks.amazonaws.com/compute-type": "fargate" });
  expect(node.metadata?.labels?.["kubernetes.io/hostname"]).not.toMatch(/^fargate/);
  expect(node.spec?.taints).toEqual([{ key: "eks.amazonaws.com/compute-type", value: "fargate", effect: "NoSchedule" }]);
  expect(node.status?.capacity?.pods).toBe("1");
  expect(podNamed("other")?.spec.nodeName).toBe("n1");
  // F-34: who came before the profile stays with the default scheduler.
  expect(podNamed("early")?.status?.conditions?.[0]).toMatchObject({ reason: "Unschedulable" });
  await user.delete(Pods, { namespace: "default", name: "c" });
  await clock.advance(40_000);
  expect(world.nodes().map(({ metadata }) => metadata?.name)).toEqual(["n1"]);
  // F-30
  await user.create(Pods, aPod({ name: "d", labels: { app: "karpenter" } }));
  await clock.advance(75_000);
  expect(world.nodes()).toHaveLength(2);
  const gone = world.fargate.delete("karpenter");
  await clock.advance(121_000);
  await gone;
  expect(podNamed("d")).toBeUndefined();
  expect(world.nodes()).toHaveLength(1);
});

test("F-39: what Fargate does not run is refused with a reason that no autoscaler acts on", async () => {
  const { world, clock, user, podNamed } = await aWorld();
  const profile = world.fargate.create({
    name: "all",
    podExecutionRoleArn: "arn:aws:iam::111122223333:role/fargate",
    subnetIds: ["subnet-a"],
    selectors: [{ namespace: "*" }],
  });
  await clock.advance(121_000);
  await profile;
  await user.create(Pods, aPod({ name: "big", cpu: "17" }));
  await clock.advance(10_000);
  expect(podNamed("big")?.status?.conditions).toMatchObject([{ type: "PodScheduled", status: "False", reason: "UNSUPPORTED_POD" }]);
});

test("a claim that waits for its first pod is bound in the zone of the pod's node, attached, and detached afterwards", async () => {
  const { clock, user, podNamed } = await aWorld();
  await user.create(Nodes, aFakeNode({ name: "n1", zone: "us-east-1b" }));
  const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { namespace: "default", name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "gp3", resources: { requests: { storage: "5Gi" } } },
  };
  await user.create(PersistentVolumeClaims, claim);
  await clock.advance(10_000);
  expect((await user.get(PersistentVolumeClaims, claim.metadata)).status?.phase).not.toBe("Bound");
  await user.create(Pods, aPod({ name: "p", spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] } }));
  await clock.advance(30_000);
  const bound = await user.get(PersistentVolumeClaims, claim.metadata);
  expect(bound.status?.phase).toBe("Bound");
  const volume = await user.get(PersistentVolumes, { name: bound.spec.volumeName ?? "" });
  expect(JSON.stringify(volume.spec.nodeAffinity)).toContain("us-east-1b");
  expect(podNamed("p")?.status?.phase).toBe("Running");
  const { items } = await user.list(VolumeAttachments);
  expect(items.map(({ spec, status }) => [spec.nodeName, status?.attached])).toEqual([["n1", true]]);
  await user.delete(Pods, { namespace: "default", name: "p" });
  await clock.advance(60_000);
  expect((await user.list(VolumeAttachments)).items).toEqual([]);
  await user.delete(PersistentVolumeClaims, claim.metadata);
  await clock.advance(10_000);
  expect((await user.list(PersistentVolumes)).items).toEqual([]);
});

test("a process of one's own as a pod: ready when it says so, restarted with back-off when it exits, stopped on deletion", async () => {
  const exits: ((exit: PodExit) => void)[] = [];
  const graces: number[] = [];
  const ready = Promise.withResolvers<void>();
  const runtime: PodRuntime = {
    start() {
      const { promise: exited, resolve } = Promise.withResolvers<PodExit>();
      exits.push(resolve);
      return {
        ready: ready.promise,
        exited,
        stop(graceMs) {
          graces.push(graceMs);
          resolve({ exitCode: 0 });
        },
      };
    },
  };
  const podRuntime = (pod: { readonly metadata?: { readonly name?: string } }) => (pod.metadata?.name === "own" ? runtime : undefined);
  const { clock, user, podNamed } = await aWorld({ kubelets: { podRuntime } });
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  await user.create(Pods, aPod({ name: "own" }));
  await clock.advance(20_000);
  const container = () => podNamed("own")?.status?.containerStatuses?.[0];
  expect(container()).toMatchObject({ ready: false, started: true, restartCount: 0 });
  ready.resolve();
  await clock.advance(0);
  expect(container()).toMatchObject({ ready: true });
  exits[0]?.({ exitCode: 1 });
  await clock.advance(1_000);
  expect(container()).toMatchObject({ restartCount: 1, ready: true, lastState: { terminated: { exitCode: 1 } } });
  exits[1]?.({ exitCode: 1 });
  await clock.advance(1_000);
  expect(container()).toMatchObject({ restartCount: 2, ready: false, state: { waiting: { reason: "CrashLoopBackOff" } } });
  await clock.advance(10_000);
  expect(exits).toHaveLength(3);
  await user.delete(Pods, { namespace: "default", name: "own" });
  await clock.advance(5_000);
  expect(graces).toEqual([30_000]);
  expect(podNamed("own")).toBeUndefined();
});

test("volumes keep a pod in their zone and a node takes no more of them than its driver says", async () => {
  const ec2 = someInstances();
  const { clock, user, podNamed } = await aWorld({ ec2 });
  ec2.run({ ...MACHINE, taints: [], volumesMax: 1 });
  await clock.advance(60_000);
  const volume = (claimName: string) => ({ volumes: [{ name: "v", persistentVolumeClaim: { claimName } }] });
  for (const name of ["one", "two"]) {
    const spec = { accessModes: ["ReadWriteOnce"], storageClassName: "gp3", resources: { requests: { storage: "5Gi" } } };
    await user.create(PersistentVolumeClaims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { namespace: "default", name },
      spec,
    });
  }
  await user.create(Pods, aPod({ name: "first", spec: volume("one") }));
  await clock.advance(30_000);
  await user.create(Pods, aPod({ name: "second", spec: volume("two") }));
  await clock.advance(30_000);
  expect(podNamed("first")?.status?.phase).toBe("Running");
  expect(podNamed("second")?.status?.conditions?.[0]?.message).toMatch(/^0\/1 nodes are available: 1 node\(s\) exceed max volume count\./);
  await user.create(Nodes, aFakeNode({ name: "elsewhere", zone: "us-east-1a" }));
  await clock.advance(30_000);
  expect(podNamed("second")?.spec.nodeName).toBe("elsewhere");
  await user.patch(Nodes, { name: MACHINE.name }, { type: "merge", body: { spec: { unschedulable: true } } });
  await user.delete(Pods, { namespace: "default", name: "first" });
  await clock.advance(40_000);
  await user.create(Pods, aPod({ name: "again", spec: volume("one") }));
  await clock.advance(10_000);
  expect(podNamed("again")?.status?.conditions?.[0]?.message).toMatch(
    /1 node\(s\) had volume node affinity conflict, 1 node\(s\) were unschedulable/,
  );
});
