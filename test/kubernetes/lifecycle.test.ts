/**
 * What becomes of nodes on a real control plane, beside provisioning: static pools, overlays, buffers, drains that have to wait,
 * expiration. Sections 4 to 6 and 12 to 15 of the lifecycle rules.
 */
import {
  type CapacityBuffer,
  CapacityBuffers,
  type Deployment,
  Deployments,
  Events,
  type Kind,
  KwokNodeClasses,
  type NodeClaim,
  NodeClaims,
  type NodeOverlay,
  NodeOverlays,
  type NodePool,
  NodePools,
  Nodes,
  type Pod,
  PodDisruptionBudgets,
  Pods,
} from "@joinery/api";
import { createOnce, type KubeClient } from "@joinery/kube";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clock, connect, eventually, installCrds, type RunningController, startController } from "./cluster.ts";

const GATES = "StaticCapacity=true,NodeOverlay=true,CapacityBuffer=true,PodDeletionCostManagement=true";
const POOL = "karpenter.sh/nodepool";
const namespace = "default";

let client: KubeClient;
let controller: RunningController;

beforeAll(async () => {
  client = await connect();
  await installCrds(client);
  await createOnce(client, KwokNodeClasses, { metadata: { name: "default" }, spec: {} });
  controller = startController("lifecycle", [], { FEATURE_GATES: GATES });
});

afterAll(async () => {
  await deleteAll(Deployments);
  await deleteAll(CapacityBuffers);
  await deleteAll(PodDisruptionBudgets);
  for (const { metadata } of (await client.list(NodeOverlays)).items) await client.delete(NodeOverlays, { name: metadata?.name ?? "" });
  await eventually("all NodePools and Nodes to go", 180_000, async () => {
    for (const { metadata } of (await client.list(NodePools)).items)
      await client.delete(NodePools, { name: metadata?.name ?? "" }).catch(() => {});
    const [claims, nodes] = [(await client.list(NodeClaims)).items.length, (await client.list(Nodes)).items.length];
    return (claims === 0 && nodes === 0) || `${claims} NodeClaims, ${nodes} Nodes`;
  });
  controller?.signal("SIGTERM");
  if (controller !== undefined) expect(await controller.ended).toBe(0);
});

async function deleteAll(kind: Kind): Promise<void> {
  for (const { metadata } of (await client.list(kind, { namespace })).items) {
    await client.delete(kind, { namespace, name: metadata?.name ?? "" }, { propagationPolicy: "Background" });
  }
}

type TemplateSpec = Partial<NodePool["spec"]["template"]["spec"]>;

async function createPool(name: string, template: TemplateSpec = {}, spec: Partial<NodePool["spec"]> = {}): Promise<void> {
  const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
  const requirements = [
    { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
    { key: "karpenter.kwok.sh/instance-cpu", operator: "Lt", values: ["9"] },
  ] as const;
  await client.create(NodePools, {
    metadata: { name },
    spec: { template: { spec: { nodeClassRef, requirements, expireAfter: "Never", ...template } }, ...spec },
  } as NodePool);
}

function deployment(name: string, pool: string, replicas: number, pod: { readonly annotations?: Record<string, string> } = {}): Deployment {
  const labels = { app: name };
  const containers = [{ name: "main", image: "example.com/app", resources: { requests: { cpu: "500m", memory: "256Mi" } } }];
  return {
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels, ...pod }, spec: { terminationGracePeriodSeconds: 1, nodeSelector: { [POOL]: pool }, containers } },
    },
  };
}

const claimsOf = async (pool: string) => (await client.list(NodeClaims, { labelSelector: `${POOL}=${pool}` })).items;
const nodesOf = async (pool: string) => (await client.list(Nodes, { labelSelector: `${POOL}=${pool}` })).items;
const podsOf = async (name: string) => (await client.list(Pods, { namespace, labelSelector: `app=${name}` })).items;
const isTrue = (object: { readonly status?: { readonly conditions?: readonly { type: string; status: string }[] } }, type: string) =>
  object.status?.conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;

async function untilRunning(name: string, count: number): Promise<readonly Pod[]> {
  await eventually(`${count} pods of ${name} to run`, 120_000, async () => {
    controller.assertAlive();
    const running = (await podsOf(name)).filter(({ status, metadata }) => status?.phase === "Running" && !metadata?.deletionTimestamp);
    return running.length === count || `${running.length} run`;
  });
  return podsOf(name);
}

