import { expect, test } from "vitest";
import type { PodRecord } from "../state/pod-record.ts";
import { bindPod, createWorldWithNode, putPendingPod, type World } from "../testing/world.ts";
import { isPodEvent } from "./pod-events.ts";

const pod = (nodeName: string, change: Partial<PodRecord> = {}) =>
  ({ nodeName, phase: "Running", deletingAtMs: undefined, ...change }) as PodRecord;

test.each([
  { what: "is bound", change: { type: "updated", previous: pod(""), object: pod("n") }, counts: true },
  { what: "ends", change: { type: "updated", previous: pod("n"), object: pod("n", { phase: "Succeeded" }) }, counts: true },
  { what: "begins to leave", change: { type: "updated", previous: pod("n"), object: pod("n", { deletingAtMs: 1 }) }, counts: true },
  { what: "is seen bound", change: { type: "added", object: pod("n") }, counts: true },
  { what: "is gone", change: { type: "deleted", object: pod("n") }, counts: false },
  { what: "waits", change: { type: "added", object: pod("") }, counts: false },
  { what: "becomes ready", change: { type: "updated", previous: pod("n"), object: pod("n", { readyAtMs: 1 }) }, counts: false },
  {
    what: "goes on leaving",
    change: { type: "updated", previous: pod("n", { deletingAtMs: 1 }), object: pod("n", { deletingAtMs: 2 }) },
    counts: false,
  },
] as const)("L-244: a pod that $what: $counts", ({ change, counts }) => {
  expect(isPodEvent(change)).toBe(counts);
});

const stamp = (world: World) => world.claims()[0]!.status!.lastPodEventTime;
const now = (world: World) => new Date(world.clock.wallMs()).toISOString().replace(/\.\d+/, "");

test("L-245, L-246, scenario 60: the first event is stamped, one five seconds later not, one ten seconds later is; DaemonSets' never", async () => {
  const { world, node } = await createWorldWithNode(["a"]);
  await world.clock.advance(60_000);
  const bind = async (name: string) => {
    putPendingPod(world, name, "100m");
    bindPod(world, name, node);
    await world.clock.settle();
    return stamp(world);
  };
  expect(await bind("b")).toBe(now(world));
  const first = stamp(world);
  await world.clock.advance(5000);
  expect(await bind("c")).toBe(first);
  await world.clock.advance(5000);
  expect(await bind("d")).toBe(now(world));
  const second = stamp(world);
  await world.clock.advance(60_000);
  const ownerReferences = [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "agent", uid: "ds" }];
  world.api.put("/api/v1/namespaces/default/pods/agent", {
    metadata: { ownerReferences },
    spec: { nodeName: node, containers: [{ name: "main" }] },
  });
  await world.clock.settle();
  expect(stamp(world)).toBe(second);
});

test("L-247: a restart stamps only what it missed", async () => {
  const { world, node, kill } = await createWorldWithNode(["a"]);
  const bound = (name: string) =>
    world.api.put(`/api/v1/namespaces/default/pods/${name}`, {
      status: { conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: now(world) }] },
    });
  bound("a");
  await world.clock.advance(60_000);
  const before = stamp(world);
  expect(before).toBeDefined();
  await kill();
  const second = world.start();
  await world.clock.advance(1000);
  expect(stamp(world)).toBe(before);
  await second.kill();
  putPendingPod(world, "missed", "100m");
  bindPod(world, "missed", node);
  bound("missed");
  await world.clock.advance(1000);
  world.start();
  await world.clock.advance(1000);
  expect(stamp(world)).not.toBe(before);
});
