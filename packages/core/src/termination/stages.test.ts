/** Which Nodes are drained, and what each stage of it leaves in conditions and events. */

import type { Node } from "@joinery/api";
import { expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { scrape } from "../testing/scrape.ts";
import { createWorldWithNode, NODES, type World } from "../testing/world.ts";

const POD = (name: string) => `/api/v1/namespaces/default/pods/${name}`;
const VOLUMES = "/apis/storage.k8s.io/v1/volumeattachments";
const condition = (world: World, type: string) => claimCondition(world.claims()[0]!, type as never);
const messages = (world: World, wanted: string) => world.events().flatMap(({ reason, message }) => (reason === wanted ? [message] : []));

/** Its pod has ended and is gone. */
async function emptyNode() {
  const made = await createWorldWithNode();
  made.world.api.remove(POD("a"));
  await made.world.clock.settle();
  return made;
}

test.each([
  { what: "is not deleted", change: (node: Node) => ({ ...node }), isDeleted: false },
  {
    what: "has no finalizer of ours",
    change: ({ metadata }: Node) => ({ metadata: { ...metadata, finalizers: ["example.com/hold"] } }),
    isDeleted: true,
  },
  {
    what: "is not managed",
    change: ({ metadata }: Node) => ({
      metadata: { labels: Object.fromEntries(Object.keys(metadata?.labels ?? {}).map((key) => [key, null])) },
    }),
    isDeleted: true,
  },
])("L-124: a Node that $what is left alone", async ({ change, isDeleted }) => {
  const { world, node, kill } = await createWorldWithNode();
  await kill();
  const path = `${NODES}/${node}`;
  world.api.put(path, change(world.api.find<Node>(path)!));
  // Its NodeClaim is out of the way, which would delete the Node.
  for (const { metadata } of world.claims()) {
    world.api.put(`/apis/karpenter.sh/v1/nodeclaims/${metadata!.name}`, { metadata: { finalizers: [] } });
    if (isDeleted) world.api.remove(`/apis/karpenter.sh/v1/nodeclaims/${metadata!.name}`);
  }
  if (isDeleted) world.api.remove(path);
  world.cloud.instances.clear();
  world.api.onEvicted = (name) => expect.fail(`${name} was evicted`);
  world.start();
  await world.clock.advance(60_000);
  const left = world.api.find<Node>(path);
  expect(left?.spec?.taints ?? []).toEqual([]);
  expect(left?.metadata?.finalizers?.length).toBeGreaterThan(0);
  expect(world.api.find(POD("a"))).toBeDefined();
});

test("L-129, L-141, L-157: a drain begins at once, and when it is done volumes and instance follow in the same pass", async () => {
  const { world, node, controller } = await emptyNode();
  // EC2 takes its time, so that the conditions can be looked at.
  world.cloud.onTerminate = () => {
    throw new Error("not now");
  };
  world.api.remove(`${NODES}/${node}`);
  const startMs = world.clock.wallMs();
  await world.until("begun", () => condition(world, "Drained").reason === "Draining");
  expect(condition(world, "Drained")).toMatchObject({
    status: "Unknown",
    lastTransitionTime: new Date(startMs).toISOString().replace(".000", ""),
  });
  await world.until("drained", () => condition(world, "Drained").status === "True", 30_000);
  // The instance could not be ended, and what was found out before stands there all the same.
  expect(condition(world, "VolumesDetached").status).toBe("True");
  expect(condition(world, "VolumesDetached").lastTransitionTime).toBe(condition(world, "Drained").lastTransitionTime);
  expect(condition(world, "InstanceTerminating").status).not.toBe("True");
  expect((await scrape(controller.registry)).value("karpenter_nodes_drained_total")).toBe(1);
  world.cloud.onTerminate = undefined;
  await world.until("gone", () => world.api.find(`${NODES}/${node}`) === undefined, 60_000);
  expect((await scrape(controller.registry)).value("karpenter_nodes_drained_total")).toBe(1);
});

test("L-142, L-145: it is told how many pods are waited for, all of them and not only those of the first tier", async () => {
  const { world, node } = await createWorldWithNode(["a", "b", "critical"]);
  world.api.put(POD("critical"), { spec: { priorityClassName: "system-node-critical" } });
  for (const name of ["a", "b"]) world.api.put(POD(name), { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } });
  world.api.remove(`${NODES}/${node}`);
  await world.clock.advance(10_000);
  expect(messages(world, "FailedDraining")[0]).toBe("Failed to drain node, 3 pods are waiting to be evicted");
  expect(condition(world, "Drained")).toMatchObject({ status: "Unknown", reason: "Draining" });
  expect(world.api.find(`${NODES}/${node}`)).toBeDefined();
});

test.each([
  { count: 2, text: "pv-0, pv-1" },
  { count: 7, text: "pv-0, pv-1, pv-2, pv-3, pv-4 and 2 other(s)" },
])("L-158, L-160: $count volumes are waited for, told as far as five, and never deleted by us", async ({ count, text }) => {
  const { world, node } = await emptyNode();
  for (let n = 0; n < count; n++) {
    const source = { persistentVolumeName: `pv-${n}` };
    world.api.put(`${VOLUMES}/pv-${n}`, { spec: { nodeName: node, attacher: "ebs", source } });
  }
  world.api.remove(`${NODES}/${node}`);
  await world.clock.advance(60_000);
  expect(condition(world, "VolumesDetached")).toMatchObject({ status: "Unknown", reason: "AwaitingVolumeDetachment" });
  expect(messages(world, "AwaitingVolumeDetachment")[0]).toContain(text);
  expect(world.api.objects(VOLUMES)).toHaveLength(count);
  for (let n = 0; n < count; n++) world.api.remove(`${VOLUMES}/pv-${n}`);
  await world.until("gone", () => world.api.find(`${NODES}/${node}`) === undefined, 60_000);
});
