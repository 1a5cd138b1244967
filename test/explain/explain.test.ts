/** `joinery explain` from the command line: golden texts, the document, patches that hold, and the exit statuses. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { runJoinery } from "../plan/run-joinery.ts";
import { type Fix, type Json, patched } from "./apply-fix.ts";

const examples = relative(process.cwd(), join(import.meta.dirname, "../../docs/examples"));
const unschedulable = `${examples}/20-unschedulable/manifests`;

describe.each([
  ["pod-misspelt-label.txt", ["pod", "misspelt-label", unschedulable]],
  ["pod-too-big.txt", ["pod", "default/too-big-0", unschedulable]],
  ["pod-fits.txt", ["pod", "fits", unschedulable]],
  ["node-default-1.txt", ["node", "default-1", unschedulable]],
  ["pod-moved.txt", ["pod", "inference-1", `${examples}/06-gpu/manifests`]],
])("%s", (golden, args) => {
  test("is what explain prints", async () => {
    const run = await runJoinery(["explain", ...args]);
    expect(run).toMatchObject({ status: 0, err: "" });
    await expect(run.out).toMatchFileSnapshot(join(import.meta.dirname, "golden", golden));
  });
});

const cases = join(import.meta.dirname, "cases");
const catalog = ["--catalog", join(import.meta.dirname, "catalog.json")];

/** Named after the reason code that `plan` gives; what follows a code tells cases of it apart. */
describe.each(readdirSync(cases).map((file) => file.replace(".yaml", "")))("case %s", (name) => {
  const file = join(cases, `${name}.yaml`);

  test("is what explain prints", async () => {
    const run = await runJoinery(["explain", "pod", "web", file, ...catalog]);
    expect(run).toMatchObject({ status: 0, err: "" });
    await expect(run.out).toMatchFileSnapshot(join(import.meta.dirname, "golden", `${name}.txt`));
  });

  test("the document has the same end, and the fix holds", async () => {
    const explained = JSON.parse((await runJoinery(["explain", "pod", "web", file, ...catalog, "-o", "json"])).out);
    const { unschedulable, later } = JSON.parse((await runJoinery(["plan", file, ...catalog, "-o", "json"])).out);
    // One workload is all that a case has: the plan's later solves are those of the explanation.
    expect(explained.later).toEqual(later && { solves: later.solves, placed: later.pods.length });
    expect(explained.subject.outcome === "unschedulable").toBe(unschedulable.length > 0);
    if (explained.fix === null) return;
    expect(unschedulable[0].fix).toEqual(explained.fix);
    const { patch, secondPatch, morePatches = [] } = explained.fix;
    const text = (await runJoinery(["explain", "pod", "web", file, ...catalog])).out;
    expect(copiedPatches(text)).toEqual(secondPatch === undefined ? [patch] : [patch, secondPatch, ...morePatches]);
    const objects = manifestsOf(file);
    const again = await planOf(patched(objects, explained.fix));
    // What is only placed beside pods of that plan waits for the solve after it, and says so.
    const left = again.unschedulable.filter(({ reasons }) => reasons.some(({ code }) => code !== "next-solve"));
    expect(left).toEqual([]);
    expect(again.unschedulable.length > 0).toBe((explained.fix.laterSolves ?? 0) > 0);
  });
});

test("there is a case for each reason code that a plan can have", async () => {
  const found = new Set<string>();
  for (const name of readdirSync(cases)) {
    const { unschedulable } = JSON.parse((await runJoinery(["plan", join(cases, name), ...catalog, "-o", "json"])).out);
    for (const { reasons } of unschedulable) for (const { code } of reasons) found.add(code);
  }
  // Only simulations for disruption go on where a reservation is full; a plan waits.
  const unreachable = ["reserved-capacity"];
  expect([...found, ...unreachable].sort()).toEqual(
    [
      "no-node-pool",
      "node-pool-not-ready",
      "untolerated-taint",
      "incompatible-requirements",
      "undefined-label",
      "insufficient-resources",
      "no-offering",
      "over-limit",
      "min-values",
      "topology-spread",
      "pod-affinity",
      "pod-anti-affinity",
      "volume-topology",
      "volume-limit",
      "host-port",
      "reserved-capacity",
      "unsupported",
      "next-solve",
      "invalid-requirement",
    ].sort(),
  );
});

