/** Scenarios T14…T19, T22, T23: DaemonSets and nodes that exist, as section 25 of the specification has them. */
import { expect, test } from "vitest";
import { toNodeClaim } from "../plan/node-claim.ts";
import { solve } from "../solve/solve.ts";
import { aDaemonSet, aNode, aPod, aPool, aProblem, type PodWish, type ProblemWish, pods } from "../testing/builders.ts";

const planOf = (wish: ProblemWish) => solve(aProblem({ ...wish, options: { preferencePolicy: "Respect", ...wish.options } }));
const cheapestOf = (wish: ProblemWish) => planOf(wish).newNodes.map(({ cheapest }) => cheapest.instanceType);
const oneCpu: PodWish = { requests: { cpu: "1", memory: "1Gi" } };
const twoCpus: PodWish = { requests: { cpu: "2", memory: "2Gi" } };
const withPort = (port: number): PodWish["spec"] => ({ containers: [{ name: "c", ports: [{ containerPort: port, hostPort: port }] }] });

test("T14 S-67: a DaemonSet's room counts, unless it does not tolerate the pool", () => {
  const [node] = planOf({ daemonSets: [aDaemonSet(twoCpus)], pods: [aPod(oneCpu)] }).newNodes;
  expect(node!.instanceTypes.map(({ name }) => name)).not.toContain("small");
  expect(node!.instanceTypes[0]!.capacity).toMatchObject({ cpu: 4000, memory: 4 * 2 ** 30 });
  const pools = [aPool({ taints: [{ key: "t", value: "v", effect: "NoSchedule" }] })];
  const tolerating = aPod({ ...oneCpu, tolerations: [{ operator: "Exists" }] });
  expect(cheapestOf({ daemonSets: [aDaemonSet(twoCpus)], pods: [tolerating], pools })).toEqual(["small"]);
});

test("T15 S-120: a DaemonSet holds its host port where it runs", () => {
  const pod = aPod({ spec: withPort(8080) });
  const everywhere = planOf({ daemonSets: [aDaemonSet({ spec: withPort(8080) })], pods: [pod] });
  expect([everywhere.newNodes.length, everywhere.unschedulable.length]).toEqual([0, 1]);
  const onLarge = aDaemonSet({ spec: withPort(8080), nodeSelector: { size: "large" } });
  const onSmall = aPod({ spec: withPort(8080), nodeSelector: { size: "small" } });
  expect(planOf({ daemonSets: [onLarge], pods: [onSmall] }).newNodes).toHaveLength(1);
});

test("T16 S-67: the second of two required terms makes the DaemonSet count", () => {
  const terms = ["voo", "bar"].map((value) => [{ key: "foo", operator: "In" as const, values: [value] }]);
  const [node] = planOf({
    daemonSets: [aDaemonSet({ ...twoCpus, terms })],
    pods: [aPod(oneCpu)],
    pools: [aPool({ labels: { foo: "bar" } })],
  }).newNodes;
  expect(node!.instanceTypes[0]!.capacity.cpu).toBe(4000);
  expect(node!.instanceTypes.map(({ name }) => name)).not.toContain("small");
});

test("T17 S-71: the NodeClaim asks for its pods and the DaemonSet", () => {
  const wish: PodWish = { requests: { cpu: "1", memory: "1Mi" } };
  const plan = planOf({ daemonSets: [aDaemonSet(wish)], pods: pods(2, wish) });
  expect(plan.newNodes).toHaveLength(1);
  expect(toNodeClaim(plan.newNodes[0]!).spec.resources?.requests).toEqual({ cpu: "3", memory: "3Mi", pods: "3" });
});

test("T18 S-62, S-67: DaemonSets that wait for registration and initialization count, and their keys stay inside", () => {
  const keys = ["karpenter.sh/initialized", "karpenter.sh/registered"];
  const daemonSets = keys.map((key) => aDaemonSet({ requests: { cpu: "1" }, nodeSelector: { [key]: "true" } }));
  const [node] = planOf({ daemonSets, pods: [aPod({ requests: { cpu: "2" } })] }).newNodes;
  expect(node!.instanceTypes.map(({ capacity }) => capacity.cpu)).toEqual([16_000]);
  const claim = toNodeClaim(node!);
  for (const key of keys) {
    expect(claim.metadata?.labels).not.toHaveProperty([key]);
    expect(claim.spec.requirements.map((item) => item.key)).not.toContain(key);
  }
});

test("T19 S-78: of a hundred nodes the one that is initialized", () => {
  const nodes = Array.from({ length: 100 }, (_, at) => aNode({ name: `n-${String(at).padStart(3, "0")}`, isInitialized: at === 73 }));
  expect(planOf({ nodes }).existingNodes.map(({ name }) => name)).toEqual(["n-073"]);
});

test("T22 S-92: a node without the label is in no zone", () => {
  const wish = { nodes: [aNode({ name: "n" })], pods: [aPod({ nodeSelector: { "topology.kubernetes.io/zone": "z1" } })] };
  expect(planOf({ ...wish, pools: [] }).unschedulable).toHaveLength(1);
  const plan = planOf(wish);
  expect([plan.existingNodes.length, plan.newNodes.length]).toEqual([0, 1]);
});

test("T23a S-77: a DaemonSet that runs there already takes nothing more", () => {
  const nodes = [aNode({ name: "n", allocatable: { cpu: "14900m", memory: "100Gi", pods: 5 }, daemonSetRequests: { cpu: "1" } })];
  const daemonSets = [aDaemonSet({ requests: { cpu: "1" } })];
  expect(planOf({ nodes, daemonSets, pods: [aPod({ requests: { cpu: "14900m" } })] }).existingNodes).toHaveLength(1);
});

test("T23b S-77: one that is not expected there never adds room for another", () => {
  const nodes = [aNode({ name: "n", allocatable: { cpu: "15", memory: "100Gi", pods: 5 }, daemonSetRequests: { cpu: "1" } })];
  const plan = planOf({ nodes, daemonSets: [aDaemonSet({ requests: { cpu: "1m" } })], pods: [aPod({ requests: { cpu: "15500m" } })] });
  expect([plan.existingNodes.length, plan.newNodes.length]).toEqual([0, 1]);
});
