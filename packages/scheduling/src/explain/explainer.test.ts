import { describe, expect, test } from "vitest";
import type { Problem } from "../problem.ts";
import { solve } from "../solve/solve.ts";
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
  FIXTURE_TYPES,
  type PodWish,
  type ProblemWish,
  pods,
  zoneSpread,
} from "../testing/builders.ts";
import { edited, editsText } from "./edit.ts";
import { createExplainer, explainPod, type PodExplanation } from "./explainer.ts";

const ZONE = "topology.kubernetes.io/zone";
const ARCH = "kubernetes.io/arch";
const dedicated = { key: "dedicated", value: "db", effect: "NoSchedule" } as const;
const spreadOverZones = zoneSpread({ app: "x" });

type Unschedulable = Extract<PodExplanation, { kind: "unschedulable" }>;

function explained(problem: Problem): Unschedulable {
  const answer = explainPod(problem, problem.pods[0]!.key);
  if (answer?.kind !== "unschedulable") throw new Error(`the pod has a place: ${answer?.kind}`);
  return answer;
}

interface Case {
  readonly name: string;
  readonly problem: ProblemWish;
  readonly stages: readonly string[];
  readonly fix: string | undefined;
}

/** Stages as `name in→out`. The fixture has six types, five of them amd64. */
const cases: readonly Case[] = [
  {
    name: "a pool without types (S-64)",
    problem: { pools: [aPool({ requirements: [{ key: ARCH, operator: "In", values: ["s390x"] }] })] },
    stages: ["node-pool 6→0"],
    fix: `write ${ARCH} In [s390x amd64] instead of ${ARCH} In [s390x] in the requirements of NodePool default`,
  },
  {
    name: "a taint (S-114)",
    problem: { pools: [aPool({ taints: [dedicated] })] },
    stages: ["node-pool 6→6", "taints 6→0"],
    fix: "add a toleration for dedicated=db:NoSchedule",
  },
  {
    name: "a label that no node has",
    problem: { pods: [aPod({ nodeSelector: { team: "a" } })] },
    stages: ["pool-label team 6→0"],
    fix: "remove team from the node selector",
  },
  {
    name: "a mistyped label key (S-42)",
    problem: { pods: [aPod({ nodeSelector: { "topology.kubernetes.io/zoen": "z1" } })] },
    stages: ["pool-label topology.kubernetes.io/zoen 6→0"],
    fix: `write ${ZONE}: z1 in the node selector instead of topology.kubernetes.io/zoen`,
  },
  {
    name: "a mistyped value",
    problem: { pods: [aPod({ nodeSelector: { [ARCH]: "amd46" } })] },
    stages: ["node-pool 6→6", "taints 6→6", `requirement ${ARCH} 6→0`],
    fix: `write ${ARCH}: amd64 in the node selector`,
  },
  {
    name: "a mistyped value in an expression",
    problem: { pods: [aPod({ terms: [[{ key: ARCH, operator: "In", values: ["arm46"] }]] })] },
    stages: ["node-pool 6→6", "taints 6→6", `requirement ${ARCH} 6→0`],
    fix: `write ${ARCH} In [arm64] in the required node affinity`,
  },
  {
    name: "an expression that no pool goes with",
    problem: { pods: [aPod({ terms: [[{ key: "rack", operator: "Exists" }]] })] },
    stages: ["pool-label rack 6→0"],
    fix: "remove the expression on rack from the required node affinity",
  },
  {
    name: "the one value that is there",
    problem: {
      pools: [aPool({ requirements: [{ key: ZONE, operator: "In", values: ["z1"] }] })],
      pods: [aPod({ nodeSelector: { [ZONE]: "eu-9" } })],
    },
    stages: ["node-pool 6→6", "taints 6→6", `requirement ${ZONE} 6→0`],
    fix: `write ${ZONE}: z1 in the node selector`,
  },
  {
    name: "one key after the other narrows, then nothing has room",
    problem: { pods: [aPod({ nodeSelector: { [ARCH]: "amd64", integer: "4" }, requests: { cpu: 5 } })] },
    stages: ["node-pool 6→6", "taints 6→6", `requirement ${ARCH} 6→5`, "requirement integer 5→4", "fit 4→0"],
    fix: "lower the cpu request of the pod from 5 to 3900m",
  },
  {
    name: "too large beside the DaemonSets (S-69)",
    problem: { pods: [aPod({ requests: { cpu: 20 } })], daemonSets: [aDaemonSet({ requests: { cpu: 1 } })] },
    stages: ["node-pool 6→6", "taints 6→6", "fit 6→0"],
    fix: "lower the cpu request of the pod from 20 to 14900m",
  },
  {
    name: "too large only because of the DaemonSets (S-69)",
    problem: { pods: [aPod({ requests: { cpu: "15900m" } })], daemonSets: [aDaemonSet({ requests: { cpu: 1 } })] },
    stages: ["node-pool 6→6", "taints 6→6", "fit 6→1", "daemon-sets 1→0"],
    fix: "lower the cpu request of the pod from 15900m to 14900m",
  },
  {
    name: "no offering there",
    problem: {
      types: [
        aType({
          name: "a",
          cpu: 2,
          memory: "2Gi",
          offerings: [anOffering("spot", "z1", 1, { isAvailable: false }), anOffering("spot", "z2", 1)],
        }),
      ],
      pods: [aPod({ nodeSelector: { [ZONE]: "z1" } })],
    },
    stages: ["node-pool 1→1", "taints 1→1", `requirement ${ZONE} 1→1`, "fit 1→1", "offering 1→0"],
    fix: `remove ${ZONE} from the node selector`,
  },
  {
    name: "a limit (S-161)",
    problem: {
      pools: [aPool({ limits: { cpu: "1" } })],
    },
    stages: ["node-pool 6→6", "taints 6→6", "fit 6→6", "offering 6→6", "limits 6→0"],
    fix: "raise the cpu limit of NodePool default from 1 to 2",
  },
  {
    name: "a limit of nodes",
    problem: { pools: [aPool({ limits: { nodes: "0" } })] },
    stages: ["node-pool 6→6", "taints 6→6", "fit 6→6", "offering 6→6", "limits 6→0"],
    fix: "raise the nodes limit of NodePool default from 0 to 1",
  },
  {
    name: "host ports (S-120)",
    problem: {
      pods: [aPod({ spec: { containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 80 }] }] } })],
      daemonSets: [aDaemonSet({ spec: { containers: [{ name: "d", ports: [{ containerPort: 80, hostPort: 80 }] }] } })],
    },
    stages: ["node-pool 6→6", "taints 6→6", "fit 6→6", "daemon-sets 6→5", "offering 5→5", "host-port 5→0"],
    fix: "do without the host port 80/TCP",
  },
  {
    name: "affinity to pods that are nowhere (S-150)",
    problem: {
      pods: [
        aPod({
          affinity: {
            podAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector: { matchLabels: { app: "none" } } }],
            },
          },
        }),
      ],
    },
    stages: ["node-pool 6→6", "taints 6→6", "fit 6→6", "offering 6→6", `pod-affinity ${ZONE} 6→0`],
    fix: `make a preference of the required pod affinity over ${ZONE}`,
  },
  {
    name: "minValues (S-173)",
    problem: {
      pools: [aPool({ requirements: [{ key: "node.kubernetes.io/instance-type", operator: "Exists", minValues: 3 }] })],
      pods: [aPod({ requests: { cpu: 10 } })],
    },
    stages: ["node-pool 6→6", "taints 6→6", "fit 6→1", "offering 1→1", "min-values 1→0"],
    fix: "remove minValues for node.kubernetes.io/instance-type in the requirements of NodePool default",
  },
  {
    name: "a full reservation that nobody waits for (V-62)",
    problem: {
      types: [
        aType({
          name: "a",
          cpu: 2,
          memory: "2Gi",
          offerings: [aReservation({ id: "r", slots: 0, zone: "z1" }), anOffering("spot", "z1", 1)],
        }),
      ],
      pods: [aPod({ nodeSelector: { "karpenter.sh/capacity-type": "reserved" } })],
      options: { reservedCapacity: "fallback" },
    },
    stages: [
      "node-pool 1→1",
      "taints 1→1",
      "requirement karpenter.sh/capacity-type 1→1",
      "fit 1→1",
      "offering 1→1",
      "reserved-capacity 1→0",
    ],
    fix: "remove karpenter.sh/capacity-type from the node selector",
  },
  {
    name: "two edits where none helps alone",
    problem: { pools: [aPool({ taints: [dedicated] })], pods: [aPod({ requests: { cpu: 20 } })] },
    stages: ["node-pool 6→6", "taints 6→0"],
    fix: "add a toleration for dedicated=db:NoSchedule, and lower the cpu request of the pod from 20 to 15900m",
  },
];

