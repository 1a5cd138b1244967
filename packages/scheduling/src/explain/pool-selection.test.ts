/** Which pool a pod means, and what of it may be changed: pools that it selects come before others, and its images stay what they are. */
import { expect, test } from "vitest";
import type { Problem } from "../problem.ts";
import { solve } from "../solve/solve.ts";
import { aDaemonSet, aPod, aPool, aProblem, aType, FIXTURE_TYPES, type PodWish, type ProblemWish } from "../testing/builders.ts";
import { edited, editsText } from "./edit.ts";
import { createExplainer, explainPod, type PodExplanation } from "./explainer.ts";

const ARCH = "kubernetes.io/arch";
const dedicated = { key: "dedicated", value: "db", effect: "NoSchedule" } as const;

type Unschedulable = Extract<PodExplanation, { kind: "unschedulable" }>;

function explained(problem: Problem): Unschedulable {
  const answer = explainPod(problem, problem.pods[0]!.key);
  if (answer?.kind !== "unschedulable") throw new Error(`the pod has a place: ${answer?.kind}`);
  return answer;
}

const cases: readonly {
  readonly name: string;
  readonly problem: ProblemWish;
  readonly stages: readonly string[];
  readonly fix: string | undefined;
}[] = [
  {
    name: "the label of Karpenter's earlier API for the pool, with a mistyped name",
    problem: { pods: [aPod({ nodeSelector: { "karpenter.sh/provisioner-name": "defualt" } })] },
    stages: ["pool-label karpenter.sh/provisioner-name 6→0"],
    fix: "write karpenter.sh/nodepool: default in the node selector instead of karpenter.sh/provisioner-name",
  },
  {
    name: "the capacity type as EKS' own node groups call it",
    problem: { pods: [aPod({ terms: [[{ key: "eks.amazonaws.com/capacityType", operator: "In", values: ["ON_DEMAND", "SPOT"] }]] })] },
    stages: ["pool-label eks.amazonaws.com/capacityType 6→0"],
    fix: "write karpenter.sh/capacity-type In [on-demand spot] in the required node affinity",
  },
  {
    name: "an architecture that two requirements of the pool leave out: the pod's images stay what they are",
    problem: {
      pools: [
        aPool({
          requirements: [
            { key: ARCH, operator: "In", values: ["amd64"] },
            { key: "integer", operator: "In", values: ["4"] },
          ],
        }),
      ],
      pods: [aPod({ nodeSelector: { [ARCH]: "arm64" } })],
    },
    stages: ["node-pool 6→4", "taints 4→4", `requirement ${ARCH} 4→0`],
    fix: `write ${ARCH} In [amd64 arm64] instead of ${ARCH} In [amd64] in the requirements of NodePool default, and write integer In [4 16] instead of integer In [4] in the requirements of NodePool default`,
  },
  {
    name: "an architecture that nobody sells",
    problem: { pods: [aPod({ nodeSelector: { [ARCH]: "s390x" } })] },
    stages: ["node-pool 6→6", "taints 6→6", `requirement ${ARCH} 6→0`],
    fix: undefined,
  },
];

test.each(cases)("$name", ({ problem, stages, fix }) => {
  const given = aProblem(problem);
  const answer = explained(given);
  const told = answer.funnel[0]!.stages.map(({ stage, key, in: before, out }) => `${stage}${key ? ` ${key}` : ""} ${before}→${out}`);
  expect(told).toEqual(stages);
  expect(answer.fix && editsText(answer.fix.edits)).toBe(fix);
  if (answer.fix !== undefined) expect(solve(edited(given, answer.fix.edits, new Set(answer.alike))).unschedulable).toEqual([]);
});

test("a pool that the pod does not select is no near miss, whatever the pod lacks in the one that it selects", () => {
  const team = (name: string, wish: object) => aPool({ name, labels: { team: name }, ...wish });
  const given = aProblem({
    pools: [aPool({ name: "other" }), team("a", { taints: [dedicated] }), team("b", {})],
    pods: [aPod({ nodeSelector: { team: "a" } })],
  });
  const answer = explained(given);
  expect(answer.nearest).toMatchObject({ nodePool: "a", stage: "taints" });
  const ends = Object.fromEntries(answer.funnel.map(({ nodePool, stages }) => [nodePool, stages.at(-1)!.stage]));
  expect(ends).toEqual({ a: "taints", b: "pool-label", other: "pool-label" });
  expect(editsText(answer.fix?.edits ?? [])).toBe("add a toleration for dedicated=db:NoSchedule");
});

