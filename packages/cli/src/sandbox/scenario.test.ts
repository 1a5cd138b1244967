import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeObject } from "@joinery/api";
import { createRandom, createVirtualClock } from "@joinery/kube";
import { createWorld } from "@joinery/sandbox";
import { afterAll, expect, test } from "vitest";
import type { Surroundings } from "../surroundings.ts";
import { controllerObjects, coreDns, isControllerPod, poolObjects, sampleWorkload } from "./day-one.ts";
import { createInstaller } from "./install.ts";
import { readScenario } from "./scenario.ts";

const folder = mkdtempSync(join(tmpdir(), "joinery-scenario-"));
afterAll(() => rmSync(folder, { recursive: true }));

const silent = { write: () => undefined, isInteractive: false, columns: 80, style: (_: unknown, text: string) => text };
const surroundings: Surroundings = { env: {}, out: silent, err: silent, readStdin: async () => "" };
const titles = (objects: readonly KubeObject[]) => objects.map(({ kind, metadata }) => `${kind}/${metadata?.name}`);

const namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
const pool = `---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: own}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
`;

test.each([
  { name: "workload alone", text: namespace, pools: ["EC2NodeClass/default", "NodePool/default", "NodePool/graviton"] },
  { name: "pools of its own", text: namespace + pool, pools: ["EC2NodeClass/default", "NodePool/own"] },
])("a scenario with $name", async ({ text, pools }) => {
  const file = join(folder, "scenario.yaml");
  writeFileSync(file, text);
  const scenario = await readScenario(file, 0, "c", surroundings);
  expect(titles(scenario.pools)).toEqual(pools);
  expect(titles(scenario.workload)).toEqual(["Namespace/shop"]);
});

test("the simulated account has what a scenario's node classes look for", async () => {
  const file = join(folder, "class.yaml");
  writeFileSync(
    file,
    `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: own}
spec:
  role: r
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod, tier: private}}, {id: subnet-1}]
  securityGroupSelectorTerms: [{tags: {Name: "*"}}]
`,
  );
  expect((await readScenario(file, 0, "c", surroundings)).networkTags).toEqual([
    { Key: "karpenter.sh/discovery", Value: "prod" },
    { Key: "tier", Value: "private" },
    { Key: "Name", Value: "*" },
  ]);
});

test("a wrong scenario is refused before anything starts", async () => {
  const file = join(folder, "wrong.yaml");
  writeFileSync(file, namespace.replace("shop", "Shop"));
  await expect(readScenario(file, 0, "c", surroundings)).rejects.toThrow(/wrong\.yaml:3:12: Namespace\/Shop: metadata\.name/);
});

test.each([0, 1, 40])("the sample workload has %s pods, not counting the agent", (pods) => {
  const wanted = sampleWorkload(pods).map((object) => {
    const spec = (object as { readonly spec?: { readonly replicas?: number; readonly parallelism?: number } }).spec;
    return spec?.replicas ?? spec?.parallelism ?? 0;
  });
  expect(wanted.reduce((sum, count) => sum + count, 0)).toBe(pods);
});

test("everything of day one is accepted by the sandbox's API server, and the controller's pods are known again", async () => {
  const clock = createVirtualClock({ startMs: Date.UTC(2026, 0, 1) });
  const world = createWorld({ clock, random: createRandom("day-one") });
  const { OWNED_KINDS, crdOf } = await import("@joinery/api");
  const client = world.client("test");
  const installer = createInstaller(client);
  const signal = new AbortController().signal;
  await installer.create(OWNED_KINDS.map(crdOf) as readonly KubeObject[], signal);
  await installer.create([...controllerObjects("c"), ...poolObjects("c"), ...coreDns(), ...sampleWorkload(4)], signal);
  await clock.advance(60_000);
  expect(world.pods().filter(isControllerPod)).toHaveLength(2);
  await world.stop();
});
