import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compareNames, type PlanDocument, solve, toPlanDocument } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { runJoinery } from "../../test/plan/run-joinery.ts";
import { readProblem } from "./read-problem.ts";

const offering = (capacityType: string, zone: string, Price: number) => ({
  Price,
  Available: true,
  Requirements: [
    { key: "karpenter.sh/capacity-type", operator: "In", values: [capacityType] },
    { key: "topology.kubernetes.io/zone", operator: "In", values: [zone] },
  ],
});
const CATALOG = [2, 4, 16].map((cpu) => ({
  name: `m6.x${cpu}`,
  architecture: "amd64",
  operatingSystems: ["linux"],
  resources: { cpu: String(cpu), memory: `${cpu * 4}Gi`, pods: "58" },
  overhead: { cpu: "100m", memory: "800Mi" },
  offerings: [offering("on-demand", "zone-a", cpu * 0.05), offering("spot", "zone-b", cpu * 0.02)],
}));
const pool = (name: string, spec: object, weight: number) => ({
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name },
  spec: {
    weight,
    template: {
      spec: {
        nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
        requirements: [{ key: "kubernetes.io/os", operator: "In", values: ["linux"] }],
        ...spec,
      },
    },
  },
});
const podSpec = (cpu: string) => ({ containers: [{ name: "main", image: "a", resources: { requests: { cpu, memory: "700Mi" } } }] });
const pod = (name: string, cpu: string, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", uid: name, labels: { app: "a" } },
  spec: { ...podSpec(cpu), ...spec },
});
const LABELS = {
  "kubernetes.io/hostname": "there",
  "topology.kubernetes.io/zone": "zone-a",
  "karpenter.sh/nodepool": "general",
  "kubernetes.io/arch": "amd64",
  "kubernetes.io/os": "linux",
  "karpenter.sh/registered": "true",
  "karpenter.sh/initialized": "true",
};
const AMOUNTS = { cpu: "4", memory: "8Gi", pods: "20" };
const ITEMS = [
  pool("special", { taints: [{ key: "team", value: "ml", effect: "NoSchedule" }] }, 50),
  pool("general", {}, 5),
  {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "agent", namespace: "default", uid: "agent" },
    spec: {
      selector: { matchLabels: { ds: "agent" } },
      template: { metadata: { labels: { ds: "agent" } }, spec: { ...podSpec("200m"), tolerations: [{ operator: "Exists" }] } },
    },
  },
  {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "there", labels: LABELS },
    spec: { providerID: "catalog://there" },
    status: { capacity: AMOUNTS, allocatable: AMOUNTS, conditions: [{ type: "Ready", status: "True" }] },
  },
  { ...pod("bound", "1500m", { nodeName: "there" }), status: { phase: "Running" } },
  ...Array.from({ length: 20 }, (_, index) => pod(`p-${index}`, ["300m", "900m", "1900m"][index % 3]!)),
  ...Array.from({ length: 5 }, (_, index) => pod(`t-${index}`, "500m", { tolerations: [{ key: "team", operator: "Exists" }] })),
  ...Array.from({ length: 5 }, (_, index) => pod(`od-${index}`, "500m", { nodeSelector: { "karpenter.sh/capacity-type": "on-demand" } })),
];

test("the problem is the one that `joinery plan` makes of the same files", async () => {
  const folder = await mkdtemp(join(tmpdir(), "joinery-problem-"));
  try {
    const files = { manifests: [join(folder, "problem.json")], catalog: join(folder, "catalog.json") };
    await writeFile(files.manifests[0]!, JSON.stringify({ apiVersion: "v1", kind: "List", items: ITEMS }));
    await writeFile(files.catalog, JSON.stringify(CATALOG));
    const planned = await runJoinery(["plan", ...files.manifests, "--catalog", files.catalog, "--optimize", "off", "-o", "json"]);
    const stats = { pods: 30, instanceTypes: 3, solveMilliseconds: 0 };
    const ours = toPlanDocument(solve(readProblem(files)), { stats, existingUsdPerHour: 0 });
    expect(placements(ours)).toEqual(placements(JSON.parse(planned.out) as PlanDocument));
    expect(ours.existingNodes).toHaveLength(1);
  } finally {
    await rm(folder, { recursive: true });
  }
});

function placements({ newNodes, existingNodes, unschedulable, cost }: PlanDocument) {
  return { newNodes, existingNodes, left: unschedulable.map(({ pod }) => pod).sort(compareNames), price: cost.newPerHour };
}
