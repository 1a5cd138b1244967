import { createVirtualClock } from "@joinery/kube";
import { expect, test } from "vitest";
import { createWorldWithNode, NODE_POOLS, NODES, putPendingPod } from "../testing/world.ts";
import { createConsolidationTime } from "./consolidation-time.ts";

test("L-67: read at 0, 1 and 3 minutes it is the same, at 5 it is another", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const time = createConsolidationTime(clock);
  const reads: number[] = [];
  for (const minutes of [0, 1, 2, 2]) {
    await clock.advance(minutes * 60_000);
    reads.push(time.read());
  }
  expect(reads).toEqual([0, 0, 0, 300_000]);
});

test.each([
  { what: "a pod that is deleted", change: "pod-gone", moves: true },
  { what: "a pod that waits", change: "pod-waits", moves: false },
  { what: "a Node that is deleted by somebody", change: "node-gone", moves: true },
  { what: "a heartbeat", change: "heartbeat", moves: false },
  { what: "a NodePool with a new spec", change: "pool-spec", moves: true },
  { what: "a NodePool with a new status", change: "pool-status", moves: false },
] as const)("L-33, L-66: $what moves it: $moves", async ({ change, moves }) => {
  const { world, node, controller } = await createWorldWithNode(["a"]);
  await world.clock.advance(1000);
  const before = controller.cluster!.consolidation.read();
  await world.clock.advance(1000);
  if (change === "pod-gone") world.api.remove("/api/v1/namespaces/default/pods/a");
  if (change === "pod-waits") putPendingPod(world, "b");
  if (change === "node-gone") {
    world.api.put(`${NODES}/other`, {});
    await world.clock.settle();
    world.api.remove(`${NODES}/other`);
  }
  if (change === "pool-spec") world.api.put(`${NODE_POOLS}/default`, { spec: { weight: 7 } });
  if (change === "pool-status") {
    const path = `${NODE_POOLS}/default/status`;
    const body = { status: { nodes: 9 } };
    await world.api.transport.send({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
  }
  if (change === "heartbeat")
    world.api.put(`${NODES}/${node}`, { status: { conditions: [{ type: "Ready", status: "True", reason: "Again" }] } });
  await world.clock.settle();
  expect(controller.cluster!.consolidation.read() > before).toBe(moves);
});