test("a pool without types that the pod selects by its name is nearer than one that it does not select", () => {
  const empty = aPool({ name: "empty", requirements: [{ key: ARCH, operator: "In", values: ["s390x"] }] });
  const given = aProblem({
    pools: [aPool({ name: "other" }), empty],
    pods: [aPod({ nodeSelector: { "karpenter.sh/nodepool": "empty" } })],
  });
  expect(explained(given).nearest).toMatchObject({ nodePool: "empty", stage: "node-pool" });
});

test("a pool with another value of the label that a pod selects pools by is nearer than one without it", () => {
  const pools = [aPool({ name: "other" }), aPool({ name: "a", labels: { team: "a" } })];
  const { nearest } = explained(aProblem({ pools, pods: [aPod({ nodeSelector: { team: "b" } })] }));
  expect(nearest).toMatchObject({ nodePool: "a", stage: "pool-label", key: "team", offered: "team In [a]" });
});

const port = { containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 80 }] }] };
const devices = [
  ...FIXTURE_TYPES,
  aType({ name: "device", cpu: 4, memory: "8Gi", labels: { kind: "device" }, resources: { "vendor.com/device": 1 } }),
];
const ofDevices = { requirements: [{ key: "node.kubernetes.io/instance-type", operator: "In", values: ["device"] }] } as const;
const others = { requirements: [{ key: "node.kubernetes.io/instance-type", operator: "NotIn", values: ["device"] }] } as const;
const TOLERATE = "add a toleration for dedicated=db:NoSchedule";

test.each<{ readonly name: string; readonly open: object; readonly pod: PodWish; readonly more?: ProblemWish; readonly fix: string }>([
  { name: "the limit of its own pool", open: { limits: { cpu: "1" } }, pod: {}, fix: "raise the cpu limit of NodePool open from 1 to 2" },
  {
    name: "a port of the host",
    open: {},
    pod: { spec: port },
    more: { daemonSets: [aDaemonSet({ spec: { ...port, nodeSelector: { "karpenter.sh/nodepool": "open" } } })] },
    fix: "do without the host port 80/TCP",
  },
  { name: "the only pool with its device is tainted", open: others, pod: { requests: { "vendor.com/device": 1 } }, fix: TOLERATE },
  {
    name: "it selects the tainted pool",
    open: { limits: { cpu: "1" } },
    pod: { nodeSelector: { "karpenter.sh/nodepool": "dedicated" } },
    fix: TOLERATE,
  },
  { name: "every pool is tainted", open: { taints: [dedicated], limits: { cpu: "1" } }, pod: {}, fix: TOLERATE },
])("a toleration is for pods that are meant for tainted nodes, others keep away (S-114): $name", ({ open, pod, more, fix }) => {
  const tainted = aPool({ name: "dedicated", taints: [dedicated], ...(open === others && ofDevices) });
  const given = aProblem({ types: devices, pools: [aPool({ name: "open", weight: 10, ...open }), tainted], pods: [aPod(pod)], ...more });
  const answer = explained(given);
  expect(editsText(answer.fix?.edits ?? [])).toBe(fix);
});

test("a limit that keeps pods of several workloads out is raised for all that come before (S-161)", () => {
  const pods = ["a", "b", "c"].flatMap((app) =>
    [1, 2].map((number) => aPod({ name: `${app}-${number}`, labels: { app }, requests: { cpu: 1 } })),
  );
  const given = aProblem({ pools: [aPool({ limits: { cpu: "2" } })], pods });
  const workloadOf = (key: string) => key.split("-")[0];
  const explainer = createExplainer(given, { workloadOf });
  const last = explainer.plan.unschedulable.at(-1)!.pod;
  const mine = new Set(pods.map(({ key }) => key).filter((key) => workloadOf(key) === workloadOf(last)));
  const { edits } = explainer.fix(last)!;
  expect(editsText(edits)).toMatch(/^raise the cpu limit of NodePool default from 2 to \d+$/);
  const left = solve(edited(given, edits, mine)).unschedulable.map(({ pod }) => pod);
  expect(left.filter((pod) => mine.has(pod))).toEqual([]);
});
