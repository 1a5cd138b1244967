/** Pods that the Fargate scheduler is given and cannot place, in a cluster. */
import { DaemonSets, findCondition, Nodes, Pods } from "@joinery/api";
import { expect, test } from "vitest";
import { aFakeNode, aPod, aTemplate } from "../world/builders.ts";
import { aWorld, type TestWorld } from "../world/test-world.ts";

async function withProfile(): Promise<TestWorld> {
  const test = await aWorld();
  const profile = test.world.fargate.create({
    name: "default",
    podExecutionRoleArn: "arn:aws:iam::111122223333:role/fargate",
    subnetIds: ["subnet-a"],
    selectors: [{ namespace: "default" }],
  });
  await test.clock.advance(180_000);
  await profile;
  return test;
}

test("F-83: a DaemonSet of a selected namespace gets no micro-VMs; its pods wait, and no autoscaler acts on them (F-39)", async () => {
  const { world, clock, user } = await withProfile();
  await user.create(Nodes, aFakeNode({ name: "n1" }));
  const labels = { app: "agent" };
  const spec = { selector: { matchLabels: labels }, template: aTemplate({ labels }) };
  const metadata = { name: "agent", namespace: "default" };
  await user.create(DaemonSets, { apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec });
  await clock.advance(600_000);
  expect(world.nodes().map(({ metadata: { name } = {} }) => name)).toEqual(["n1"]);
  expect(world.pods()).toHaveLength(1);
  const [pod] = world.pods();
  expect(pod && findCondition(pod, "PodScheduled")).toMatchObject({ status: "False", reason: "MATCH_NODE_SELECTOR_FAILED" });
  await world.stop();
});

test.each<{ readonly what: string; readonly nodeSelector: Readonly<Record<string, string>>; readonly isPlaced: boolean }>([
  { what: "an operating system that Fargate has", nodeSelector: { "kubernetes.io/os": "linux" }, isPlaced: true },
  { what: "an architecture that it has not (F-83)", nodeSelector: { "kubernetes.io/arch": "arm64" }, isPlaced: false },
  { what: "a NodePool", nodeSelector: { "karpenter.sh/nodepool": "default" }, isPlaced: false },
])("F-39: a pod that selects $what", async ({ nodeSelector, isPlaced }) => {
  const { world, clock, user } = await withProfile();
  await user.create(Pods, aPod({ name: "a", spec: { nodeSelector } }));
  await clock.advance(180_000);
  expect((await user.get(Pods, { namespace: "default", name: "a" })).spec.nodeName !== undefined).toBe(isPlaced);
  await world.stop();
});
