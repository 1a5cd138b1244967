/** The events that the controller leaves at the API server in lives of pods, nodes and NodeClaims. Section 9.2 of the operations chapter. */
import type { KubeEvent } from "@joinery/api";
import { expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { createWorld, createWorldWithNode, NODES, putPendingPod, putPool, type World } from "../testing/world.ts";

const MINUTE_MS = 60_000;
const POD = "/api/v1/namespaces/default/pods/a";

interface Told {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly kind: string;
  /** Of the subject; a NodeClaim's and a Node's are made up. */
  readonly name?: string;
  readonly message: RegExp;
}

/** O-242. */
const namespaceOf = (kind: string) => (kind === "Lease" ? "karpenter" : "default");

async function aBoundWorld(spec: Parameters<typeof createWorldWithNode>[1] = {}): Promise<{ world: World; node: string }> {
  return createWorldWithNode(["a"], spec);
}

const SCENARIOS: readonly { readonly rules: string; readonly told: readonly Told[]; readonly live: () => Promise<World> }[] = [
  {
    rules: "O-249, O-275: a pod gets a node",
    told: [
      { type: "Normal", reason: "Nominated", kind: "Pod", name: "a", message: /^Pod should schedule on: nodeclaim\/default-\w+$/ },
      { type: "Normal", reason: "Launched", kind: "NodeClaim", message: /Status: Unknown -> True, Reason: Launched$/ },
      { type: "Normal", reason: "Registered", kind: "NodeClaim", message: /Status: Unknown -> True, Reason: Registered$/ },
      { type: "Normal", reason: "Initialized", kind: "NodeClaim", message: /Status: Unknown -> True, Reason: Initialized$/ },
      { type: "Normal", reason: "Ready", kind: "NodeClaim", message: /Status: Unknown -> True, Reason: Ready$/ },
      { type: "Normal", reason: "Ready", kind: "Node", message: /Status: False -> True/ },
      { type: "Normal", reason: "Ready", kind: "NodePool", name: "default", message: /Status: Unknown -> True/ },
    ],
    async live() {
      return (await aBoundWorld()).world;
    },
  },
  {
    rules: "O-248, O-250: no pool fits",
    told: [
      { type: "Warning", reason: "FailedScheduling", kind: "Pod", name: "a", message: /^Failed to schedule pod, ./ },
      {
        type: "Warning",
        reason: "NoCompatibleInstanceTypes",
        kind: "NodePool",
        name: "none",
        message: /^NodePool requirements filtered out/,
      },
    ],
    async live() {
      const world = createWorld();
      const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };
      const requirements = [{ key: "node.kubernetes.io/instance-type", operator: "In" as const, values: ["huge"] }];
      putPool(world, "none", { template: { spec: { nodeClassRef, requirements, expireAfter: "720h" } } });
      putPendingPod(world, "a");
      world.start();
      await world.clock.advance(MINUTE_MS);
      return world;
    },
  },
  {
    rules: "O-266, V-94: no capacity",
    told: [
      { type: "Warning", reason: "InsufficientCapacityError", kind: "NodeClaim", message: /^NodeClaim default-\w+ event: sold out$/ },
      {
        type: "Warning",
        reason: "InsufficientCapacityError",
        kind: "Pod",
        name: "a",
        message: /^NodeClaim default-\w+ nominated for this pod failed to launch: sold out$/,
      },
    ],
    async live() {
      const world = createWorld();
      world.cloud.onLaunch = () => ({ kind: "insufficient-capacity", message: "sold out" });
      putPool(world);
      putPendingPod(world, "a");
      world.start();
      await world.clock.advance(MINUTE_MS);
      return world;
    },
  },
  {
    rules: "O-267: a node without the taint",
    told: [{ type: "Warning", reason: "UnregisteredTaintMissing", kind: "NodeClaim", message: /unregistered taint/ }],
    async live() {
      const world = createWorld();
      world.cloud.joinsAfterMs = undefined;
      putPool(world);
      putPendingPod(world, "a");
      world.start();
      await world.until("launched", () => world.claims().some((claim) => claimCondition(claim, "Launched").status === "True"));
      world.api.put(`${NODES}/n`, { spec: { providerID: world.claims()[0]!.status!.providerID } });
      await world.clock.advance(1000);
      return world;
    },
  },
  {
    rules: "O-265: a node that lost memory",
    told: [{ type: "Warning", reason: "FailedConsistencyCheck", kind: "NodeClaim", message: /^expected 4 of resource cpu, but found 2/ }],
    async live() {
      const { world, node } = await aBoundWorld();
      await world.clock.advance(11 * MINUTE_MS);
      world.api.put(`${NODES}/${node}`, { status: { capacity: { cpu: "2" } } });
      await world.clock.advance(11 * MINUTE_MS);
      return world;
    },
  },
  {
    rules: "O-259, O-261, O-262, O-276: a node goes",
    told: [
      { type: "Warning", reason: "FailedDraining", kind: "Node", message: /^Failed to drain node, 1 pods are waiting to be evicted$/ },
      { type: "Normal", reason: "Evicted", kind: "Pod", name: "a", message: /^Evicted pod: Forceful Termination$/ },
      { type: "Normal", reason: "AwaitingVolumeDetachment", kind: "Node", message: /\(va\)$/ },
      { type: "Normal", reason: "Finalized", kind: "Node", message: /^Finalized karpenter.sh\/termination$/ },
      { type: "Normal", reason: "Finalized", kind: "NodeClaim", message: /^Finalized karpenter.sh\/termination$/ },
    ],
    async live() {
      const { world, node } = await aBoundWorld();
      const path = "/apis/storage.k8s.io/v1/volumeattachments/va";
      world.api.put(path, { spec: { nodeName: node, attacher: "ebs", source: { persistentVolumeName: "pv-1" } } });
      world.api.remove(`${NODES}/${node}`);
      await world.clock.advance(MINUTE_MS);
      world.api.remove(path);
      await world.until("gone", () => world.claims().length === 0 && world.api.objects(NODES).length === 0);
      await world.clock.advance(1000);
      return world;
    },
  },
  {
    rules: "O-260, O-263: a node with a deadline goes",
    told: [
      {
        type: "Warning",
        reason: "TerminationGracePeriodExpiring",
        kind: "Node",
        message: /^All pods will be deleted by 2026-01-01T00:0\d:\d\dZ$/,
      },
      {
        type: "Warning",
        reason: "TerminationGracePeriodExpiring",
        kind: "NodeClaim",
        message: /^All pods will be deleted by 2026-01-01T00:0/,
      },
      { type: "Normal", reason: "Disrupted", kind: "Pod", name: "a", message: /granted \d+ seconds of grace-period of its 30s/ },
    ],
    async live() {
      const { world, node } = await aBoundWorld({ terminationGracePeriod: "2m" });
      world.api.put(POD, { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } });
      world.api.remove(`${NODES}/${node}`);
      await world.clock.advance(3 * MINUTE_MS);
      return world;
    },
  },
  {
    rules: "O-268: a wish that cannot be read",
    told: [{ type: "Warning", reason: "InvalidDoNotDisruptAnnotation", kind: "Pod", name: "a", message: /"soon" is neither/ }],
    live: () => drainProtected("soon"),
  },
  {
    rules: "O-269: a wish that ends",
    told: [
      { type: "Normal", reason: "DoNotDisruptUntil", kind: "Pod", name: "a", message: /^Pod may not be disrupted until 2026-01-01T00:/ },
      {
        type: "Normal",
        reason: "DoNotDisruptGracePeriodElapsed",
        kind: "Pod",
        name: "a",
        message: /^Pod may be disrupted since 2026-01-01T00:/,
      },
    ],
    live: () => drainProtected("10m"),
  },
  {
    rules: "O-277: somebody leads",
    told: [{ type: "Normal", reason: "LeaderElection", kind: "Lease", name: "karpenter-leader-election", message: /^one became leader$/ }],
    async live() {
      const world = createWorld();
      world.start({ leaderElection: { namespace: "karpenter", identity: "one" } });
      await world.clock.advance(MINUTE_MS);
      return world;
    },
  },
];

