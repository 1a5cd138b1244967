/** What is told of nodes, NodeClaims and NodePools while they live, and that it ends with them. Sections 8.1, 8.2 and 8.5 of the operations chapter. */
import { AWS_VOCABULARY } from "@joinery/api";
import { beforeAll, describe, expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { expectRow, type MetricRow } from "../testing/metric-rows.ts";
import { scrape } from "../testing/scrape.ts";
import { bindPod, createWorld, NODE_CLAIMS, NODES, putPendingPod, putPool, type World } from "../testing/world.ts";
import type { Registry } from "./prometheus.ts";

const NODE_LABELS = [
  "node_name",
  "phase",
  "managed",
  "nodepool",
  "zone",
  "region",
  "instance_type",
  "arch",
  "os",
  "capacity_type",
  "windows_build",
];
const PER_RESOURCE = [...NODE_LABELS, "resource_type"];
const GIB = 2 ** 30;

interface Life {
  readonly world: World;
  readonly registry: Registry;
  readonly node: string;
  readonly claim: string;
}

/** A node of a NodePool with limits, with a pod and a pod of a DaemonSet; a node that nobody manages; a pool without limits and nodes. */
async function aLife(): Promise<Life> {
  const world = createWorld();
  putPool(world, "default", { limits: { cpu: "100", memory: "1Ti" } });
  putPool(world, "free");
  putPool(world, "foreign", {
    limits: { cpu: "1" },
    template: { spec: { nodeClassRef: { group: "other", kind: "Other", name: "x" }, requirements: [] } },
  });
  world.api.put(`${NODES}/hand`, {
    metadata: { labels: { "topology.kubernetes.io/zone": "zone-h" } },
    spec: { providerID: "hand:///1" },
    status: { capacity: { cpu: "2" }, allocatable: { cpu: "1930m" } },
  });
  const resources = { requests: { cpu: "500m", memory: "1Gi" }, limits: { cpu: "1", memory: "2Gi" } };
  putPendingPod(world, "a", "1", { containers: [{ name: "main", resources }], nodeSelector: { "karpenter.sh/nodepool": "default" } });
  const { controller } = world.start();
  await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  const claim = world.claims()[0]!;
  const node = claim.status!.nodeName!;
  world.api.put(`${NODES}/${node}`, { status: { allocatable: { cpu: "3500m", "nvidia.com/gpu": "2" } } });
  bindPod(world, "a", node);
  world.api.put("/api/v1/namespaces/default/pods/agent", {
    metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "agent", uid: "ds", controller: true }] },
    spec: {
      nodeName: node,
      containers: [{ name: "main", resources: { requests: { cpu: "250m" }, limits: { memory: "512Mi" } } }],
    },
    status: { phase: "Running", conditions: [{ type: "PodScheduled", status: "True" }] },
  });
  await world.clock.advance(10_000);
  return { world, registry: controller.registry, node, claim: claim.metadata!.name! };
}

