/** Laws of the whole: the same seed writes the same bytes, and a day without events costs next to nothing. */
import { DaemonSets, Deployments, type Job, Jobs, Nodes, Pods, StatefulSets } from "@joinery/api";
import { expect, test } from "vitest";
import { aDeployment, aFakeNode, aTemplate } from "./builders.ts";
import { aWorld } from "./test-world.ts";

/** A busy quarter of an hour; every write as a line. */
async function story(seed: number): Promise<{ readonly lines: string[]; readonly faults: readonly string[] }> {
  const { world, clock, user, faults } = await aWorld({ seed });
  const lines: string[] = [];
  world.apiServer.onChange((resource, { type, object }) => void lines.push(`${type} ${resource} ${JSON.stringify(object)}`));
  for (const index of [1, 2, 3]) {
    await user.create(Nodes, aFakeNode({ name: `n${index}`, zone: `us-east-1${"abc"[index - 1]}` }));
  }
  const profile = world.fargate.create({
    name: "karpenter",
    podExecutionRoleArn: "arn:aws:iam::111122223333:role/fargate",
    subnetIds: ["subnet-a", "subnet-bb"],
    selectors: [{ namespace: "default", labels: { app: "karpenter" } }],
  });
  await user.create(Deployments, aDeployment({ replicas: 12 }));
  const labels = { app: "agent" };
  const template = aTemplate({ labels });
  const selector = { matchLabels: labels };
  await user.create(DaemonSets, {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { namespace: "default", name: "agent" },
    spec: { selector, template },
  });
  const claim = { metadata: { name: "data" }, spec: { storageClassName: "gp3", resources: { requests: { storage: "1Gi" } } } };
  const spec = { replicas: 2, selector, template, volumeClaimTemplates: [claim] };
  await user.create(StatefulSets, { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { namespace: "default", name: "db" }, spec });
  const job: Job = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace: "default", name: "sum" },
    spec: { parallelism: 2, completions: 5, template: aTemplate({ labels: {}, spec: { restartPolicy: "Never" } }) },
  };
  await user.create(Jobs, job);
  await clock.advance(130_000);
  await profile;
  await user.create(Deployments, aDeployment({ name: "karpenter", replicas: 2, labels: { app: "karpenter" } }));
  await clock.advance(90_000);
  await user.patch(
    Deployments,
    { namespace: "default", name: "web" },
    { type: "merge", body: { spec: { template: { metadata: { annotations: { v: "2" } } } } } },
  );
  await clock.advance(60_000);
  await user.delete(Nodes, { name: "n2" });
  await user.delete(Pods, { namespace: "default", name: "db-0" });
  await clock.advance(600_000);
  await world.stop();
  return { lines, faults: faults.filter((f) => !String(f.error).includes("hung")).map((f) => `${f.component} ${f.key} ${f.error}`) };
}

test("the same seed gives the same writes, byte for byte; another seed gives others", async () => {
  const first = await story(11);
  const again = await story(11);
  const other = await story(12);
  expect(first.faults).toEqual([]);
  expect(first.lines.length).toBeGreaterThan(200);
  expect(again.lines).toEqual(first.lines);
  expect(other.lines).not.toEqual(first.lines);
});

test("a quiet day with 20 nodes and 200 pods writes the nodes' leases, once an hour, and nothing else", async () => {
  const { world, clock, user } = await aWorld();
  for (let index = 0; index < 20; index++) {
    await user.create(Nodes, aFakeNode({ name: `n${index}` }));
  }
  await user.create(Deployments, aDeployment({ replicas: 200 }));
  // Two hours: the events of the start have expired by then.
  await clock.advance(7_200_000);
  expect(world.pods().filter(({ status }) => status?.phase === "Running")).toHaveLength(200);
  const writes = new Map<string, number>();
  world.apiServer.onChange((resource) => void writes.set(resource, (writes.get(resource) ?? 0) + 1));
  await clock.advance(86_400_000);
  await world.stop();
  const [[resource, count] = ["", 0], ...others] = [...writes];
  expect(resource).toMatch(/leases$/);
  expect(count).toBeLessThanOrEqual(20 * 24);
  expect(others).toEqual([]);
});
