import { expect, test } from "vitest";
import { claimCondition } from "../state/conditions.ts";
import { bindPod, createWorld, NODE_CLAIMS, putPendingPod, putPool } from "../testing/world.ts";
import { createMetricsRegistry, registerLiveGauge } from "./prometheus.ts";

test("O-174: series of a live gauge are those of the moment", async () => {
  const registry = createMetricsRegistry();
  let names = ["a", "b"];
  registerLiveGauge(registry, "things", "Things.", () => names.map((name) => ({ labels: { name }, value: 1 })));
  expect(await registry.metrics()).toContain('things{name="b"} 1');
  names = ["a"];
  expect(await registry.metrics()).not.toContain('name="b"');
});

test("sections 8.2, 8.3, 8.5…8.8: what dashboards ask for is there, and goes with its object", async () => {
  const world = createWorld();
  putPool(world, "default", { limits: { cpu: "100" } });
  const resources = { requests: { cpu: "1" }, limits: { memory: "1Gi" } };
  putPendingPod(world, "a", "1", { containers: [{ name: "main", resources }] });
  const { controller } = world.start();
  await world.clock.advance(500);
  expect(await controller.registry.metrics()).toMatch(
    /^karpenter_pods_provisioning_scheduling_undecided_time_seconds{name="a",namespace="default"} 0.5$/m,
  );
  await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  const waiting = await controller.registry.metrics();
  expect(waiting).toMatch(/^karpenter_pods_provisioning_unbound_time_seconds{name="a",namespace="default",dynamic_resources="false"} \d+/m);
  expect(waiting).toMatch(/^karpenter_pods_provisioning_unstarted_time_seconds{name="a",namespace="default"} \d+/m);
  expect(waiting).not.toMatch(/undecided_time_seconds{/);
  bindPod(world, "a", world.claims()[0]!.status!.nodeName!);
  const lastTransitionTime = new Date(world.clock.wallMs()).toISOString();
  world.api.put("/api/v1/namespaces/default/pods/a", {
    status: { conditions: ["PodScheduled", "Ready"].map((type) => ({ type, status: "True", lastTransitionTime })) },
  });
  await world.clock.advance(5000);
  const text = await controller.registry.metrics();
  for (const line of [
    /^karpenter_nodeclaims_created_total{reason="provisioned",nodepool="default",min_values_relaxed="false"} 1$/m,
    /^karpenter_nodes_created_total{nodepool="default",zone="zone-a"} 1$/m,
    /^karpenter_cluster_state_synced 1$/m,
    /^karpenter_cluster_state_node_count 1$/m,
    /^karpenter_nodepools_usage{nodepool="default",resource_type="cpu"} 4$/m,
    /^karpenter_nodepools_limit{nodepool="default",resource_type="cpu"} 100$/m,
    /^karpenter_nodes_allocatable{node_name="node-default-\w+",.*instance_type="small".*resource_type="memory"} 17179869184$/m,
    /^karpenter_nodes_total_pod_requests{.*resource_type="cpu"} 1$/m,
    /^karpenter_nodes_total_pod_limits{.*resource_type="memory"} 1073741824$/m,
    /^karpenter_nodepools_cost_total{nodepool="default"} 0.2$/m,
    /^karpenter_scheduler_queue_depth{controller="provisioner",scheduling_id="[\w-]+"} 0$/m,
    /^karpenter_pods_provisioning_bound_duration_seconds_count{dynamic_resources="false"} 1$/m,
    /^karpenter_pods_provisioning_startup_duration_seconds_count 1$/m,
    /^karpenter_cluster_utilization_percent{resource_type="cpu"} 25$/m,
    /^karpenter_pods_state{name="a",namespace="default",owner="\/apis\/apps\/v1\/namespaces\/default\/replicasets\/web",.*phase="Running".*} 1$/m,
    /^karpenter_pods_scheduling_decision_duration_seconds_count 1$/m,
    /^karpenter_cloudprovider_duration_seconds_count{controller="nodeclaim.lifecycle",method="Create",provider="fake"} 1$/m,
    /^controller_runtime_reconcile_total{controller="nodeclaim.lifecycle",result="success"} \d+$/m,
    /^workqueue_adds_total{name="nodepool.hash",controller="nodepool.hash"} \d+$/m,
    /^operator_nodeclaim_status_condition_count{namespace="",name="default-\w+",type="Ready",status="True",reason="Ready".*karpenter_sh_nodepool="default"} 1$/m,
    /^operator_status_condition_count{.*type="Ready",status="True",reason="Ready".*group="karpenter.sh",kind="NodePool"} 1$/m,
    /^operator_nodeclaim_status_condition_transition_seconds_count{type="Registered",status="Unknown",to_status="True",.*karpenter_sh_nodepool="default"} 1$/m,
  ]) {
    expect(text).toMatch(line);
  }
  const reasons = world.events().map(({ reason }) => reason);
  expect(reasons).toEqual(expect.arrayContaining(["Launched", "Registered", "Initialized", "Ready"]));

  const name = world.claims()[0]!.metadata!.name!;
  world.api.remove("/api/v1/namespaces/default/pods/a");
  world.api.remove(`${NODE_CLAIMS}/${name}`);
  await world.until("gone", () => world.claims().length === 0);
  await world.clock.advance(1000);
  const after = await controller.registry.metrics();
  expect(after.split("\n").filter((line) => line.includes(name) || line.includes('name="a"'))).toEqual([]);
  expect(after).toMatch(/^karpenter_nodeclaims_terminated_total{nodepool="default",capacity_type="on-demand",zone="zone-a"} 1$/m);
  expect(after).toMatch(/^karpenter_nodes_drained_total{nodepool="default"} 1$/m);
});

test("O-17, scenario 60: without observability there are no series of pods, nodes, pools and their conditions; those of node classes stay", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a");
  const { controller } = world.start({ options: { isClusterStateObservabilityDisabled: true } });
  await world.until("Ready", () => world.claims().some((claim) => claimCondition(claim, "Ready").status === "True"));
  await world.clock.advance(1000);
  const text = await controller.registry.metrics();
  expect(text).not.toMatch(
    /^(karpenter_(pods_(state|startup|un|bound|provisioning)|nodes_(allocatable|total|system|current)|nodepools_)|operator_(nodeclaim|nodepool|node)_)\w*[{ ]/m,
  );
  expect(text).toMatch(/^operator_testnodeclass_status_condition_count{.*type="Ready",status="True".*} 1$/m);
  expect(text).toMatch(/^operator_status_condition_count{.*kind="TestNodeClass".*} 1$/m);
  expect(text).toMatch(/^karpenter_cluster_state_node_count 1$/m);
  expect(world.events().filter(({ reason }) => ["Launched", "Registered", "Initialized"].includes(reason))).toEqual([]);
});

test("O-77: a standby shows no state", async () => {
  const world = createWorld();
  putPool(world);
  putPendingPod(world, "a");
  world.start({ leaderElection: { namespace: "karpenter", identity: "one" } });
  await world.clock.advance(60_000);
  const build = { version: "1.2.3", runtimeVersion: "v24.0.0", architecture: "arm64", commit: "abc" };
  const { controller } = world.start({ leaderElection: { namespace: "karpenter", identity: "two" }, build });
  await world.clock.advance(5000);
  const text = await controller.registry.metrics();
  expect(text).toMatch(/^karpenter_build_info{version="1.2.3",goversion="v24.0.0",goarch="arm64",commit="abc"} 1$/m);
  expect(text).not.toMatch(/^karpenter_(cluster_state|nodes_|pods_state)\w*{/m);
  expect(text).not.toMatch(/^operator_\w+_count{namespace/m);
});