test("the plan that is explained is that of the same options", async () => {
  const args = ["explain", "pod", "inference-1", `${examples}/06-gpu/manifests`, "-o", "json"];
  const [cheap, greedy] = await Promise.all([runJoinery(args), runJoinery([...args, "--optimize", "off"])]);
  const [improved, plain] = [JSON.parse(cheap.out), JSON.parse(greedy.out)];
  expect(improved.cheaperPlan.pricePerHour).toBeLessThan(improved.cheaperPlan.greedyPricePerHour);
  expect(plain.cheaperPlan).toBeUndefined();
  expect(plain.node.cheapest.instanceType).toBe(improved.cheaperPlan.movedFrom.instanceType);
});

test("as JSON: subject, funnel, nearest miss, and a patch of the workload", async () => {
  const { out, status } = await runJoinery(["explain", "pod", "no-toleration", unschedulable, "-o", "json"]);
  expect(status).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    apiVersion: "joinery.dev/v1",
    kind: "Explanation",
    subject: { kind: "Deployment", name: "no-toleration", namespace: "default", pods: 2, unschedulable: 2, outcome: "unschedulable" },
    funnel: [{ nodePool: "default", stages: [{ stage: "node-pool" }, { stage: "taints", out: 0 }] }],
    nearest: { nodePool: "default", stage: "taints" },
    fix: { patch: { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "no-toleration" } } },
  });
});

test.each([
  { rule: "S-13", spec: { schedulingGates: [{ name: "quota" }] }, status: {}, why: "behind a scheduling gate" },
  { rule: "S-11", spec: {}, status: { nominatedNodeName: "n-1" }, why: "nominated to a node by the scheduler" },
  { rule: "S-12", spec: { nodeName: "n-1" }, status: { phase: "Succeeded" }, why: "ended already" },
])("$rule: the pod is $why", async ({ spec, status, why }) => {
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "d" },
    spec: { ...spec, containers: [{ name: "c", image: "i" }] },
    status,
  };
  const { out } = await runJoinery(["explain", "pod", "p", "-"], { stdin: JSON.stringify(pod) });
  expect(out).toBe(`Pod d/p: no place is looked for, as the pod is ${why}\n`);
});

test.each([
  {
    args: ["pod", "too-bug", unschedulable],
    status: 4,
    err: /no pod or workload with pods "too-bug" in the input; the nearest names are too-big, /,
  },
  {
    args: ["node", "default-9", unschedulable],
    status: 4,
    err: /no planned or existing node "default-9" in the input; the nearest names are default-1\n$/,
  },
  { args: ["pod", "x", "nowhere.yaml"], status: 2, err: /no such file or folder/ },
  { args: ["web", unschedulable], status: 2, err: /unknown command 'web'\n\(say of what: joinery explain pod NAME/ },
  { args: ["pods", "x", unschedulable], status: 4, err: /no pod or workload with pods "x"/ },
  { args: ["pod", "sts/too-big", unschedulable], status: 4, err: /no pod or workload with pods "sts\/too-big"/ },
  { args: ["pod", "x"], status: 2, err: /^error: there is no input; name manifest files/ },
])("explain $args ends with $status", async ({ args, status, err }) => {
  const run = await runJoinery(["explain", ...args]);
  expect(run.status).toBe(status);
  expect(run.err).toMatch(err);
});

test.each([
  ["pod", "too-big"],
  ["pod", "default/too-big"],
  ["pod", "deploy/too-big"],
  ["pod", "Deployment/too-big"],
  ["deployment", "too-big"],
])("explain %s %s: a workload by the names that people have for it", async (...args) => {
  const { status, out } = await runJoinery(["explain", ...args, unschedulable, "-o", "json"]);
  expect(status).toBe(0);
  expect(JSON.parse(out).subject).toMatchObject({ kind: "Deployment", name: "too-big", outcome: "unschedulable" });
});

test("explain of a workload that runs says so of all its pods", async () => {
  const meta = (name: string) => ({
    name,
    namespace: "shop",
    ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "u" }],
  });
  const pod = (name: string) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: meta(name),
    spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }] },
  });
  const ask = async (...pods: readonly object[]) =>
    (await runJoinery(["explain", "pod", "shop/db", "-"], { stdin: JSON.stringify({ apiVersion: "v1", kind: "List", items: pods }) })).out;
  expect(await ask(pod("db-0"), pod("db-1"))).toBe("StatefulSet shop/db: none of its 2 pods waits for a node; shop/db-0 runs on n1\n");
  expect(await ask(pod("db-0"))).toBe("StatefulSet shop/db: runs on n1\n");
});

