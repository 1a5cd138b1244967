import type { PlanDocument } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { DEFAULT_GATES } from "../controller/feature-gates.ts";
import { loadManifests } from "../manifests/load.ts";
import { ignoredObjects } from "./ignored-objects.ts";
import type { PlanResult } from "./make-plan.ts";
import { planSummary } from "./plan-summary.ts";
import { renderPlan } from "./render-plan.ts";

const node: PlanDocument["newNodes"][number] = {
  name: "default-1",
  nodePool: "default",
  requirements: [],
  labels: {},
  taints: [],
  startupTaints: [],
  instanceTypes: ["m7i.large", "m6i.large"],
  cheapest: { instanceType: "m7i.large", zone: "us-east-1a", capacityType: "spot", pricePerHour: 0.03 },
  requests: { cpu: "1500m", memory: "3Gi", pods: "2" },
  daemonSetRequests: {},
  pods: ["default/a", "default/b"],
};
const reason = { code: "untolerated-taint", nodePool: "default", message: "did not tolerate taint", detail: {} } as const;
const fix = { message: "add a toleration for dedicated:NoSchedule", patch: {} };
const document: PlanResult["document"] = {
  apiVersion: "joinery.dev/v1",
  kind: "Plan",
  newNodes: [node],
  existingNodes: [{ name: "old", pods: ["default/c"] }],
  unschedulable: ["d", "e", "f", "g"].map((name) => ({ pod: `default/${name}`, reasons: [reason], fix })),
  cost: { currency: "USD", newPerHour: 0.03, existingPerHour: 0.2 },
  stats: { pods: 7, instanceTypes: 2, solveMilliseconds: 1.25 },
};
const result: PlanResult = {
  plan: { newNodes: [], existingNodes: [], unschedulable: [], droppedPools: [] },
  droppedPools: [{ nodePool: "odd", message: "no instance type is to be had with x In [y]" }],
  document,
  skippedPools: [{ kind: "node-pool-not-ready", nodePool: "broken", message: "its condition Ready is False" }],
  existing: { usdPerHour: 0.2, knownNodes: 1, unknownNodes: 2 },
  unlaunchedClaims: ["default-x"],
  hints: ["The input has no StorageClass"],
  leftOutPods: [
    { count: 2, why: "behind a scheduling gate" },
    { count: 1, why: "ended already" },
  ],
};

const catalogue = { source: "a file", estimatedCapacityTypes: new Set(["spot"]) };

test("a plan for people: nodes, prices with ~ where they are estimates, reasons once per group, and everything that was left out", () => {
  const text = renderPlan({
    result,
    summary: planSummary({
      result,
      catalogue,
      ignored: [
        { kind: "ConfigMap", count: 3 },
        { kind: "CronJob", count: 1, why: "later" },
      ],
      notes: ["Cluster x: 3 Pod"],
    }),
    catalogue,
    terminal: { style: (_, plain) => plain },
  });
  expect(text.replace(/ {3,}/g, " | ").split("\n")).toEqual([
    "NEW NODE | TYPE | ZONE | CAPACITY TYPE | $/HOUR | CPU | MEMORY | PODS | OTHER TYPES",
    "default-1 | m7i.large | us-east-1a | spot | ~0.0300 | 1500m | 3Gi | 2 | +1",
    "",
    "EXISTING NODE | NEW PODS | NAMES",
    "old | 1 | default/c",
    "",
    "4 pods without a place:",
    "  default/d, default/e, default/f and 1 more",
    " | untolerated-taint  did not tolerate taint",
    " | would help  add a toleration for dedicated:NoSchedule",
    " | why: joinery explain pod default/d …",
    "",
    "3 of 7 pods placed, 1 new node: ~0.0300 $ per hour",
    "Existing nodes: 0.2000 $ per hour (1 node)",
    "Existing nodes that the catalogue has no price for: 2",
    "~ spot prices are estimates of a model, not quotes",
    "NodePool broken is left out: its condition Ready is False",
    "NodePool odd is left out: no instance type is to be had with x In [y]",
    "The input has no StorageClass",
    "NodeClaim default-x has no instance yet; the controller would wait for it, here it does not count",
    "Pods left out: 2 behind a scheduling gate, 1 ended already",
    "Cluster x: 3 Pod",
    "Not looked at: 3 ConfigMap, 1 CronJob (later)",
    "2 instance types from a file, solved in 1.3 ms",
    "",
  ]);
});

const linesOf = (changes: Partial<PlanResult["document"]>) =>
  renderPlan({
    result: { ...result, document: { ...document, newNodes: [], existingNodes: [], ...changes } },
    summary: {},
    catalogue,
    terminal: { style: (_, plain) => plain },
  })
    .split("\n\n")[0]!
    .split("\n");