async function untilReady(pool: string, count: number): Promise<readonly NodeClaim[]> {
  await eventually(`${count} NodeClaims of ${pool} to be Ready`, 120_000, async () => {
    controller.assertAlive();
    const claims = await claimsOf(pool);
    return (claims.length === count && claims.every((claim) => isTrue(claim, "Ready"))) || `${claims.length} there`;
  });
  return claimsOf(pool);
}

test("L-192…L-204: a static pool has as many nodes as it says, up and down", async () => {
  await createPool("static", {}, { replicas: 3, limits: { nodes: "2" } });
  const claims = await untilReady("static", 2);
  expect(claims.every(({ spec }) => spec.resources === undefined)).toBe(true);
  await client.patch(NodePools, { name: "static" }, { type: "merge", body: { spec: { limits: { nodes: "5" } } } });
  await untilReady("static", 3);
  await client.patch(NodePools, { name: "static" }, { type: "merge", body: { spec: { replicas: 1 } } });
  await untilReady("static", 1);
  await eventually("one Node", 60_000, async () => (await nodesOf("static")).length === 1);
  await eventually("the status to count it", 30_000, async () => (await client.get(NodePools, { name: "static" })).status?.nodes === 1);
});

test("L-263: a deleted pool takes its NodeClaims and Nodes along, by the server's own garbage collector", async () => {
  await client.delete(NodePools, { name: "static" });
  await eventually("them to go", 120_000, async () => (await claimsOf("static")).length === 0 && (await nodesOf("static")).length === 0);
});

test("L-225…L-243: overlays are validated together, and NodeClaims say that they count", async () => {
  const overlay = (name: string, price: string): NodeOverlay => ({
    metadata: { name },
    spec: { requirements: [{ key: POOL, operator: "In", values: ["overlaid"] }], weight: 10, price },
  });
  await client.create(NodeOverlays, overlay("overlay-a", "0.1"));
  await client.create(NodeOverlays, overlay("overlay-b", "0.2"));
  await createPool("overlaid");
  const verdict = async (name: string) =>
    (await client.get(NodeOverlays, { name })).status?.conditions?.find(({ type }) => type === "ValidationSucceeded");
  await eventually("overlay-a to conflict", 30_000, async () => (await verdict("overlay-a"))?.reason === "Conflict");
  expect(await verdict("overlay-b")).toMatchObject({ status: "True" });
  await client.create(Deployments, deployment("overlaid", "overlaid", 2));
  await untilRunning("overlaid", 2);
  const [claim] = await claimsOf("overlaid");
  expect(claim!.metadata?.annotations).toMatchObject({ "karpenter.sh/price-overlay-applied": "true" });
});

test("L-206…L-224: a buffer keeps room beside the pods that run, and pods that come take it", async () => {
  await client.create(CapacityBuffers, {
    metadata: { name: "room", namespace },
    spec: { scalableRef: { apiGroup: "apps", kind: "Deployment", name: "overlaid" }, percentage: 800 },
  } as CapacityBuffer);
  const buffer = () => client.get(CapacityBuffers, { namespace, name: "room" });
  const reason = async () => (await buffer()).status?.conditions?.find(({ type }) => type === "Provisioning")?.reason;
  await eventually("room for sixteen", 120_000, async () => {
    controller.assertAlive();
    const { status } = await buffer();
    return (status?.replicas === 16 && isTrue(await buffer(), "Provisioning")) || `${status?.replicas}, ${await reason()}`;
  });
  const before = await claimsOf("overlaid");
  expect(before.length).toBeGreaterThan(1);
  await client.patch(Deployments, { namespace, name: "overlaid" }, { type: "merge", body: { spec: { replicas: 3 } } });
  await untilRunning("overlaid", 3);
  await client.delete(CapacityBuffers, { namespace, name: "room" });
  const events = (await client.list(Events, { namespace })).items as unknown as { readonly involvedObject: { readonly name: string } }[];
  expect(events.filter(({ involvedObject }) => involvedObject.name.startsWith("capacity-buffer"))).toEqual([]);
});

test("V-80…V-88: pods of nodes that go are removed first", async () => {
  const annotation = "controller.kubernetes.io/pod-deletion-cost";
  await eventually("pods to have a deletion cost", 150_000, async () => {
    controller.assertAlive();
    return (await podsOf("overlaid")).some(({ metadata }) => metadata?.annotations?.[annotation] !== undefined);
  });
});

