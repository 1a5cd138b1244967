/** The checker can fail: each row plants one fault in a sound plan, or changes the world under it, and says what has to be found. */
import { type Plan, type PlannedNode, type Problem, solve } from "@joinery/scheduling";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  aDaemonSet,
  aNode,
  anOffering,
  aPod,
  aPool,
  aProblem,
  aReservation,
  aType,
  bound,
  type PodWish,
  pods,
} from "../../packages/scheduling/src/testing/builders.ts";
import { anyProblem } from "../../packages/scheduling/src/testing/random-problems.ts";
import { faultsOf } from "./check.ts";
import type { FaultKind } from "./fault.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";
const APP = { labels: { app: "a" } };
const SELECTOR = { matchLabels: APP.labels };

interface World {
  readonly plan: Plan;
  readonly problem: Problem;
}

interface Row {
  readonly planted: string;
  readonly kind: FaultKind;
  readonly problem: Problem;
  readonly plant: (world: World) => Partial<World>;
}

/** With a change to the first of the new nodes. */
function onFirst(change: (node: PlannedNode, all: readonly PlannedNode[]) => Partial<PlannedNode>): Row["plant"] {
  return ({ plan }) => ({
    plan: { ...plan, newNodes: plan.newNodes.map((node, index) => (index === 0 ? { ...node, ...change(node, plan.newNodes) } : node)) },
  });
}

/** All pods of the second node on the first. */
const merged: Row["plant"] = ({ plan, problem }) => {
  const [one, other, ...rest] = plan.newNodes;
  const keys = [...one!.pods, ...other!.pods];
  const total: Record<string, number> = {};
  for (const { key, shape } of problem.pods)
    if (keys.includes(key)) for (const name in shape.requests) total[name] = (total[name] ?? 0) + shape.requests[name]!;
  return { plan: { ...plan, newNodes: [{ ...one!, pods: keys, requests: total }, ...rest] } };
};

const inProblem =
  (change: (problem: Problem) => Partial<Problem>): Row["plant"] =>
  ({ problem }) => ({ problem: { ...problem, ...change(problem) } });

const without = <T extends { readonly key: string }>(items: readonly T[], key: string) => items.filter((item) => item.key !== key);
const spread = { topologyKey: HOSTNAME, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" as const, labelSelector: SELECTOR };
const spreadPod: PodWish = { ...APP, spec: { topologySpreadConstraints: [spread] } };
const zoneSpreadPod: PodWish = { ...APP, spec: { topologySpreadConstraints: [{ ...spread, topologyKey: ZONE }] } };
const required = (topologyKey: string) => ({
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: SELECTOR }],
});
const portPod: PodWish = { spec: { containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 80 }] }] } };
const claimPod: PodWish = { spec: { containers: [{ name: "c" }], volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] } };
const inZone1 = new Map([["default/c", { alternatives: [[{ key: ZONE, operator: "In" as const, values: ["z1"] }]], driver: "d" }]]);
const minTypes = [{ key: "node.kubernetes.io/instance-type", operator: "Exists" as const, minValues: 3 }];
const reserving = [
  aType({
    name: "t",
    cpu: 4,
    memory: "4Gi",
    pods: 1,
    offerings: [anOffering("spot", "z1", 1), aReservation({ id: "r", slots: 1, zone: "z1" })],
  }),
];
const room = aNode({ name: "n", allocatable: { cpu: 4, memory: "4Gi", pods: 10 } });

const full = aNode({ name: "full", allocatable: { cpu: 0, pods: 0 } });