describe("an object that makes pods and has none says why", () => {
  const podSpec = { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] };
  const template = { metadata: { labels: { app: "a" } }, spec: { ...podSpec, restartPolicy: "Always" } };
  const workload = { selector: { matchLabels: { app: "a" } }, template };
  const buffer = (name: string) => ({ scalableRef: { apiGroup: "apps", kind: "Deployment", name }, replicas: 1 });

  test.each([
    {
      apiVersion: "batch/v1",
      kind: "CronJob",
      spec: { schedule: "@daily", jobTemplate: { spec: { template: { spec: podSpec } } } },
      says: "has no pods until it is due; give its template as a Job to have it explained",
    },
    { apiVersion: "apps/v1", kind: "DaemonSet", spec: workload, says: "is not planned for: its pods come with their nodes" },
    { apiVersion: "apps/v1", kind: "Deployment", spec: { ...workload, replicas: 0 }, says: "wants no pods" },
    {
      apiVersion: "batch/v1",
      kind: "Job",
      spec: { suspend: true, template: { spec: podSpec } },
      says: "wants no pods: it is over or suspended",
    },
    {
      apiVersion: "autoscaling.x-k8s.io/v1beta1",
      kind: "CapacityBuffer",
      spec: buffer("web"),
      says: "does not count: feature gate CapacityBuffer is off (--feature-gates CapacityBuffer=true)",
    },
    {
      apiVersion: "autoscaling.x-k8s.io/v1beta1",
      kind: "CapacityBuffer",
      spec: buffer("wbe"),
      flags: ["--feature-gates", "CapacityBuffer=true"],
      says: 'asks for no room: Deployment "shop/wbe" not found',
    },
  ])("$kind $flags", async ({ says, flags = [], ...object }) => {
    const stdin = JSON.stringify({ ...object, metadata: { name: "it", namespace: "shop" } });
    const { status, err } = await runJoinery(["explain", "pod", "it", "-", ...flags], { stdin });
    expect({ status, err }).toEqual({ status: 4, err: expect.stringContaining(`${object.kind} shop/it ${says}`) });
  });
});

test("S-24: hints on what the input may lack are in the text and in the document", async () => {
  const claims = ["a", "b"].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const spec = { volumes: claims, containers: [{ name: "c", image: "i" }] };
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, spec });
  const hint = "The input has no PersistentVolumeClaim, no PersistentVolume, no StorageClass; ";
  const explained = JSON.parse((await runJoinery(["explain", "pod", "web", "-", "-o", "json"], { stdin })).out);
  expect(explained.hints).toEqual([expect.stringContaining(hint)]);
  expect((await runJoinery(["explain", "pod", "web", "-"], { stdin })).out).toContain(hint);
  const planned = JSON.parse((await runJoinery(["plan", "-", "-o", "json"], { stdin })).out);
  expect(planned.summary.hints).toEqual(explained.hints);
});

test("each fix of plan, merged into its target, gives the workload its place", async () => {
  const { out } = await runJoinery(["plan", unschedulable, "-o", "json"]);
  const entries: { pod: string; fix?: Fix }[] = JSON.parse(out).unschedulable;
  expect(entries.length).toBe(5);
  const fixes = new Map(entries.flatMap(({ fix }) => (fix === undefined ? [] : [[JSON.stringify(fix), fix] as const])));
  expect(fixes.size).toBe(4);
  const objects = ["nodepool.yaml", "workloads.yaml"].flatMap((file) => manifestsOf(join(unschedulable, file)));
  const again = await planOf([...fixes.values()].reduce(patched, objects), []);
  expect(again.unschedulable).toEqual([]);
});

test("a plan for people says what would help and how to ask why", async () => {
  const { out } = await runJoinery(["plan", unschedulable]);
  expect(out).toContain("would help  add a toleration for example.com/dedicated:NoSchedule");
  expect(out).toContain("why: joinery explain pod default/no-toleration-0 …");
});

async function planOf(
  objects: readonly Json[],
  options: readonly string[] = catalog,
): Promise<{ readonly unschedulable: readonly { readonly reasons: readonly { readonly code: string }[] }[] }> {
  const folder = mkdtempSync(join(tmpdir(), "joinery-explain-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "all.json");
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  return JSON.parse((await runJoinery(["plan", file, ...options, "-o", "json"])).out);
}

/** What people who copy the patches out of the text have: YAML documents, each with its command as a comment. */
function copiedPatches(text: string): Json[] {
  const lines = text.slice(text.indexOf("What would help")).split("\n").slice(1);
  const copied = lines.filter((line) => line.startsWith("  ")).map((line) => line.slice(2));
  expect(copied.filter((line) => line.startsWith("# ")).length).toBe(copied.filter((line) => line === "---").length + 1);
  return parseAllDocuments(copied.join("\n")).map((document) => document.toJS() as Json);
}

function manifestsOf(file: string): Json[] {
  return parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS() as Json);
}
