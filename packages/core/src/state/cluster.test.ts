import { type Node, type NodeClaim, NodeClaims, type Pod } from "@joinery/api";
import { createKubeClient, createRandom, createVirtualClock, type KubeClient } from "@joinery/kube";
import { expect, test } from "vitest";
import { silentLogger } from "../logger.ts";
import { createFakeApi, type FakeApi } from "../testing/fake-api.ts";
import { TestNodeClasses } from "../testing/fake-cloud.ts";
import { type Caches, createCaches } from "./caches.ts";
import { type Cluster, createCluster, nominationMs } from "./cluster.ts";
import { reschedulingCost } from "./eviction-cost.ts";
import { censusOf } from "./node-slots.ts";
import { allocatableOf, capacityOf, hostnameOf, isDeleted, nameOf, taintsOf } from "./state-node.ts";

const MINUTE_MS = 60_000;
const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };

interface Fixture {
  readonly api: FakeApi;
  readonly cluster: Cluster;
  readonly caches: Caches;
  settle(): Promise<void>;
  readonly clock: ReturnType<typeof createVirtualClock>;
  readonly kube: ReturnType<typeof createKubeClient>;
  node(name: string, node?: Partial<Node>): Promise<void>;
  claim(name: string, claim?: Partial<NodeClaim>): Promise<void>;
  pod(name: string, nodeName: string, cpu: string, change?: Partial<Pod>): Promise<void>;
  remove(path: string): Promise<void>;
  keys(): string[];
}

async function fixture(): Promise<Fixture> {
  const clock = createVirtualClock({ startMs: 0 });
  const api = createFakeApi(clock);
  const kube = createKubeClient(api.transport);
  const nodeClassKinds = [TestNodeClasses];
  const caches = createCaches({ kube, clock, random: createRandom(1), nodeClassKinds, log: silentLogger });
  void caches.run(new AbortController().signal);
  await clock.settle();
  const cluster = createCluster({ caches, clock, nodeClassKinds, nominationMs: nominationMs(10_000) });
  const then = async (action: () => void) => {
    action();
    await clock.settle();
  };
  return {
    api,
    cluster,
    caches,
    clock,
    kube,
    settle: () => clock.settle(),
    node: (name, node = {}) => then(() => api.put(`/api/v1/nodes/${name}`, node)),
    claim: (name, claim = {}) =>
      then(() =>
        api.put(`/apis/karpenter.sh/v1/nodeclaims/${name}`, { ...claim, spec: { nodeClassRef, requirements: [], ...claim.spec } }),
      ),
    pod: (name, nodeName, cpu, change = {}) =>
      then(() =>
        api.put(`/api/v1/namespaces/default/pods/${name}`, {
          ...change,
          spec: { nodeName, containers: [{ name: "c", resources: { requests: { cpu } } }], ...change.spec },
        }),
      ),
    remove: (path) => then(() => api.remove(path)),
    keys: () => [...cluster.nodes()].map(({ key }) => key).sort(),
  };
}

const owned = { "karpenter.sh/nodepool": "default", "node.kubernetes.io/instance-type": "small" };
const ready = { ...owned, "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true" };
const four = { capacity: { cpu: "4" }, allocatable: { cpu: "4" } };

test.each([
  ["owned, without provider ID", { metadata: { labels: owned } }, []],
  ["owned, without instance type", { metadata: { labels: { "karpenter.sh/nodepool": "default" } }, spec: { providerID: "p" } }, []],
  ["owned and complete", { metadata: { labels: owned }, spec: { providerID: "p" } }, ["p"]],
  ["somebody else's", { spec: { providerID: "p" } }, ["p"]],
  ["somebody else's, without provider ID", {}, ["node/n"]],
])("L-22: a Node that is %s", async (_, node, keys) => {
  const { node: put, keys: known } = await fixture();
  await put("n", node);
  expect(known()).toEqual(keys);
});

test("L-23: a Node gets its provider ID later and stays one", async () => {
  const { node, keys } = await fixture();
  await node("n");
  await node("n", { spec: { providerID: "p" } });
  expect(keys()).toEqual(["p"]);
});