describe.each(cases)("$name", ({ problem, stages, fix }) => {
  const given = aProblem(problem);
  const answer = explained(given);

  test("the funnel ends where it should", () => {
    const told = answer.funnel[0]!.stages.map(({ stage, key, in: before, out }) => `${stage}${key ? ` ${key}` : ""} ${before}→${out}`);
    expect(told).toEqual(stages);
    expect(answer.funnel[0]!.stages.at(-1)!.reason).not.toBe("");
    expect(answer.nearest?.nodePool).toBe("default");
  });

  test("the edit gives the pod a place", () => {
    expect(answer.fix && editsText(answer.fix.edits)).toBe(fix);
    const mine = new Set(answer.alike);
    if (answer.fix !== undefined) expect(solve(edited(given, answer.fix.edits, mine)).unschedulable).toEqual([]);
  });
});

test("the nearest miss is the pool in which the pod comes furthest", () => {
  const tainted = aPool({ name: "tainted", weight: 9, taints: [dedicated] });
  const { nearest, funnel } = explained(aProblem({ pools: [tainted, aPool({ name: "open" })], pods: [aPod({ requests: { cpu: 99 } })] }));
  expect(funnel.map(({ nodePool }) => nodePool)).toEqual(["tainted", "open"]);
  expect(nearest).toMatchObject({ nodePool: "open", stage: "fit", in: 6, out: 0 });
});

