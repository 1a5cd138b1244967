/** NodeClaims that core deletes by itself, by reason. Rules O-179, O-183, L-166; the reasons of disruption and repair come with those. */
import { expect, test } from "vitest";
import type { LaunchOutcome } from "../cloud-provider.ts";
import { claimCondition } from "../state/conditions.ts";
import { expectRow } from "../testing/metric-rows.ts";
import { scrape } from "../testing/scrape.ts";
import { bindPod, createWorld, NODES, putPendingPod, putPool, type World } from "../testing/world.ts";
import type { Registry } from "./prometheus.ts";

const MINUTE_MS = 60_000;
const LABELS = ["reason", "nodepool", "capacity_type", "consolidation_policy", "termination_mode"];
const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };

interface Fate {
  readonly reason: string;
  /** "" where there never was an instance. */
  readonly capacity_type: string;
  /** Before the controller starts. */
  readonly arrange?: (world: World) => void;
  /** Once there is a node, if there will be one. */
  readonly befall?: (world: World) => void;
  readonly hasNode: boolean;
  /** Nobody can see the NodeClaim: it goes at the moment at which it is made. */
  readonly isBrief?: boolean;
  /** Reschedulable pods of the node; counted only where there was a node. */
  readonly pods?: number;
  readonly withinMs: number;
}

const removePods = ({ api }: World) => {
  for (const name of ["a", "b"]) api.remove(`/api/v1/namespaces/default/pods/${name}`);
};

const refusing = (outcome: LaunchOutcome) => (world: World) => {
  world.cloud.onLaunch = () => {
    removePods(world); // or they would ask for the next one at once
    return outcome;
  };
};

const FATES: readonly Fate[] = [
  {
    reason: "insufficient_capacity",
    capacity_type: "",
    hasNode: false,
    isBrief: true,
    arrange: refusing({ kind: "insufficient-capacity", message: "sold out" }),
    withinMs: MINUTE_MS,
  },
  {
    reason: "nodeclass_not_ready",
    capacity_type: "",
    hasNode: false,
    isBrief: true,
    arrange: refusing({ kind: "node-class-not-ready", message: "not yet" }),
    withinMs: MINUTE_MS,
  },
  {
    reason: "launch_timeout",
    capacity_type: "",
    hasNode: false,
    arrange: ({ cloud }) => {
      cloud.onLaunch = () => ({ kind: "failed", reason: "LaunchFailed", message: "no" });
    },
    withinMs: 10 * MINUTE_MS,
  },
  {
    reason: "registration_timeout",
    capacity_type: "on-demand",
    hasNode: false,
    arrange: ({ cloud }) => {
      cloud.joinsAfterMs = undefined;
    },
    withinMs: 20 * MINUTE_MS,
  },
  {
    reason: "garbage_collected",
    capacity_type: "on-demand",
    hasNode: true,
    befall: (world) => {
      world.cloud.instances.clear();
      world.api.put(`${NODES}/${world.claims()[0]!.status!.nodeName}`, { status: { conditions: [{ type: "Ready", status: "Unknown" }] } });
    },
    pods: 2,
    withinMs: 5 * MINUTE_MS,
  },
  { reason: "expired", capacity_type: "on-demand", hasNode: true, pods: 2, withinMs: 61 * MINUTE_MS },
];

async function meet(fate: Fate, terminationGracePeriod?: string): Promise<Registry> {
  const world = createWorld();
  const expireAfter = fate.reason === "expired" ? "1h" : "Never";
  const spec = { nodeClassRef, requirements: [], expireAfter, ...(terminationGracePeriod && { terminationGracePeriod }) };
  putPool(world, "default", { template: { spec } });
  putPendingPod(world, "a");
  putPendingPod(world, "b");
  fate.arrange?.(world);
  const { controller } = world.start();
  if (fate.hasNode) {
    await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
    const node = world.claims()[0]!.status!.nodeName!;
    for (const name of ["a", "b"]) bindPod(world, name, node);
    world.api.put("/api/v1/namespaces/default/pods/agent", {
      metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "agent", uid: "ds", controller: true }] },
      spec: { nodeName: node, containers: [{ name: "main" }] },
      status: { phase: "Running" },
    });
    await world.clock.settle();
    fate.befall?.(world);
  }
  if (fate.isBrief) {
    await world.clock.advance(fate.withinMs);
    expect([world.cloud.launches, world.claims()]).toEqual([1, []]);
    return controller.registry;
  }
  await world.until("a NodeClaim", () => world.claims().length > 0);
  const uid = world.claims()[0]?.metadata?.uid;
  const isGoing = () => world.claims().every(({ metadata }) => metadata?.uid !== uid || metadata?.deletionTimestamp !== undefined);
  await world.until("deleted", isGoing, fate.withinMs);
  // The pods that have lost their place must not bring the next one within this test.
  removePods(world);
  await world.clock.settle();
  return controller.registry;
}

const of = ({ reason, capacity_type }: Fate, termination_mode = "graceful") => ({
  reason,
  nodepool: "default",
  capacity_type,
  consolidation_policy: "",
  termination_mode,
});
const DISRUPTED = { name: "karpenter_nodeclaims_disrupted_total", type: "counter", labels: LABELS } as const;
const PODS = { name: "karpenter_pods_disruption_initiated_total", type: "counter", labels: LABELS } as const;

test.each(FATES)("O-179, O-183: $reason", async (fate) => {
  const registry = await meet(fate);
  await expectRow(registry, { rule: "O-179", ...DISRUPTED, of: of(fate), value: 1 });
  if (fate.pods !== undefined) await expectRow(registry, { rule: "O-183", ...PODS, of: of(fate), value: fate.pods });
  // What never was a node has no pods to disrupt.
  else expect((await scrape(registry)).series(PODS.name)).toEqual([]);
});

test.each([
  { grace: "5m", mode: "eventual" },
  { grace: "0s", mode: "forceful" },
])("O-179, O-183, L-166: with a terminationGracePeriod of $grace the end is $mode", async ({ grace, mode }) => {
  const expired = FATES.find(({ reason }) => reason === "expired")!;
  const registry = await meet(expired, grace);
  await expectRow(registry, { rule: "O-179", ...DISRUPTED, of: of(expired, mode), value: 1 });
  await expectRow(registry, { rule: "O-183", ...PODS, of: of(expired, mode), value: 2 });
});