test("L-24, L-27: NodeClaim and Node of one instance are one; each half goes by itself", async () => {
  const { node, claim, keys, remove } = await fixture();
  await claim("x");
  expect(keys()).toEqual([]);
  await claim("x", { status: { providerID: "p" } });
  await node("x", { metadata: { labels: ready }, spec: { providerID: "p" } });
  expect(keys()).toEqual(["p"]);
  await remove("/apis/karpenter.sh/v1/nodeclaims/x");
  expect(keys()).toEqual(["p"]);
  await remove("/api/v1/nodes/x");
  expect(keys()).toEqual([]);
});

test("L-25, L-28, L-29: usage follows the pods, in whatever order Node and pods come", async () => {
  const { node, pod, cluster, remove } = await fixture();
  const used = () => cluster.usageOf(cluster.find("node/n1")!).requests;
  await pod("a", "n1", "1500m");
  await node("n1", { status: four });
  expect(used()).toEqual({ cpu: 1500, pods: 1 });
  await pod("b", "n1", "500m");
  await pod("b", "n1", "500m", { status: { phase: "Succeeded" } });
  expect(used()).toEqual({ cpu: 1500, pods: 1 });
  await remove("/api/v1/namespaces/default/pods/a");
  expect(used()).toEqual({});
});

test("L-28: a pod that was deleted and made again elsewhere is counted there only", async () => {
  const { node, pod, cluster, remove } = await fixture();
  await node("n1", { status: four });
  await node("n2", { status: four });
  await pod("s", "n1", "1500m");
  await remove("/api/v1/namespaces/default/pods/s");
  await pod("s", "n2", "3");
  expect(cluster.usageOf(cluster.find("node/n1")!).requests).toEqual({});
  expect(cluster.usageOf(cluster.find("node/n2")!).requests).toMatchObject({ cpu: 3000 });
});

test("L-30: what DaemonSets' pods ask for is summed beside", async () => {
  const { node, pod, cluster } = await fixture();
  await node("n", { status: four });
  await pod("d", "n", "100m", { metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "u" }] } });
  await pod("a", "n", "1");
  expect(cluster.usageOf(cluster.find("node/n")!)).toMatchObject({
    requests: { cpu: 1100, pods: 2 },
    daemonSetRequests: { cpu: 100, pods: 1 },
  });
});

test("L-41…L-48: until a node is registered and initialized, its NodeClaim speaks for it", async () => {
  const { node, claim, cluster } = await fixture();
  const taint = (key: string) => ({ key, effect: "NoSchedule" as const });
  await claim("c", {
    metadata: { labels: { ...owned, who: "claim" } },
    spec: { nodeClassRef, requirements: [], taints: [taint("own")], startupTaints: [taint("startup")] },
    status: { providerID: "p", capacity: { cpu: "4", gpu: "2" }, allocatable: { cpu: "3", gpu: "2" } },
  });
  const state = () => cluster.find("p")!;
  expect([nameOf(state()), hostnameOf(state()), capacityOf(state()), taintsOf(state())]).toEqual([
    "c",
    "c",
    { cpu: 4000, gpu: 2, nodes: 1 },
    [taint("own")],
  ]);
  const joined = { spec: { providerID: "p", taints: [taint("own"), taint("startup"), taint("node.kubernetes.io/not-ready")] } };
  const status = { capacity: { cpu: "4100m", gpu: "0" }, allocatable: { cpu: "3900m", gpu: "0" } };
  await node("n", { ...joined, metadata: { labels: { ...owned, "karpenter.sh/registered": "true" } }, status });
  expect([nameOf(state()), capacityOf(state()), allocatableOf(state()), taintsOf(state())]).toEqual([
    "n",
    { cpu: 4100, gpu: 2, nodes: 1 },
    { cpu: 3900, gpu: 2 },
    [taint("own")],
  ]);
  await node("n", { metadata: { labels: ready } });
  expect([capacityOf(state()), taintsOf(state()).length]).toEqual([{ cpu: 4100, gpu: 0, nodes: 1 }, 3]);
  // V-8: a reboot is not the end of the node as a place for pods.
  await claim("c", { status: { conditions: [{ type: "Rebooting", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }] } });
  expect(taintsOf(state())).toEqual([taint("own")]);
});