test("without pools there is no funnel, and nothing to edit", () => {
  expect(explained(aProblem({ pools: [] }))).toMatchObject({ funnel: [], nearest: undefined, fix: undefined });
});

test("500 equal pods are one answer, whose edit places them all", () => {
  const shape = aPod({ requests: { cpu: 3 } }).shape;
  const many = pods(500).map((pod) => ({ ...pod, shape }));
  const given = aProblem({ pods: many, pools: [aPool({ limits: { cpu: "0" } })], types: FIXTURE_TYPES.slice(0, 1) });
  const answer = explained(given);
  expect(answer.alike).toHaveLength(500);
  expect(answer.fix?.edits).toMatchObject([{ kind: "raise-limit", resource: "cpu", to: 500 * 4 * 1000 }]);
  const explainer = createExplainer(given);
  expect(explainer.fix(many[0]!.key)).toBe(explainer.fix(many[499]!.key));
});

test("a limit is raised no further than it takes, where that is cheap to find out", () => {
  const shape = aPod({ requests: { cpu: 1 } }).shape;
  const many = pods(6).map((pod) => ({ ...pod, shape }));
  const answer = explained(aProblem({ pods: many, pools: [aPool({ limits: { cpu: "0" } })], types: FIXTURE_TYPES.slice(0, 1) }));
  expect(answer.fix?.edits).toMatchObject([{ kind: "raise-limit", resource: "cpu", to: 2 * 4 * 1000 }]);
});