test("L-152, L-155: a drain waits for a budget, says so, and goes on when it may", async () => {
  await createPool("drained");
  await client.create(Deployments, deployment("guarded", "drained", 2));
  await client.create(PodDisruptionBudgets, {
    metadata: { name: "guarded", namespace },
    spec: { maxUnavailable: 0, selector: { matchLabels: { app: "guarded" } } },
  });
  await untilRunning("guarded", 2);
  const [node] = await nodesOf("drained");
  const name = node?.metadata?.name ?? "";
  await client.delete(Nodes, { name });
  await eventually("why to be told", 30_000, async () => {
    const events = (await client.list(Events, { namespace })).items as unknown as { readonly message?: string }[];
    return events.some(({ message }) => message?.includes("evicting pod violates a PDB"));
  });
  await clock.sleep(5000);
  expect((await client.find(Nodes, { name }))?.spec?.taints).toContainEqual(expect.objectContaining({ key: "karpenter.sh/disrupted" }));
  expect((await podsOf("guarded")).every(({ status }) => status?.phase === "Running")).toBe(true);
  await client.delete(PodDisruptionBudgets, { namespace, name: "guarded" });
  await eventually("the node to go", 60_000, async () => (await client.find(Nodes, { name })) === undefined);
  await untilRunning("guarded", 2);
});

test("L-138, L-151: a pod that must not be disrupted keeps its node until it may", async () => {
  await client.create(Deployments, deployment("kept", "drained", 1, { annotations: { "karpenter.sh/do-not-disrupt": "true" } }));
  const [pod] = await untilRunning("kept", 1);
  const name = pod?.spec.nodeName ?? "";
  await client.delete(Nodes, { name });
  await clock.sleep(15_000);
  expect((await client.find(Nodes, { name }))?.metadata?.deletionTimestamp).toBeDefined();
  expect((await podsOf("kept"))[0]?.metadata?.uid).toBe(pod?.metadata?.uid);
  const body = { metadata: { annotations: { "karpenter.sh/do-not-disrupt": null } } };
  await client.patch(Pods, { namespace, name: pod?.metadata?.name ?? "" }, { type: "merge", body });
  await eventually("the node to go", 60_000, async () => (await client.find(Nodes, { name })) === undefined);
});

test("L-118, L-147, L-148: with a termination grace period it goes in time, whatever its pods wish", async () => {
  await createPool("graced", { terminationGracePeriod: "20s" });
  await client.create(Deployments, deployment("graced", "graced", 1, { annotations: { "karpenter.sh/do-not-disrupt": "true" } }));
  await untilRunning("graced", 1);
  const [claim] = await claimsOf("graced");
  const name = claim?.metadata?.name ?? "";
  const startedAtMs = clock.monotonicMs();
  await client.delete(NodeClaims, { name });
  await eventually("a deadline", 10_000, async () => {
    const annotations = (await client.find(NodeClaims, { name }))?.metadata?.annotations ?? {};
    return "karpenter.sh/nodeclaim-termination-timestamp" in annotations;
  });
  await eventually("it to go", 90_000, async () => (await client.find(NodeClaims, { name })) === undefined);
  expect(clock.monotonicMs() - startedAtMs).toBeGreaterThan(15_000);
  await client.delete(Deployments, { namespace, name: "graced" }, { propagationPolicy: "Background" });
});

test("L-163…L-165: a node that is old enough is replaced, and its pods run again", async () => {
  await createPool("aging", { expireAfter: "40s" });
  await client.create(Deployments, deployment("aging", "aging", 3));
  await untilRunning("aging", 3);
  const [old] = await claimsOf("aging");
  await eventually("it to expire", 120_000, async () => {
    controller.assertAlive();
    return (await claimsOf("aging")).every(({ metadata }) => metadata?.uid !== old?.metadata?.uid);
  });
  await untilRunning("aging", 3);
  await client.patch(NodePools, { name: "aging" }, { type: "merge", body: { spec: { template: { spec: { expireAfter: "Never" } } } } });
});

test("L-175, L-246: nodes are compared with what they promised, and pod events are stamped", async () => {
  // L-173: a NodeClaim whose Node is seen later than its provider ID has used up its turn, and is looked at after ten minutes.
  const all = (await client.list(NodeClaims)).items;
  expect(all.some((claim) => isTrue(claim, "ConsistentStateFound"))).toBe(true);
  const isFaulty = ({ status }: NodeClaim) =>
    status?.conditions?.some((one) => one.type === "ConsistentStateFound" && one.status === "False");
  expect(all.filter(isFaulty)).toEqual([]);
  await eventually("pod events to be stamped", 30_000, async () => {
    const claims = await claimsOf("drained");
    return claims.length > 0 && claims.every(({ status }) => status?.lastPodEventTime !== undefined);
  });
});
