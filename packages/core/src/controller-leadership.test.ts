import { createObservedTransport } from "@joinery/kube";
import { expect, test } from "vitest";
import { claimCondition } from "./state/conditions.ts";
import { recordingLog } from "./testing/recording-log.ts";
import { createWorld, putPendingPod, putPool, type World } from "./testing/world.ts";

const election = (identity: string) => ({ namespace: "karpenter", identity });

test("L-249, L-249a, O-76: the standby is ready but does nothing; when the leader stops cleanly it takes over within seconds", async () => {
  const world = createWorld();
  putPool(world);
  const first = world.start({ leaderElection: election("first") });
  await world.until("a leader", () => first.controller.state === "leading");
  const second = world.start({ leaderElection: election("second") });
  await world.clock.advance(10_000);
  expect([first.controller.state, second.controller.state]).toEqual(["leading", "standby"]);
  expect(second.controller.isReady).toBe(true);
  expect(await second.controller.registry.metrics()).toMatch(/leader_election_master_status{.*} 0/);
  const stoppedAtMs = world.clock.monotonicMs();
  await first.kill();
  await world.until("taken over", () => second.controller.state === "leading");
  expect(world.clock.monotonicMs() - stoppedAtMs).toBeLessThan(5000);
  putPendingPod(world, "a");
  await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
});

test("O-78: a leader that cannot renew stops writing before another may begin, and ends", async () => {
  const world = createWorld();
  putPool(world);
  const first = world.start({ leaderElection: election("first") });
  await world.until("a leader", () => first.controller.state === "leading");
  world.api.faults.before = ({ path, method }) =>
    path.includes("/leases/") && method !== "GET" ? { status: 500, body: { code: 500, message: "etcd is away" } } : undefined;
  const lostAtMs = world.clock.monotonicMs();
  await world.until("ended", () => first.controller.state === "stopped");
  expect(world.clock.monotonicMs() - lostAtMs).toBeLessThanOrEqual(12_000);
  const written = world.api.writes.length;
  putPendingPod(world, "a");
  await world.clock.advance(60_000);
  expect(world.api.writes.slice(written).filter((write) => write.includes("nodeclaims"))).toEqual([]);
  expect(first.controller.isHealthy).toBe(false);
});

test("S-5, L-35, O-79: a new leader learns what the old one created before it plans", async () => {
  const world = createWorld();
  world.cloud.onLaunch = () => ({ kind: "failed", reason: "Slow", message: "later" });
  putPool(world);
  for (const name of ["a", "b", "c"]) putPendingPod(world, name);
  const first = world.start();
  await world.until("a NodeClaim", () => world.claims().length === 1);
  await first.kill();
  world.start();
  await world.clock.advance(120_000);
  expect(world.claims()).toHaveLength(1);
});

const foreignLease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/karpenter-leader-election";

/** Karpenter in another namespace, as it renews its Lease. Returns what ends it without giving the Lease back (O-71). */
function startKarpenter({ api, clock }: World): () => void {
  let renewal = 0;
  let cancel = () => {};
  const renew = () => {
    api.put(foreignLease, { spec: { holderIdentity: "karpenter-1", leaseDurationSeconds: 15, leaseTransitions: renewal++ } });
    cancel = clock.after(2000, renew);
  };
  renew();
  return () => cancel();
}

test("a Lease of the name that is held in another namespace keeps a replica from acting, which is ready and says so", async () => {
  const world = createWorld();
  const endKarpenter = startKarpenter(world);
  putPool(world);
  putPendingPod(world, "a");
  const { log, lines } = recordingLog();
  const { controller } = world.start({ leaderElection: election("us"), log });
  await world.clock.advance(120_000);
  expect([controller.state, controller.isReady]).toEqual(["standby", true]);
  expect(world.api.writes).toEqual([]);
  expect(lines).toContainEqual({
    level: "error",
    message: "another controller holds the lease in its namespace, so this one does not act",
    lease: "karpenter-leader-election",
    namespace: "kube-system",
    holder: "karpenter-1",
  });
  endKarpenter();
  await world.until("leading", () => controller.state === "leading", 17_000);
  await world.until("a NodeClaim", () => world.claims().length === 1);
});