test("an edit that takes the place of another pod is no fix, and what gives both a place is one", () => {
  const taken = aPod({ name: "b", requests: { cpu: 3 } });
  const given = aProblem({
    pods: [aPod({ name: "a", requests: { cpu: 3 }, nodeSelector: { rack: "1" } }), taken],
    pools: [aPool({ limits: { nodes: "1" } })],
    types: FIXTURE_TYPES.slice(0, 1),
  });
  const { fix } = explained(given);
  expect(fix && editsText(fix.edits)).toBe("remove rack from the node selector, and raise the nodes limit of NodePool default from 1 to 2");
});

test("a spread that waits for pods is told with the solver's reason", () => {
  const pod = aPod({ labels: { app: "x" }, spec: { topologySpreadConstraints: [spreadOverZones] } });
  const node = { name: "n", labels: { [ZONE]: "z1" } };
  const answer = explained(
    aProblem({
      pods: [pod],
      nodes: [],
      boundPods: [{ shape: aPod({ labels: { app: "x" } }).shape, site: aNode(node), count: 3, endingCount: 0 }],
      pools: [aPool({ requirements: [{ key: ZONE, operator: "In", values: ["z1"] }] }), aPool({ name: "other", taints: [dedicated] })],
    }),
  );
  expect(answer.funnel.find(({ nodePool }) => nodePool === "default")!.stages.at(-1)).toMatchObject({ stage: "topology-spread", out: 0 });
});

describe("affinity to pods that are in another namespace (S-137)", () => {
  const cache = {
    shape: aPod({ namespace: "other", labels: { app: "cache" } }).shape,
    site: aNode({ name: "n", labels: { [ZONE]: "z1" } }),
    count: 1,
    endingCount: 0,
  };
  const beside = (scope: object) => ({
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector: { matchLabels: { app: "cache" } }, ...scope }],
    },
  });
  test.each([
    { name: "none is named", scope: {}, fix: "write namespaces: [other] in" },
    {
      name: "the selector has another value",
      scope: { namespaceSelector: { matchLabels: { team: "x" } } },
      fix: "write team: y in the namespaceSelector of",
    },
    {
      name: "the selector selects none",
      scope: { namespaceSelector: { matchLabels: { owner: "x" } } },
      fix: "write namespaces: [other] instead of the namespaceSelector in",
    },
    { name: "another one is named", scope: { namespaces: ["third"] }, fix: "write namespaces: [third other] in" },
    { name: "the selector selects it", scope: { namespaceSelector: { matchLabels: { team: "y" } } }, fix: undefined },
  ])("$name", ({ scope, fix }) => {
    const namespaces = new Map([["other", { team: "y" }]]);
    const given = { ...aProblem({ pods: [aPod({ affinity: beside(scope) })], boundPods: [cache] }), namespaces };
    if (fix === undefined) expect(solve(given).unschedulable).toEqual([]);
    else expect(editsText(explained(given).fix!.edits)).toBe(`${fix} the required pod affinity over ${ZONE}`);
  });
});

test("a placed pod: its node, and what the next cheaper types lacked", () => {
  const answer = explainPod(aProblem({ pods: [aPod({ name: "p", requests: { cpu: 3 } })] }), "default/p");
  if (answer?.kind !== "new-node") throw new Error("no new node");
  expect(answer.node.name).toBe("default-1");
  expect(answer.cheaper).toEqual({
    count: 1,
    types: [
      {
        instanceType: "small",
        pricePerHour: expect.any(Number),
        lacked: "too small for its pod: cpu 3 needed, 1900m free after DaemonSets",
      },
    ],
    groups: [{ lacked: "too little cpu for its pod", count: 1, instanceTypes: ["small"] }],
  });
});