describe("while they live", () => {
  let life: Life;
  beforeAll(async () => {
    life = await aLife();
  });

  const perNode = (name: string, resource_type: string, value: number, node_name = "managed"): MetricRow => ({
    rule: "O-189",
    name: `karpenter_nodes_${name}`,
    type: "gauge",
    labels: PER_RESOURCE,
    of: { resource_type, node_name },
    value,
  });
  const counted = { type: "counter", value: 1 } as const;
  test.each<MetricRow>([
    {
      rule: "O-177",
      name: "karpenter_nodeclaims_created_total",
      ...counted,
      labels: ["reason", "nodepool", "min_values_relaxed"],
      of: { reason: "provisioned", nodepool: "default", min_values_relaxed: "false" },
    },
    {
      rule: "O-184",
      name: "karpenter_nodes_created_total",
      ...counted,
      labels: ["nodepool", "zone"],
      of: { nodepool: "default", zone: "zone-a" },
    },
    perNode("allocatable", "cpu", 3.5),
    perNode("allocatable", "memory", 16 * GIB),
    { ...perNode("allocatable", "ephemeral_storage", 20 * GIB), rule: "O-173" },
    { ...perNode("allocatable", "nvidia.com/gpu", 2), rule: "O-173" },
    { ...perNode("allocatable", "cpu", 1.93, "hand"), rule: "O-191, scenario 41" },
    perNode("system_overhead", "cpu", 0.5),
    perNode("system_overhead", "memory", 0),
    perNode("total_pod_requests", "cpu", 0.75),
    perNode("total_pod_limits", "cpu", 1),
    perNode("total_pod_limits", "memory", 2.5 * GIB),
    perNode("total_daemon_requests", "cpu", 0.25),
    perNode("total_daemon_limits", "memory", 0.5 * GIB),
    {
      rule: "O-192",
      name: "karpenter_cluster_utilization_percent",
      type: "gauge",
      labels: ["resource_type"],
      of: { resource_type: "cpu" },
      value: (100 * 0.75) / (3.5 + 1.93),
    },
    ...[
      { name: "usage", nodepool: "default", resource_type: "cpu", value: 4 },
      { name: "usage", nodepool: "default", resource_type: "ephemeral_storage", value: 20 * GIB },
      { name: "usage", nodepool: "free", resource_type: "cpu", value: 0 },
      { name: "limit", nodepool: "default", resource_type: "cpu", value: 100 },
      { name: "limit", nodepool: "default", resource_type: "memory", value: 1024 * GIB },
    ].map(({ name, nodepool, resource_type, value }) => ({
      rule: "O-193",
      name: `karpenter_nodepools_${name}`,
      type: "gauge" as const,
      labels: ["resource_type", "nodepool"],
      of: { nodepool, resource_type },
      value,
    })),
    { rule: "O-194", name: "karpenter_nodepools_cost_total", type: "gauge", labels: ["nodepool"], of: { nodepool: "default" }, value: 0.2 },
    { rule: "O-194", name: "karpenter_nodepools_cost_total", type: "gauge", labels: ["nodepool"], of: { nodepool: "free" }, value: 0 },
    { rule: "O-222", name: "karpenter_cluster_state_node_count", type: "gauge", labels: [], value: 2 },
    { rule: "O-222", name: "karpenter_cluster_state_synced", type: "gauge", labels: [], value: 1 },
    { rule: "O-222", name: "karpenter_cluster_state_unsynced_time_seconds", type: "gauge", labels: [], value: 0 },
  ])("$rule: $name $of", async ({ of, ...row }) => {
    const known = of?.node_name === "managed" ? { ...of, node_name: life.node } : of;
    await expectRow(life.registry, { ...row, of: known });
  });

  test("O-190: age of a Node", async () => {
    const born = Date.parse(life.world.api.find<{ metadata: { creationTimestamp: string } }>(`${NODES}/hand`)!.metadata.creationTimestamp);
    await expectRow(life.registry, {
      rule: "O-190",
      name: "karpenter_nodes_current_lifetime_seconds",
      type: "gauge",
      labels: NODE_LABELS,
      of: { node_name: "hand" },
      value: (life.world.clock.wallMs() - born) / 1000,
    });
  });

  test("O-191: what a Node's labels say; what it lacks is empty; those that nobody manages are told too", async () => {
    const { series } = await scrape(life.registry);
    const labels = series("karpenter_nodes_current_lifetime_seconds").map((one) => one.labels);
    const empty = Object.fromEntries(NODE_LABELS.map((name) => [name, ""]));
    expect(labels.find(({ node_name }) => node_name === "hand")).toEqual({ ...empty, node_name: "hand", managed: "false", zone: "zone-h" });
    expect(labels.find(({ node_name }) => node_name === life.node)).toEqual({
      ...empty,
      node_name: life.node,
      managed: "true",
      nodepool: "default",
      zone: "zone-a",
      instance_type: "small",
      arch: "amd64",
      os: "linux",
      capacity_type: "on-demand",
    });
    expect(labels).toHaveLength(2);
  });

  test("O-193: no limits, no series of them; pools of another provider have none at all", async () => {
    const { series } = await scrape(life.registry);
    expect(new Set(series("karpenter_nodepools_limit").map(({ labels }) => labels.nodepool))).toEqual(new Set(["default"]));
    expect(series("karpenter_nodepools_usage").filter(({ labels }) => labels.nodepool === "foreign")).toEqual([]);
  });
});