const ROWS: readonly Row[] = [
  {
    planted: "a pod in no list",
    kind: "lists",
    problem: aProblem({ pods: pods(2) }),
    plant: onFirst(({ pods: keys }) => ({ pods: keys.slice(1) })),
  },
  {
    planted: "a pod in two lists",
    kind: "lists",
    problem: aProblem({}),
    plant: ({ plan, problem }) => ({
      plan: { ...plan, unschedulable: [{ pod: problem.pods[0]!.key, reasons: [{ kind: "next-solve" }] }] },
    }),
  },
  {
    planted: "a refusal without a reason",
    kind: "lists",
    problem: aProblem({ pods: [aPod({ requests: { cpu: 500 } })] }),
    plant: ({ plan }) => ({ plan: { ...plan, unschedulable: plan.unschedulable.map((pod) => ({ ...pod, reasons: [] })) } }),
  },
  {
    planted: "a node that is not there",
    kind: "lists",
    problem: aProblem({ nodes: [room] }),
    plant: ({ plan }) => ({ plan: { ...plan, existingNodes: plan.existingNodes.map((node) => ({ ...node, name: "other" })) } }),
  },
  {
    planted: "a new node of a pool that was left out",
    kind: "lists",
    problem: aProblem({}),
    plant: ({ plan }) => ({ plan: { ...plan, droppedPools: [{ nodePool: "default", reason: { kind: "no-node-pool" } }] } }),
  },
  { planted: "a pool's taint forgotten", kind: "pool", problem: taintedProblem(), plant: onFirst(() => ({ taints: [] })) },
  {
    planted: "a pool's label changed",
    kind: "pool",
    problem: aProblem({ pools: [aPool({ labels: { team: "a" } })] }),
    plant: onFirst(({ labels }) => ({ labels: { ...labels, team: "b" } })),
  },
  {
    planted: "another pool's node",
    kind: "pool",
    problem: aProblem({ pools: [aPool({ labels: { team: "a" } }), aPool({ name: "b", labels: { team: "b" } })] }),
    plant: (world) =>
      onFirst(({ nodePool }) => ({ nodePool: world.problem.pools.find((pool) => pool.nodePool !== nodePool)!.nodePool }))(world),
  },
  {
    planted: "a requirement of the pool given up",
    kind: "pool",
    problem: aProblem({ pools: [aPool({ requirements: [{ key: ZONE, operator: "In", values: ["z1"] }] })] }),
    plant: onFirst(({ requirements }) => ({ requirements: requirements.filter(({ key }) => key !== ZONE) })),
  },
  {
    planted: "a type that does not go with the requirements",
    kind: "types",
    problem: aProblem({ pods: [aPod({ nodeSelector: { "kubernetes.io/arch": "amd64" } })] }),
    plant: (world) =>
      onFirst(({ instanceTypes }) => ({
        instanceTypes: [...instanceTypes, world.problem.pools[0]!.instanceTypes.find(({ name }) => name === "arm")!],
      }))(world),
  },
  {
    planted: "one type twice",
    kind: "types",
    problem: aProblem({}),
    plant: onFirst(({ instanceTypes }) => ({ instanceTypes: [...instanceTypes, instanceTypes[0]!] })),
  },
  {
    planted: "types in the wrong order",
    kind: "price",
    problem: aProblem({}),
    plant: onFirst(({ instanceTypes }) => ({ instanceTypes: instanceTypes.toReversed() })),
  },
  {
    planted: "a price that nobody asks",
    kind: "price",
    problem: aProblem({}),
    plant: onFirst(({ cheapest }) => ({ cheapest: { ...cheapest, priceUsdPerHour: 0.001 } })),
  },
  {
    planted: "a zone that is not the cheapest one's",
    kind: "price",
    problem: aProblem({
      types: [aType({ name: "t", cpu: 2, memory: "2Gi", offerings: [anOffering("spot", "z1", 1), anOffering("spot", "z2", 2)] })],
    }),
    plant: onFirst(({ cheapest }) => ({ cheapest: { ...cheapest, zone: "z2", priceUsdPerHour: 2 } })),
  },
  {
    planted: "what a pod selects given up",
    kind: "node-selector",
    problem: aProblem({ pods: [aPod({ nodeSelector: { [ZONE]: "z1" } })] }),
    plant: onFirst(({ requirements }) => ({ requirements: requirements.filter(({ key }) => key !== ZONE) })),
  },
  {
    planted: "a pod on a node with another label",
    kind: "node-selector",
    problem: aProblem({ pods: [aPod({ nodeSelector: { team: "a" } })], nodes: [{ ...room, labels: { ...room.labels, team: "a" } }] }),
    plant: inProblem(() => ({ nodes: [room] })),
  },
  {
    planted: "a pod that does not tolerate the pool",
    kind: "taints",
    problem: taintedProblem(),
    plant: inProblem(({ pods: list }) => ({ pods: list.map((pod) => ({ ...pod, shape: { ...pod.shape, tolerations: [] } })) })),
  },
  {
    planted: "a taint on a node that exists",
    kind: "taints",
    problem: aProblem({ nodes: [room] }),
    plant: inProblem(() => ({ nodes: [{ ...room, taints: [{ key: "t", effect: "NoExecute" }] }] })),
  },
  {
    planted: "a type that is too small",
    kind: "resources",
    problem: aProblem({ pods: [aPod({ requests: { cpu: 3 } })] }),
    plant: (world) =>
      onFirst(({ instanceTypes }) => ({
        instanceTypes: [world.problem.pools[0]!.instanceTypes.find(({ name }) => name === "small")!, ...instanceTypes],
      }))(world),
  },
  { planted: "two nodes' pods on one", kind: "resources", problem: aProblem({ pods: pods(2, { requests: { cpu: 9 } }) }), plant: merged },
  {
    planted: "a DaemonSet that nobody counted",
    kind: "resources",
    problem: aProblem({ pods: [aPod({ requests: { cpu: 3 } })] }),
    plant: inProblem(() => ({ daemonSets: [aDaemonSet({ requests: { cpu: 1 } })] })),
  },
  {
    planted: "less room on a node that exists",
    kind: "resources",
    problem: aProblem({ pods: [aPod({ requests: { cpu: 1 } })], nodes: [room] }),
    plant: inProblem(() => ({ nodes: [{ ...room, available: { cpu: 500, memory: 1e9, pods: 10 } }] })),
  },
  {
    planted: "a sum that is not the pods'",
    kind: "requests",
    problem: aProblem({ pods: [aPod({ requests: { cpu: 1 } })] }),
    plant: onFirst(({ requests }) => ({ requests: { ...requests, cpu: 1 } })),
  },
  {
    planted: "a volume that the node cannot reach",
    kind: "volume-place",
    problem: aProblem({ pods: [aPod(claimPod)], claims: inZone1 }),
    plant: onFirst(({ requirements }) => ({ requirements: requirements.filter(({ key }) => key !== ZONE) })),
  },
  {
    planted: "more volumes than the type attaches",
    kind: "volume-limit",
    problem: aProblem({
      pods: [aPod(claimPod)],
      claims: inZone1,
      types: [aType({ name: "t", cpu: 2, memory: "2Gi", volumeLimits: { e: 0 } })],
    }),
    plant: inProblem(() => ({ claims: new Map([["default/c", { alternatives: [], driver: "e" }]]) })),
  },
  {
    planted: "more volumes than the node attaches",
    kind: "volume-limit",
    problem: aProblem({ pods: [aPod(claimPod)], claims: new Map([["default/c", { alternatives: [], driver: "d" }]]), nodes: [room] }),
    plant: inProblem(() => ({ nodes: [{ ...room, volumeLimits: { d: 0 } }] })),
  },
  { planted: "two pods with one port", kind: "host-port", problem: aProblem({ pods: [aPod(portPod), aPod(portPod)] }), plant: merged },
  {
    planted: "a DaemonSet with the pod's port",
    kind: "host-port",
    problem: aProblem({ pods: [aPod(portPod)] }),
    plant: inProblem(() => ({ daemonSets: [aDaemonSet(portPod)] })),
  },
  {
    planted: "two pods that spread on one node",
    kind: "spread",
    problem: aProblem({ pods: pods(2, spreadPod), nodes: [full] }),
    plant: merged,
  },
  {
    planted: "two pods that spread in one zone",
    kind: "spread",
    problem: aProblem({
      pods: pods(2, zoneSpreadPod),
      nodes: [aNode({ name: "z", labels: { [ZONE]: "z9" }, allocatable: { cpu: 0, pods: 0 } })],
    }),
    plant: ({ plan }) => ({
      plan: {
        ...plan,
        newNodes: plan.newNodes.map((node) => {
          const [first] = plan.newNodes;
          return { ...first!, name: node.name, pods: node.pods };
        }),
      },
    }),
  },
  {
    planted: "company that went away",
    kind: "affinity",
    problem: aProblem({
      pods: [
        aPod({ ...APP, name: "wanted", nodeSelector: { [ZONE]: "z1" } }),
        aPod({ name: "wants", affinity: { podAffinity: required(ZONE) } }),
      ],
    }),
    plant: ({ problem, plan }) => ({
      problem: { ...problem, pods: without(problem.pods, "default/wanted") },
      plan: {
        ...plan,
        newNodes: plan.newNodes.flatMap((node) => {
          const keys = node.pods.filter((key) => key !== "default/wanted");
          return keys.length === 0 ? [] : [{ ...node, pods: keys, requests: { pods: keys.length } }];
        }),
      },
    }),
  },
  {
    planted: "a pod with its enemy",
    kind: "anti-affinity",
    problem: aProblem({ pods: pods(2, { ...APP, affinity: { podAntiAffinity: required(HOSTNAME) } }) }),
    plant: merged,
  },
  {
    planted: "an enemy that was there before",
    kind: "anti-affinity",
    problem: aProblem({ pods: [aPod(APP)], nodes: [room] }),
    plant: inProblem(() => ({ boundPods: [bound({ affinity: { podAntiAffinity: required(HOSTNAME) } }, { name: "n" })] })),
  },
  {
    planted: "more CPU than the limit",
    kind: "limit",
    problem: aProblem({ pools: [aPool({ limits: { cpu: "16" } })] }),
    plant: inProblem(() => ({
      nodes: [aNode({ name: "n", labels: { "karpenter.sh/nodepool": "default" }, allocatable: { cpu: 15, pods: 0 } })],
    })),
  },
  {
    planted: "more nodes than the limit",
    kind: "limit",
    problem: aProblem({ pools: [aPool({ limits: { nodes: "1" } })] }),
    plant: inProblem(() => ({ nodes: [aNode({ name: "n", labels: { "karpenter.sh/nodepool": "default" }, allocatable: { pods: 0 } })] })),
  },
  {
    planted: "fewer types than minValues",
    kind: "min-values",
    problem: aProblem({ pools: [aPool({ requirements: minTypes })] }),
    plant: onFirst(({ instanceTypes }) => ({ instanceTypes: instanceTypes.slice(0, 2) })),
  },
  {
    planted: "minValues lowered in silence",
    kind: "min-values",
    problem: aProblem({ pools: [aPool({ requirements: minTypes })] }),
    plant: onFirst(() => ({ instanceTypeMinValues: 2 })),
  },
  {
    planted: "one slot for two nodes",
    kind: "reservation",
    problem: aProblem({ pods: pods(2), types: reserving, options: { reservedCapacity: "fallback" } }),
    plant: ({ plan }) => ({
      plan: {
        ...plan,
        newNodes: plan.newNodes.map((node) => ({ ...plan.newNodes[0]!, name: node.name, pods: node.pods })),
      },
    }),
  },
  {
    planted: "a heavier pool passed over",
    kind: "weight",
    problem: aProblem({}),
    plant: inProblem(({ pools }) => ({ pools: [...pools, { ...pools[0]!, nodePool: aPool({ name: "heavy", weight: 9 }) }] })),
  },
];

