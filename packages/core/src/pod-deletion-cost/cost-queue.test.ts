import type { Pod } from "@joinery/api";
import { expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { scrape } from "../testing/scrape.ts";
import { bindPod, createWorld, PODS, putPendingPod, putPool } from "../testing/world.ts";

const MINUTE_MS = 60_000;
const PENDING = "karpenter_pod_deletion_cost_nodes_with_pending_annotation_writes";
const WRITES = "karpenter_pod_deletion_cost_pod_annotation_writes_total";
const ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";

test("V-88: nodes whose pods are not told yet are shown by pool while there are any, and each outcome is counted", async () => {
  const world = createWorld();
  putPool(world, "default", { disruption: { budgets: [{ nodes: "100%" }] } });
  for (const name of ["a", "b", "c"]) putPendingPod(world, name, "3");
  const { controller } = world.start({ options: { isPodDeletionCostManaged: true } });
  const ready = () => world.claims().filter((claim) => claimCondition(claim, "Ready").status === "True");
  await world.until("Ready", () => ready().length === 3);
  for (const [n, name] of ["a", "b", "c"].entries()) bindPod(world, name, ready()[n]!.status!.nodeName!);
  // One pod goes, and one is told by somebody else, just before the write; the API server refuses the third once.
  const done = new Set<string>();
  world.api.faults.before = ({ method, path }) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (method !== "PATCH" || !path.includes("/pods/") || done.has(name)) return undefined;
    done.add(name);
    if (name === "a") world.api.remove(path);
    if (name === "b") world.api.put(path, { metadata: { annotations: { other: "yes" } } });
    return name === "c" ? { status: 500, body: { code: 500, reason: "InternalError", message: "no" } } : undefined;
  };
  const costs = () => world.api.objects<Pod>(PODS).map(({ metadata }) => metadata?.annotations?.[ANNOTATION]);
  await world.until("tried", () => done.size === 3, 3 * MINUTE_MS);
  await world.clock.advance(1000);
  const first = await scrape(controller.registry);
  expect(first.series(PENDING)).toEqual([{ labels: { nodepool: "default" }, value: 3 }]);
  expect(Object.fromEntries(first.series(WRITES).map(({ labels, value }) => [labels.result, value]))).toEqual({
    skipped_notfound: 1,
    skipped_conflict: 1,
    error: 1,
    updated: 1,
  });
  await world.until("told", () => costs().every((cost) => cost !== undefined), 10 * MINUTE_MS);
  await world.clock.advance(10 * MINUTE_MS);
  expect((await scrape(controller.registry)).series(PENDING)).toEqual([]);
});