test("L-49: a Node that goes under a NodeClaim that stays is not deleted", async () => {
  const { node, claim, cluster, remove } = await fixture();
  await claim("c", { metadata: { labels: owned, finalizers: ["f"] }, status: { providerID: "p" } });
  await node("n", { metadata: { labels: ready, finalizers: ["f"] }, spec: { providerID: "p" } });
  await remove("/api/v1/nodes/n");
  expect(isDeleted(cluster.find("p")!)).toBe(false);
  await remove("/apis/karpenter.sh/v1/nodeclaims/c");
  expect(isDeleted(cluster.find("p")!)).toBe(true);
});

test("L-52: a nomination holds for twice the longest batch and can be extended", async () => {
  const { node, cluster, clock } = await fixture();
  expect([nominationMs(10_000), nominationMs(1000)]).toEqual([20_000, 10_000]);
  await node("n");
  cluster.nominate("node/n");
  cluster.nominate("unknown");
  await clock.advance(15_000);
  cluster.nominate("node/n");
  await clock.advance(15_000);
  expect(cluster.isNominated("node/n")).toBe(true);
  await clock.advance(5000);
  expect(cluster.isNominated("node/n")).toBe(false);
});

test("L-26, L-50: a NodeClaim that changes keeps its node's mark, nomination and pods; one that goes is marked", async () => {
  const { node, claim, pod, cluster } = await fixture();
  const launched = (annotations = {}) => claim("c", { metadata: { labels: owned, annotations }, status: { providerID: "p", ...four } });
  await launched();
  await node("n", { metadata: { labels: ready }, spec: { providerID: "p" }, status: four });
  await pod("a", "n", "1");
  cluster.nominate("p");
  cluster.mark(["p"]);
  await launched({ changed: "yes" });
  const state = cluster.find("p")!;
  expect([cluster.isNominated("p"), cluster.isMarked(state)]).toEqual([true, true]);
  expect(cluster.usageOf(state).requests).toMatchObject({ cpu: 1000 });
  cluster.unmark(["p"]);
  expect(cluster.isMarked(cluster.find("p")!)).toBe(false);
  await claim("c", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x"] } });
  expect(cluster.isMarked(cluster.find("p")!)).toBe(true);
});

test("L-58: a mark moves a NodeClaim from those that are there to those that go, and no change of it moves it back", async () => {
  const { claim, cluster, caches } = await fixture();
  const launched = (name: string, annotations = {}) =>
    claim(name, { metadata: { labels: owned, annotations }, status: { providerID: `of-${name}` } });
  await launched("a");
  await launched("b");
  const census = () => {
    const { active, deleting } = censusOf("default", caches, cluster);
    return [active, deleting].map((claims) => claims.map(({ metadata }) => metadata?.name).sort());
  };
  expect(census()).toEqual([["a", "b"], []]);
  cluster.mark(["of-a"]);
  expect(census()).toEqual([["b"], ["a"]]);
  await launched("a", { changed: "yes" });
  expect(census()).toEqual([["b"], ["a"]]);
  cluster.unmark(["of-a"]);
  expect(census()).toEqual([["a", "b"], []]);
});

test("L-250: a NodeClaim that changes leaves what it costs to move its pods as it was", async () => {
  const { node, claim, pod, cluster, caches } = await fixture();
  const launched = (annotations = {}) => claim("c", { metadata: { labels: owned, annotations }, status: { providerID: "p", ...four } });
  await launched();
  await node("n", { metadata: { labels: ready }, spec: { providerID: "p" }, status: four });
  await pod("a", "n", "1", {
    metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "r", uid: "r", controller: true }] },
  });
  const cost = () => reschedulingCost(caches.pods.by("node", nameOf(cluster.find("p")!)), { isDeletionCostManaged: false });
  expect(cost()).toBe(2);
  await launched({ changed: "yes" });
  expect(cost()).toBe(2);
});

