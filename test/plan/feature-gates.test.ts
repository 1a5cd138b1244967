/** `joinery plan` and `explain` with NodeOverlays, CapacityBuffers and default spreads: only where their flag asks for them. Formats, S-157, S-201, S-204. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { runJoinery } from "./run-joinery.ts";

const catalog = ["--catalog", join(import.meta.dirname, "../lint/catalog.json")];

const POOL = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "default" },
  spec: { template: { spec: { nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" }, requirements: [] } } },
};
const deployment = (name: string, replicas: number, cpu: string) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "shop" },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu } } }] },
    },
  },
});
const overlay = (name: string, spec: object) => ({ apiVersion: "karpenter.sh/v1alpha1", kind: "NodeOverlay", metadata: { name }, spec });
const buffer = (name: string, spec: object) => ({
  apiVersion: "autoscaling.x-k8s.io/v1beta1",
  kind: "CapacityBuffer",
  metadata: { name, namespace: "shop" },
  spec,
});

async function plan(objects: readonly object[], ...args: readonly string[]) {
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: [POOL, ...objects] });
  const json = await runJoinery(["plan", "-", ...catalog, ...args, "-o", "json"], { stdin });
  const { out } = await runJoinery(["plan", "-", ...catalog, ...args], { stdin });
  return { status: json.status, err: json.err, document: json.out === "" ? undefined : JSON.parse(json.out), table: out };
}

test("S-204: prices of overlays count with their gate on; off, overlays are counted and ignored", async () => {
  const objects = [
    deployment("web", 1, "1"),
    overlay("z", { price: "0.001", requirements: [{ key: "karpenter.kwok.sh/instance-family", operator: "In", values: ["m"] }] }),
    overlay("a", { priceAdjustment: "-5%", requirements: [] }),
  ];
  const off = await plan(objects);
  expect(off.document.newNodes[0].cheapest.pricePerHour).not.toBe(0.001);
  expect(off.table).toContain("Not looked at: 2 NodeOverlay (feature gate NodeOverlay is off)");
  const on = await plan(objects, "--feature-gates", "NodeOverlay=true");
  expect(on.document.newNodes[0].cheapest).toMatchObject({ pricePerHour: 0.001, instanceType: expect.stringMatching(/^m-/) });
  expect(on.document.overlays).toEqual([{ overlay: "a", message: expect.stringMatching(/^conflicts with NodeOverlay z /) }]);
  expect(on.table).not.toContain("Not looked at");
});

test("S-204: what only an overlay gives a type can be asked for", async () => {
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "shop" },
    spec: {
      containers: [{ name: "c", image: "i", resources: { limits: { "example.com/fuse": "1" }, requests: { "example.com/fuse": "1" } } }],
    },
  };
  const objects = [pod, overlay("fuse", { capacity: { "example.com/fuse": "2" }, requirements: [] })];
  expect((await plan(objects)).status).toBe(3);
  expect((await plan(objects, "--feature-gates", "NodeOverlay=true")).status).toBe(0);
});

test("S-201, S-203: buffers keep room with their gate on, and the plan tells their condition", async () => {
  const objects = [
    deployment("web", 2, "1"),
    buffer("spare", { scalableRef: { kind: "Deployment", name: "web" }, percentage: 100 }),
    buffer("lost", { podTemplateRef: { name: "gone" }, replicas: 1 }),
  ];
  const off = await plan(objects);
  expect(off.document.stats.pods).toBe(2);
  expect(off.table).toContain("2 CapacityBuffer (feature gate CapacityBuffer is off)");
  const on = await plan(objects, "--feature-gates", "CapacityBuffer=true");
  expect(on.document.newNodes.flatMap(({ pods }: { pods: string[] }) => pods).sort()).toEqual([
    "shop/capacity-buffer-spare-1",
    "shop/capacity-buffer-spare-2",
    "shop/web-0",
    "shop/web-1",
  ]);
  expect(on.document.buffers).toMatchObject([
    { buffer: "shop/lost", replicas: 0, provisioning: { reason: "NotReadyForProvisioning", message: 'PodTemplate "shop/gone" not found' } },
    { buffer: "shop/spare", replicas: 2, provisioning: { reason: "RequiresNewCapacity" } },
  ]);
  expect(on.table).toContain("CapacityBuffer shop/spare (2 pods): RequiresNewCapacity, 2/2 virtual pods required new capacity, 0 failed");
});

test("S-201: explain tells about a pod that only a buffer asks for", async () => {
  const items = [POOL, deployment("web", 1, "9000"), buffer("spare", { scalableRef: { kind: "Deployment", name: "web" }, replicas: 1 })];
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const ask = ["explain", "pod", "shop/spare", "-", ...catalog, "--feature-gates", "CapacityBuffer=true", "-o", "json"];
  const { subject, reasons, fix } = JSON.parse((await runJoinery(ask, { stdin })).out);
  expect(subject).toMatchObject({ kind: "CapacityBuffer", name: "spare", pods: 1, unschedulable: 1, outcome: "unschedulable" });
  expect(reasons[0].code).toBe("insufficient-resources");
  expect(fix).toBeNull();
});

const SPREAD =
  "podTopologySpread: {defaultConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}]}";

test("T47 S-158, S-159: a Deployment's pods are spread by the default constraints, bare pods are not", async () => {
  const zones = async (objects: readonly object[]) => (await plan(objects, "--scheduler-config", SPREAD)).document.newNodes.length;
  expect((await plan([deployment("web", 3, "100m")])).document.newNodes).toHaveLength(1);
  expect(await zones([deployment("web", 3, "100m")])).toBeGreaterThan(1);
  const { metadata, spec } = deployment("web", 3, "100m");
  const bare = [0, 1, 2].map((at) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `bare-${at}`, namespace: metadata.namespace, labels: { app: "web" } },
    spec: spec.template.spec,
  }));
  expect(await zones(bare)).toBe(1);
  const service = { apiVersion: "v1", kind: "Service", metadata: { name: "s", namespace: "shop" }, spec: { selector: { app: "web" } } };
  expect(await zones([...bare, service])).toBeGreaterThan(1);
});

test("S-157: a wrong configuration stops plan, explain and lint with the place of the fault", async () => {
  const wrong = SPREAD.replace("maxSkew: 1", "maxSkew: 0");
  for (const command of [["plan"], ["explain", "pod", "x"], ["lint"]]) {
    const { status, err } = await runJoinery([...command, "-", ...catalog, "--scheduler-config", wrong], { stdin: JSON.stringify(POOL) });
    expect(status).toBe(2);
    expect(err).toMatch(/^error: scheduler-config:1:\d+: podTopologySpread\.defaultConstraints\[0\]\.maxSkew: must be at least 1, is 0/);
  }
});