test("O-189, O-191: a NodeClaim whose Node has not come is no node yet; O-222 counts it", async () => {
  const world = createWorld();
  world.cloud.joinsAfterMs = undefined;
  putPool(world);
  putPendingPod(world, "a");
  const { controller } = world.start();
  await world.until("launched", () => world.claims().some((claim) => claimCondition(claim, "Launched").status === "True"));
  const { series, value } = await scrape(controller.registry);
  expect(series("karpenter_nodes_allocatable")).toEqual([]);
  expect(series("karpenter_cluster_utilization_percent")).toEqual([]);
  expect(value("karpenter_cluster_state_node_count")).toBe(1);
});

test("O-191, X-33: with AWS's labels, of which nitro-sandbox is gone", async () => {
  const world = createWorld();
  world.api.put(`${NODES}/hand`, { spec: { providerID: "hand:///1" }, status: { allocatable: { cpu: "1" } } });
  const { controller } = world.start({ provider: { ...world.cloud.factory, vocabulary: AWS_VOCABULARY } });
  await world.clock.advance(1000);
  const { labelNames } = await scrape(controller.registry);
  const ofAws = `capacity_reservation_id capacity_reservation_type capacity_reservation_interruptible instance_hypervisor
    instance_encryption_in_transit_supported instance_category instance_capability_flex instance_family instance_generation instance_size
    instance_local_nvme instance_cpu instance_cpu_manufacturer instance_cpu_sustained_clock_speed_mhz instance_memory instance_ebs_bandwidth
    instance_network_bandwidth instance_gpu_name instance_gpu_manufacturer instance_gpu_count instance_gpu_memory instance_accelerator_name
    instance_accelerator_manufacturer instance_accelerator_count zone_id instance_tenancy placement_group_id placement_group_partition`;
  expect(labelNames("karpenter_nodes_allocatable")).toEqual([...PER_RESOURCE, ...ofAws.split(/\s+/)].sort());
});

test("O-194, O-195: what a price cannot be learnt of costs nothing, and that is counted", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a");
  let isPlanned = false;
  world.cloud.onInstanceTypes = () => {
    if (isPlanned) throw new Error("no prices today");
    isPlanned = true;
  };
  const { controller } = world.start();
  await world.until("a node", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  const errors = { rule: "O-195", name: "karpenter_nodepools_cost_tracker_errors_total", type: "counter", labels: ["nodepool"] } as const;
  const { value } = await scrape(controller.registry);
  expect(value("karpenter_nodepools_cost_total", { nodepool: "default" })).toBe(0);
  await expectRow(controller.registry, { ...errors, of: { nodepool: "default" }, value: value(errors.name, { nodepool: "default" }) ?? 0 });
  expect(value(errors.name, { nodepool: "default" })).toBeGreaterThan(0);
});