test("L-53, L-55, L-56: a pool holds what its unmarked nodes have, each once", async () => {
  const { node, claim, cluster } = await fixture();
  await claim("c", { metadata: { labels: owned }, status: { providerID: "p", capacity: { cpu: "4" } } });
  expect(cluster.poolResources("default")).toEqual({ cpu: 4000, nodes: 1 });
  await node("n", { metadata: { labels: ready }, spec: { providerID: "p" }, status: { capacity: { cpu: "5" } } });
  expect(cluster.poolResources("default")).toEqual({ cpu: 5000, nodes: 1 });
  cluster.mark(["p", "p", "unknown"]);
  expect(cluster.poolResources("default")).toBeUndefined();
  cluster.unmark(["p"]);
  expect(cluster.poolResources("default")).toEqual({ cpu: 5000, nodes: 1 });
  await node("n", { metadata: { labels: { ...ready, "karpenter.sh/nodepool": "other" } } });
  expect([cluster.poolResources("default"), cluster.poolResources("other")]).toEqual([undefined, { cpu: 5000, nodes: 1 }]);
});

test("L-34…L-36, L-40, O-279: synced once all is known, and not while a NodeClaim has no instance", async () => {
  const { claim, cluster, kube, clock } = await fixture();
  expect(cluster.sync.isSynced).toBe(false);
  await cluster.sync.catchUp(kube, new AbortController().signal);
  expect(cluster.sync.isSynced).toBe(true);
  await claim("c");
  await clock.advance(MINUTE_MS);
  expect([cluster.sync.isSynced, cluster.sync.unsyncedMs]).toEqual([false, MINUTE_MS]);
  await claim("c", { status: { providerID: "p" } });
  expect([cluster.sync.isSynced, cluster.sync.unsyncedMs]).toEqual([true, 0]);
  for await (const { metadata } of kube.listAll(NodeClaims)) expect(metadata?.name).toBe("c");
});

test("L-37: what is known beyond what the API server lists keeps nobody waiting", async () => {
  const { claim, node, cluster, kube, keys } = await fixture();
  await claim("c", { status: { providerID: "p" } });
  await node("n", { spec: { providerID: "q" } });
  const behind: KubeClient = { ...kube, async *listAll() {} };
  await cluster.sync.catchUp(behind, new AbortController().signal);
  expect(cluster.sync.isSynced).toBe(true);
  expect(keys()).toEqual(["p", "q"]);
});

test("L-35: what is listed is known, though the watch has not brought it; what the watch knows better stays", async () => {
  const { claim, cluster, kube } = await fixture();
  await claim("c", { status: { providerID: "p" } });
  const ahead: KubeClient = {
    ...kube,
    async *listAll(kind, options, signal) {
      for await (const object of kube.listAll(kind, options, signal)) {
        const old = { ...object, metadata: { ...object.metadata, resourceVersion: "1" }, status: {} };
        yield old as never;
        const unseen = { name: "unseen", uid: "unseen", resourceVersion: "1000" };
        yield { ...object, metadata: { ...object.metadata, ...unseen }, status: { providerID: "q" } } as never;
      }
    },
  };
  await cluster.sync.catchUp(ahead, new AbortController().signal);
  expect([...cluster.nodes()].map(({ key }) => key)).toEqual(["p", "q"]);
  expect(cluster.sync.isSynced).toBe(true);
});

const [NODE, CLAIM] = ["/api/v1/nodes/n", "/apis/karpenter.sh/v1/nodeclaims/c"];

test.each([
  { what: "a Node that was not initialized", labels: owned, first: NODE },
  { what: "the NodeClaim of a Node that was", labels: ready, first: CLAIM },
])("L-66: $what moves the consolidation timestamp when it goes, though the other half stays", async ({ labels, first }) => {
  const { node, claim, remove, clock, cluster, keys } = await fixture();
  await node("n", { metadata: { labels }, spec: { providerID: "p" }, status: four });
  await claim("c", { metadata: { labels }, status: { providerID: "p" } });
  await clock.advance(1000);
  await remove(first);
  expect(keys()).toEqual(["p"]);
  expect(cluster.consolidation.read()).toBe(1000);
});