test("a placed pod on a node that exists, a node of the plan, and what is not there", () => {
  const explainer = createExplainer(
    aProblem({ nodes: [aNode({ name: "n" })], pods: [aPod({ name: "p" }), aPod({ name: "q", nodeSelector: { [ARCH]: "arm64" } })] }),
  );
  expect(explainer.pod("default/p")).toEqual({
    kind: "existing-node",
    node: "n",
    existingNodes: [],
    plannedNodes: [],
    ownNode: { nodePool: "default", instanceType: "small", pricePerHour: expect.any(Number) },
    givenUp: 0,
  });
  expect(explainer.node("default-1")?.cheaper.types[0]?.lacked).toContain("its pods need kubernetes.io/arch In [arm64]");
  expect(explainer.pod("default/x")).toBeUndefined();
  expect(explainer.node("x")).toBeUndefined();
});

test("nodes are told by the plan's names, also after a claim was dropped (S-178)", () => {
  const types = [1, 2].map((n) => aType({ name: `t${n}`, cpu: 4 * n, memory: "8Gi", offerings: [anOffering("on-demand", "z1", n)] }));
  // Two types hold what asks for 3 CPU, one what asks for 6: where one type is listed, a claim for the first is opened and dropped.
  const strict = aPool({
    name: "strict",
    weight: 10,
    requirements: [{ key: "node.kubernetes.io/instance-type", operator: "Exists", minValues: 2 }],
  });
  const small = aPod({ name: "small", requests: { cpu: 3 } });
  const large = aPod({ name: "large", requests: { cpu: 6 } });
  const asking = aPod({ name: "asking", nodeSelector: { rack: "1" } });
  const given = aProblem({ types, pools: [strict, aPool()], pods: [asking, small, large], options: { instanceTypesMax: 1 } });
  const explainer = createExplainer(given);
  expect(explainer.plan.newNodes.map(({ name, pods: keys }) => [name, keys])).toEqual([["default-1", [large.key]]]);
  const answer = explainer.pod(asking.key);
  const named = answer?.kind === "unschedulable" ? answer.plannedNodes.flatMap(({ names }) => names) : [];
  expect(named.sort()).toEqual(["a node of strict that the plan drops", "default-1"]);
});

test("what two spreads leave together is told of the second, and either may give way (S-145)", () => {
  const types = [aType({ name: "a", cpu: 4, memory: "8Gi", offerings: [anOffering("on-demand", "z1", 1), anOffering("spot", "z2", 1)] })];
  const over = (topologyKey: string) => ({ ...spreadOverZones, topologyKey });
  const wish = { labels: { app: "x" }, spec: { topologySpreadConstraints: [over(ZONE), over("karpenter.sh/capacity-type")] } };
  const running = { name: "n", labels: { [ZONE]: "z1", "karpenter.sh/capacity-type": "spot" } };
  const answer = explained(aProblem({ types, pods: [aPod(wish)], boundPods: [bound({ labels: { app: "x" } }, running)] }));
  expect(answer.funnel[0]!.stages.at(-1)).toMatchObject({ stage: "topology-spread", in: 1, out: 0 });
  expect(answer.fix && editsText(answer.fix.edits)).toBe(
    `write maxSkew: 2 instead of 1 in the topology spread over karpenter.sh/capacity-type`,
  );
});

test.each<{ readonly requests: NonNullable<PodWish["requests"]>; readonly fix: string }>([
  { requests: { cpu: 1, "nvidia.com/gpus": 1 }, fix: "ask for nvidia.com/gpu instead of nvidia.com/gpus" },
  { requests: { cpu: 1000 }, fix: "lower the cpu request of the pod from 1k to 1" },
  { requests: { cpu: 50 }, fix: "lower the cpu request of the pod from 50 to 3900m" },
])("requests of $requests: $fix", ({ requests, fix }) => {
  const types = [
    aType({ name: "g", cpu: 4, memory: "8Gi", resources: { "nvidia.com/gpu": 1 }, offerings: [anOffering("on-demand", "z1", 1)] }),
  ];
  const answer = explained(aProblem({ types, pods: [aPod({ requests })] }));
  expect(answer.fix && editsText(answer.fix.edits)).toBe(fix);
});