test("a leader hands its own Lease back when another controller turns up, and acts again when that is gone", async () => {
  const world = createWorld();
  putPool(world);
  const { controller } = world.start({ leaderElection: election("us") });
  await world.until("leading", () => controller.state === "leading");
  const endKarpenter = startKarpenter(world);
  await world.until("standing by", () => controller.state === "standby", 1000);
  expect(world.api.find("/apis/coordination.k8s.io/v1/namespaces/karpenter/leases/karpenter-leader-election")).toMatchObject({
    spec: { holderIdentity: "" },
  });
  putPendingPod(world, "a");
  await world.clock.advance(60_000);
  expect(world.claims()).toEqual([]);
  expect(controller.isHealthy).toBe(true);
  endKarpenter();
  await world.until("leading", () => controller.state === "leading", 17_000);
  await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  expect(await controller.registry.metrics()).toMatch(/^karpenter_nodeclaims_created_total{.*} 1$/m);
});

test("O-77: a leader that gives way to another shows no state any more, as if it had never led", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "too-large", "1000");
  const { controller } = world.start({ leaderElection: election("us") });
  const shown = async () => {
    const text = await controller.registry.metrics();
    const gauges = [...text.matchAll(/^# TYPE (\w+) gauge$/gm)].map(([, name]) => name);
    return gauges.filter((name) => new RegExp(`^${name}[{ ]`, "m").test(text));
  };
  await world.clock.advance(30_000);
  expect(await shown()).toEqual(expect.arrayContaining(["karpenter_scheduler_unschedulable_pods_count", "workqueue_depth"]));
  startKarpenter(world);
  await world.until("standing by", () => controller.state === "standby", 1000);
  expect(await shown()).toEqual(["leader_election_master_status"]);
});

test("where the role does not let Leases of other namespaces be seen, a replica leads all the same, and says so once", async () => {
  const world = createWorld();
  startKarpenter(world);
  world.api.faults.before = ({ path }) =>
    path === "/apis/coordination.k8s.io/v1/leases" ? { status: 403, body: { code: 403, message: "may not list leases" } } : undefined;
  const { log, lines } = recordingLog();
  const { controller } = world.start({ leaderElection: election("us"), log });
  await world.until("leading", () => controller.state === "leading", 5000);
  await world.clock.advance(60_000);
  expect(lines.filter(({ message }) => /the role does not let other namespaces be searched/.test(message))).toHaveLength(1);
});

test("O-16, O-81: without an election no Lease is read or written, and nobody is the master", async () => {
  const world = createWorld();
  startKarpenter(world);
  const { controller } = world.start();
  await world.until("leading", () => controller.state === "leading", 5000);
  expect(world.api.find("/apis/coordination.k8s.io/v1/namespaces/karpenter/leases/karpenter-leader-election")).toBeUndefined();
  expect(await controller.registry.metrics()).not.toMatch(/^leader_election_\w+{/m);
});

test("O-239: who takes the Lease has read it first", async () => {
  const world = createWorld();
  const { controller } = world.start({ leaderElection: election("us") });
  await world.until("leading", () => controller.state === "leading");
  const slowPath = async () =>
    /^leader_election_slowpath_total{name="karpenter-leader-election"} (\d+)$/m.exec(await controller.registry.metrics())?.[1];
  const before = await slowPath();
  expect(Number(before)).toBeGreaterThan(0);
  await world.clock.advance(60_000);
  expect(await slowPath()).toBe(before);
});

test("O-15: a cold standby reads nothing but the Lease, and is ready", async () => {
  const world = createWorld();
  putPool(world);
  const first = world.start({ leaderElection: election("first") });
  await world.until("a leader", () => first.controller.state === "leading");
  const paths = new Set<string>();
  const spied = createObservedTransport(world.api.transport, world.clock, ({ request }) => paths.add(request.path.split("/").at(-1) ?? ""));
  const second = world.start({ leaderElection: election("second"), isStandbyCold: true, transport: spied });
  await world.clock.advance(10_000);
  expect([second.controller.state, second.controller.isReady]).toEqual(["standby", true]);
  expect([...paths].sort()).toEqual(["karpenter-leader-election", "leases"]);
  await first.kill();
  putPendingPod(world, "a");
  await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  expect(second.controller.state).toBe("leading");
});