async function drainProtected(wish: string): Promise<World> {
  const { world, node } = await aBoundWorld();
  const startTime = new Date(world.clock.wallMs()).toISOString();
  world.api.put(POD, { metadata: { annotations: { "karpenter.sh/do-not-disrupt": wish } }, status: { startTime } });
  world.api.remove(`${NODES}/${node}`);
  await world.clock.advance(15 * MINUTE_MS);
  return world;
}

test.each(SCENARIOS)("$rules", async ({ told, live }) => {
  const events = (await live()).events() as unknown as KubeEvent[];
  for (const { type, reason, kind, name, message } of told) {
    const found = events.filter((event) => event.reason === reason && event.involvedObject.kind === kind);
    const wanted = { type, involvedObject: name === undefined ? { kind } : { kind, name }, source: { component: "karpenter" } };
    expect(found, `${reason} on ${kind}`).toContainEqual(
      expect.objectContaining({
        ...wanted,
        involvedObject: expect.objectContaining(wanted.involvedObject),
        message: expect.stringMatching(message),
        metadata: expect.objectContaining({ namespace: namespaceOf(kind) }),
      }),
    );
  }
});

test("O-247: a successor tells again", async () => {
  const world = createWorld();
  putPendingPod(world, "a", "1000");
  putPool(world);
  const told = () => world.events().filter(({ reason }) => reason === "FailedScheduling").length;
  const first = world.start();
  await world.clock.advance(MINUTE_MS);
  expect(told()).toBe(1);
  await first.kill();
  world.start();
  await world.clock.advance(MINUTE_MS);
  expect(told()).toBe(2);
});