describe("when they go", () => {
  let life: Life;
  let lifetimeSeconds: number;
  beforeAll(async () => {
    life = await aLife();
    const { world, node, claim } = life;
    const born = Date.parse(world.api.find<{ metadata: { creationTimestamp: string } }>(`${NODES}/${node}`)!.metadata.creationTimestamp);
    // The pod holds on for 20 seconds after its eviction; five later the instance is found gone.
    world.api.put("/api/v1/namespaces/default/pods/a", { metadata: { finalizers: ["example.com/hold"] } });
    world.api.remove("/api/v1/namespaces/default/pods/agent");
    world.api.remove(`${NODE_CLAIMS}/${claim}`);
    await world.clock.advance(20_000);
    world.api.put("/api/v1/namespaces/default/pods/a", { metadata: { finalizers: [] } });
    await world.until("the node gone", () => world.api.find(`${NODES}/${node}`) === undefined);
    lifetimeSeconds = (world.clock.wallMs() - born) / 1000;
    await world.until("gone", () => world.claims().length === 0);
    await world.clock.advance(1000);
  });

  const DAY = 86_400;
  const doublings = (count: number) => Array.from({ length: count }, (_, n) => 2 ** n);
  const lifetimes = [900, 1800, 2700, 3600, 7200, 4 * 3600, 6 * 3600, 8 * 3600, 10 * 3600, 12 * 3600, 16 * 3600, 20 * 3600].concat(
    [1, 2, 3, 5, 10, 15, 20, 25, 30].map((days) => days * DAY),
  );
  const ofPool = { labels: ["nodepool"], of: { nodepool: "default" } } as const;
  test.each<MetricRow>([
    {
      rule: "O-178",
      name: "karpenter_nodeclaims_terminated_total",
      type: "counter",
      labels: ["nodepool", "capacity_type", "zone"],
      of: { nodepool: "default", capacity_type: "on-demand", zone: "zone-a" },
      value: 1,
    },
    // Asked for, and looked at again five seconds later.
    {
      rule: "O-181",
      name: "karpenter_nodeclaims_instance_termination_duration_seconds",
      type: "histogram",
      ...ofPool,
      buckets: doublings(11),
      value: 5,
    },
    {
      rule: "O-182",
      name: "karpenter_nodeclaims_termination_duration_seconds",
      type: "histogram",
      ...ofPool,
      buckets: doublings(12),
      value: 25,
    },
    {
      rule: "O-185",
      name: "karpenter_nodes_terminated_total",
      type: "counter",
      labels: ["nodepool", "zone"],
      of: { zone: "zone-a" },
      value: 1,
    },
    { rule: "O-186", name: "karpenter_nodes_drained_total", type: "counter", ...ofPool, value: 1 },
    { rule: "O-187, O-172", name: "karpenter_nodes_termination_duration_seconds", type: "summary", ...ofPool, value: 25 },
    {
      rule: "O-188",
      name: "karpenter_nodes_lifetime_duration_seconds",
      type: "histogram",
      ...ofPool,
      buckets: lifetimes,
      value: Number.NaN,
    },
    { rule: "O-205", name: "karpenter_pods_eviction_requests_total", type: "counter", labels: ["code"], of: { code: "200" }, value: 1 },
    {
      rule: "O-205",
      name: "karpenter_pods_drained_total",
      type: "counter",
      labels: ["reason"],
      of: { reason: "Forceful Termination" },
      value: 1,
    },
  ])("$rule: $name", async ({ value, ...row }) => {
    await expectRow(life.registry, { ...row, value: Number.isNaN(value) ? lifetimeSeconds : value });
  });

  test("O-174, O-189…O-193: series of objects end with them", async () => {
    const { world, registry, node } = life;
    world.api.remove("/apis/karpenter.sh/v1/nodepools/default");
    world.api.remove(`${NODES}/hand`);
    await world.clock.advance(1000);
    const { text, series } = await scrape(registry);
    expect(text.split("\n").filter((line) => line.includes(node) || /^karpenter_nodes_[^{]*{.*"hand"/.test(line))).toEqual([]);
    for (const name of ["allocatable", "total_pod_requests", "total_pod_limits", "total_daemon_requests", "total_daemon_limits"]) {
      expect(series(`karpenter_nodes_${name}`), name).toEqual([]);
    }
    for (const name of ["nodes_system_overhead", "nodes_current_lifetime_seconds", "cluster_utilization_percent"]) {
      expect(series(`karpenter_${name}`), name).toEqual([]);
    }
    for (const name of ["nodepools_usage", "nodepools_limit", "nodepools_cost_total"]) {
      expect(
        series(`karpenter_${name}`).filter(({ labels }) => labels.nodepool === "default"),
        name,
      ).toEqual([]);
    }
  });
});

test("O-175, O-171: a series appears with its first use, also one without labels; all names have the prefix or are a library's", async () => {
  const world = createWorld();
  putPool(world);
  world.start({ leaderElection: { namespace: "karpenter", identity: "one" } });
  await world.clock.advance(1000);
  const { controller } = world.start({ leaderElection: { namespace: "karpenter", identity: "two" } });
  await world.clock.advance(1000);
  const { text } = await scrape(controller.registry);
  expect(text.split("\n").filter((line) => line.startsWith("karpenter_"))).toEqual([]);
  const families = text.split("\n").flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? []);
  expect(families.filter((name) => !/^(karpenter|operator|controller_runtime|workqueue|leader_election|client_go)_/.test(name))).toEqual(
    [],
  );
});