function taintedProblem(): Problem {
  const taint = { key: "t", value: "a", effect: "NoSchedule" as const };
  return aProblem({ pods: [aPod({ tolerations: [{ key: "t", operator: "Exists" }] })], pools: [aPool({ taints: [taint] })] });
}

describe("a planted fault is found", () => {
  test.each(ROWS)("$kind: $planted", ({ problem, plant, kind }) => {
    const world = { plan: solve(problem), problem };
    expect(faultsOf(world.plan, problem)).toEqual([]);
    const { plan, problem: changed } = { ...world, ...plant(world) };
    expect(faultsOf(plan, changed).map((fault) => fault.kind)).toContain(kind);
  });

  test("of every kind", () => {
    const kinds: Record<FaultKind, true> = {
      lists: true,
      pool: true,
      types: true,
      price: true,
      "node-selector": true,
      taints: true,
      resources: true,
      requests: true,
      "volume-place": true,
      "volume-limit": true,
      "host-port": true,
      spread: true,
      affinity: true,
      "anti-affinity": true,
      limit: true,
      "min-values": true,
      reservation: true,
      weight: true,
    };
    expect(new Set(ROWS.map(({ kind }) => kind))).toEqual(new Set(Object.keys(kinds)));
  });
});

describe("in random plans too", () => {
  const plants: readonly { readonly planted: string; readonly plant: Row["plant"] }[] = [
    { planted: "a pod forgotten", plant: onFirst(({ pods: keys }) => ({ pods: keys.slice(1) })) },
    { planted: "no type", plant: onFirst(() => ({ instanceTypes: [] })) },
    { planted: "a CPU too many", plant: onFirst(({ requests }) => ({ requests: { ...requests, cpu: (requests.cpu ?? 0) + 1000 } })) },
    { planted: "a taint of nobody's", plant: onFirst(({ taints }) => ({ taints: [...taints, { key: "x", effect: "NoSchedule" }] })) },
    {
      planted: "a DaemonSet that takes everything",
      plant: inProblem(({ daemonSets }) => ({
        daemonSets: [...daemonSets, aDaemonSet({ requests: { cpu: 64 }, tolerations: [{ operator: "Exists" }] })],
      })),
    },
  ];
  test.each(plants)("$planted", ({ plant }) => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        const world = { plan: solve(problem), problem };
        fc.pre(world.plan.newNodes.length > 0);
        const { plan, problem: changed } = { ...world, ...plant(world) };
        expect(faultsOf(plan, changed)).not.toEqual([]);
      }),
      { numRuns: 30 },
    );
  });
});