test("S-24: pods of a StatefulSet that have one fault, each with a claim of its own, are one group", () => {
  const faulty = (pod: string, ...claims: readonly string[]) => ({
    pod,
    reasons: claims.map((claim) => ({
      code: "invalid-volume" as const,
      message: `storageclass x of ${claim} does not exist`,
      detail: { claim },
    })),
  });
  expect(
    linesOf({ unschedulable: [faulty("s/db-0", "s/a-0", "s/b-0"), faulty("s/db-1", "s/a-1", "s/b-1"), faulty("s/web", "s/c")] }),
  ).toEqual([
    "3 pods without a place:",
    "  s/db-0, s/db-1",
    "    invalid-volume  storageclass x of s/a-0 does not exist (1 other claim likewise)",
    "    invalid-volume  storageclass x of s/b-0 does not exist (1 other claim likewise)",
    "    why: joinery explain pod s/db-0 …",
    "  s/web",
    "    invalid-volume  storageclass x of s/c does not exist",
    "    why: joinery explain pod s/web …",
  ]);
});

test("pods of several workloads in one group have each their fix, with how many pods it is for", () => {
  const limited = (pod: string, message?: string) => ({ pod, reasons: [reason], ...(message && { fix: { message, patch: {} } }) });
  const entries = [limited("s/a", "raise to 8"), limited("s/b", "raise to 9"), limited("s/c", "raise to 9"), limited("s/d")];
  expect(linesOf({ unschedulable: entries }).filter((line) => line.includes("would help"))).toEqual([
    "    would help  raise to 9 (2 of 4 pods)",
    "    would help  raise to 8 (1 of 4 pods)",
  ]);
  const many = ["a", "b", "c", "d", "e"].map((name) => limited(name, `raise ${name}`));
  expect(linesOf({ unschedulable: many }).at(-2)).toBe("    would help  2 more edits of other pods");
});

test.each([
  { name: "all", later: { solves: 2, pods: ["s/a", "s/b"] }, says: ["the next 2 solves place all 2"], fixes: [] },
  { name: "some", later: { solves: 1, pods: ["s/a"] }, says: ["the next solve places 1 of 2"], fixes: ["    would help now  x"] },
  { name: "none", later: { solves: 0, pods: [] }, says: [], fixes: ["    would help now  x"] },
])("S-87, S-141: what later solves place of a group is counted: $name", ({ later, says, fixes }) => {
  const waiting = (pod: string) => ({
    pod,
    reasons: [{ code: "next-solve" as const, message: "later", detail: {} }],
    ...(fixes.length > 0 && { fix: { message: "x", patch: {} } }),
  });
  const told = says.map((end) => `    later  once the nodes of this plan are there, in their cheapest offerings, ${end}`);
  const none = says.length > 0 ? [] : ["    later  as things stand, later solves do not place them either"];
  expect(linesOf({ unschedulable: [waiting("s/a"), waiting("s/b")], later })).toEqual([
    "2 pods without a place:",
    "  s/a, s/b",
    "    next-solve  later",
    ...told,
    ...none,
    ...fixes,
    "    why: joinery explain pod s/a …",
  ]);
});

test("overlays and buffers are counted while their gates are off, CronJobs always", async () => {
  const overlay = "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: o}\nspec: {requirements: [], price: '1'}\n";
  const cronJob = `apiVersion: batch/v1
kind: CronJob
metadata: {name: c}
spec: {schedule: "@daily", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}}}
`;
  const loaded = await loadManifests(
    ["-"],
    async () => `${overlay}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\n${cronJob}`,
  );
  expect(loaded.errors).toEqual([]);
  expect(ignoredObjects(loaded, DEFAULT_GATES)).toEqual([
    { kind: "ConfigMap", count: 1 },
    { kind: "CronJob", count: 1, why: "its pods come when it is due; to plan for them give its template as a Job" },
    { kind: "NodeOverlay", count: 1, why: "feature gate NodeOverlay is off" },
  ]);
});

test("the summary as data has what the last lines of the text say, and nothing of what there is nothing to say of", () => {
  const ignored = [{ kind: "ConfigMap", count: 3 }];
  expect(planSummary({ result, catalogue, ignored, notes: ["Cluster x: 3 Pod"] })).toEqual({
    skippedNodePools: [
      { nodePool: "broken", message: "its condition Ready is False" },
      { nodePool: "odd", message: "no instance type is to be had with x In [y]" },
    ],
    hints: ["The input has no StorageClass"],
    unlaunchedNodeClaims: ["default-x"],
    leftOutPods: [
      { count: 2, why: "behind a scheduling gate" },
      { count: 1, why: "ended already" },
    ],
    ignoredObjects: ignored,
    nodesWithoutPrice: 2,
    estimatedPrices: ["spot"],
    notes: ["Cluster x: 3 Pod"],
  });
  const nothing = { skippedPools: [], droppedPools: [], hints: [], unlaunchedClaims: [], leftOutPods: [] };
  const existing = { usdPerHour: 0, knownNodes: 0, unknownNodes: 0 };
  const published = { estimatedCapacityTypes: new Set<string>() };
  expect(planSummary({ result: { ...result, ...nothing, existing }, catalogue: published, ignored: [], notes: [] })).toEqual({});
});
