import type { Node, Taint } from "@joinery/api";
import { expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { createWorld, NODE_CLAIMS, NODES, putPendingPod, putPool, type World } from "../testing/world.ts";

const startup: Taint = { key: "s", value: "v", effect: "NoSchedule" };
const resources = { cpu: "4", memory: "16Gi", pods: "110" };

/** A NodeClaim that is registered, and whose Node is Ready and without taints; the pod asks for one CPU. */
async function withRegistered(): Promise<{ world: World; path: string }> {
  const world = createWorld();
  const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };
  putPool(world, "default", { template: { spec: { nodeClassRef, requirements: [], startupTaints: [startup], expireAfter: "Never" } } });
  putPendingPod(world, "a");
  world.start();
  await world.until("registered", () => world.claims().some((claim) => claimCondition(claim, "Registered").status === "True"));
  return { world, path: `${NODES}/${world.claims()[0]!.status!.nodeName}` };
}

interface Row {
  readonly reason: string;
  readonly message: string;
  readonly node: { readonly spec?: { readonly taints: readonly Taint[] }; readonly status?: Node["status"] };
}

const ready = (status: "True" | "False", allocatable = resources) => ({
  capacity: resources,
  allocatable,
  conditions: [{ type: "Ready", status }],
});
const all = { spec: { taints: [startup, { key: "readiness.k8s.io/net", effect: "NoSchedule" as const }] } };

test.each<Row>([
  { reason: "NodeNotReady", message: "Node status is NotReady", node: { ...all, status: ready("False") } },
  { reason: "StartupTaintsExist", message: 'StartupTaint "s=v:NoSchedule" still exists', node: { ...all, status: ready("True") } },
  {
    reason: "KnownEphemeralTaintsExist",
    message: 'KnownEphemeralTaint "readiness.k8s.io/net:NoSchedule" still exists',
    node: { spec: { taints: all.spec.taints.slice(1) }, status: ready("True", { ...resources, cpu: "0" }) },
  },
  {
    reason: "ResourceNotRegistered",
    message: 'Resource "cpu" was requested but not registered',
    node: { spec: { taints: [] }, status: ready("True", { ...resources, cpu: "0" }) },
  },
])("L-102, L-103: $reason, the first of the checks that fails", async ({ reason, message, node }) => {
  const { world, path } = await withRegistered();
  await world.clock.advance(2000);
  world.api.put(path, node);
  await world.clock.advance(1000);
  expect(claimCondition(world.claims()[0]!, "Initialized")).toMatchObject({ status: "Unknown", reason, message });
  expect(world.api.find<Node>(path)!.metadata!.labels!["karpenter.sh/initialized"]).toBeUndefined();
  await world.clock.advance(60 * 60_000);
  expect(world.claims(), "there is no time limit").toHaveLength(1);
  world.api.put(path, { spec: { taints: [] }, status: ready("True") });
  await world.clock.advance(1000);
  expect(world.api.find<Node>(path)!.metadata!.labels!["karpenter.sh/initialized"]).toBe("true");
  expect(claimCondition(world.claims()[0]!, "Ready")).toMatchObject({ status: "True", reason: "Ready" });
});

test("L-95: a startup taint that went away is not put back", async () => {
  const { world, path } = await withRegistered();
  world.api.put(path, { spec: { taints: [] }, status: ready("True") });
  await world.clock.advance(20 * 60_000);
  expect(world.api.find<Node>(path)!.spec!.taints).toEqual([]);
});

test("V-7: a node that reboots is neither initialized nor told why not, until it has; then the checks run again (L-104)", async () => {
  const { world, path } = await withRegistered();
  const name = world.claims()[0]!.metadata!.name!;
  const set = (...changes: readonly object[]) => {
    const { conditions = [] } = world.claims()[0]!.status!;
    const changed = changes.map((change) => ({ lastTransitionTime: new Date(world.clock.wallMs()).toISOString(), message: "", ...change }));
    const types = new Set(changed.map((change) => (change as unknown as { readonly type: string }).type));
    world.api.put(`${NODE_CLAIMS}/${name}`, { status: { conditions: [...conditions.filter(({ type }) => !types.has(type)), ...changed] } });
  };
  set(
    { type: "Rebooting", status: "True", reason: "RebootIssued" },
    { type: "Initialized", status: "Unknown", reason: "Rebooting", message: "node is rebooting" },
  );
  world.api.put(path, { spec: { taints: [] }, status: ready("True") });
  await world.clock.advance(10 * 60_000);
  expect(claimCondition(world.claims()[0]!, "Initialized")).toMatchObject({ status: "Unknown", reason: "Rebooting" });
  expect(world.api.find<Node>(path)!.metadata!.labels!["karpenter.sh/initialized"]).toBeUndefined();
  set({ type: "Rebooting", status: "False", reason: "RebootSucceeded" });
  await world.clock.advance(1000);
  expect(claimCondition(world.claims()[0]!, "Initialized").status).toBe("True");
  expect(world.api.find<Node>(path)!.metadata!.labels!["karpenter.sh/initialized"]).toBe("true");
});
