/** Constraints between pods, host ports and minValues in whole solves. The chapter's scenarios: scenarios/. */
import type { LabelSelector, PodAffinityTerm, TopologySpreadConstraint } from "@joinery/api";
import { describe, expect, test } from "vitest";
import type { Plan } from "../plan.ts";
import { sentences } from "../sentence.ts";
import {
  aDaemonSet,
  aNode,
  anOffering,
  aPod,
  aPool,
  aProblem,
  aType,
  bound,
  type PodWish,
  type PoolWish,
  type ProblemWish,
  pods,
} from "../testing/builders.ts";
import { solve } from "./solve.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";
const CAPACITY_TYPE = "karpenter.sh/capacity-type";
const APP = { app: "x" };

const planOf = (wish: ProblemWish) => solve(aProblem({ ...wish, options: { preferencePolicy: "Respect", ...wish.options } }));
const spread = (topologyKey: string, more: Partial<TopologySpreadConstraint> = {}): PodWish => ({
  labels: APP,
  spec: {
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey, whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: APP }, ...more },
    ],
  },
});
const term = (topologyKey: string, matchLabels: Record<string, string> = APP, more: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
  topologyKey,
  labelSelector: { matchLabels },
  ...more,
});
const required = (...terms: PodAffinityTerm[]) => ({ requiredDuringSchedulingIgnoredDuringExecution: terms });
const preferred = (...terms: PodAffinityTerm[]) => ({
  preferredDuringSchedulingIgnoredDuringExecution: terms.map((podAffinityTerm) => ({ weight: 1, podAffinityTerm })),
});
const zonesOf = (plan: Plan) => {
  const counts = new Map<string, number>();
  for (const node of plan.newNodes) {
    const zones = node.requirements.find(({ key }) => key === ZONE)?.values?.join("|") ?? "any";
    counts.set(zones, (counts.get(zones) ?? 0) + node.pods.length);
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
};
const countsOf = (plan: Plan) => zonesOf(plan).map(([, count]) => count);
const placed = (plan: Plan) => [...plan.newNodes, ...plan.existingNodes].reduce((sum, node) => sum + node.pods.length, 0);
const zones = (...values: string[]) => aPool({ requirements: [{ key: ZONE, operator: "In", values }] });

describe("topology spread", () => {
  describe("S-145: of domains that are equally good one is taken that is to be had", () => {
    const typeIn = (zone: string, cpu: number) =>
      aType({ name: `${zone}-${cpu}`, cpu, memory: "16Gi", offerings: [anOffering("spot", zone, cpu)] });
    const once = (wish: ProblemWish) => zonesOf(planOf({ pods: [aPod(spread(ZONE))], ...wish }));

    test("no type is offered in the first", () => {
      expect(once({ pools: [zones("a-zone-of-old", "z2")] })).toEqual([["z2", 1]]);
    });
    test("no type with room is offered in the first", () => {
      const types = [typeIn("z1", 2), typeIn("z2", 8)];
      expect(once({ pods: [aPod({ ...spread(ZONE), requests: { cpu: "5" } })], types })).toEqual([["z2", 1]]);
    });
    test("no two types are offered in the first, as minValues demands", () => {
      const types = [typeIn("z1", 2), typeIn("z2", 2), typeIn("z2", 4), { ...typeIn("z1", 8), offerings: [] }];
      const pools = [aPool({ requirements: [{ key: "node.kubernetes.io/instance-type", operator: "Exists", minValues: 2 }] })];
      expect(once({ types, pools })).toEqual([["z2", 1]]);
      const like = aPod({ labels: APP, spec: { affinity: { podAffinity: required(term(ZONE)) } } });
      expect(once({ types, pools, pods: [like] })).toEqual([["z2", 1]]);
      const apart = aPod({ labels: APP, spec: { affinity: { podAntiAffinity: required(term(ZONE)) } } });
      const zonal = [aPool({ requirements: [{ key: ZONE, operator: "Exists", minValues: 2 }] })];
      const anywhere = [
        aType({ name: "t", cpu: 2, memory: "16Gi", offerings: [anOffering("spot", "z1", 1), anOffering("spot", "z2", 1)] }),
      ];
      expect(once({ types: anywhere, pools: zonal, pods: [apart] })).toEqual([["z1|z2", 1]]);
    });
    test("the pod's affinity leaves another one only", () => {
      const there = { name: "n", labels: { [ZONE]: "z2" } };
      const pod = aPod({ labels: APP, spec: { ...spread(ZONE).spec, affinity: { podAffinity: required(term(ZONE, { app: "y" })) } } });
      expect(once({ pods: [pod], boundPods: [bound({ labels: { app: "y" } }, there)] })).toEqual([["z2", 1]]);
    });
    test("two spreads over one label meet where both are kept", () => {
      const second = spread(ZONE, { maxSkew: 2, labelSelector: { matchLabels: { app: "y" } }, whenUnsatisfiable: "ScheduleAnyway" });
      const constraints = [...spread(ZONE).spec!.topologySpreadConstraints!, ...second.spec!.topologySpreadConstraints!];
      const there = (zone: string, app: string) => bound({ labels: { app } }, { name: zone, labels: { [ZONE]: zone } });
      const boundPods = [there("z1", "y"), there("z2", "x"), there("z3", "x")];
      expect(once({ pods: [aPod({ labels: APP, spec: { topologySpreadConstraints: constraints } })], boundPods })).toEqual([["z1", 1]]);
    });
    test("S-141: a zone that only a node has keeps nothing undecided", () => {
      const loner = aPod({ name: "loner", spec: { affinity: { podAntiAffinity: required(term(ZONE)) } } });
      const other = aPod({ name: "other", labels: APP, requests: { memory: "1Gi" } });
      const full = aNode({ name: "full", labels: { [ZONE]: "z2" }, allocatable: {} });
      const plan = planOf({ pods: [loner, other], types: [typeIn("z3", 2)], nodes: [full] });
      expect(zonesOf(plan)).toEqual([["z3", 1]]);
    });
    test("S-141: nor does a zone whose types cannot hold their DaemonSets, on a claim that is open already", () => {
      const tight = { ...typeIn("z2", 2), capacity: { cpu: 2000, memory: 2 ** 30, pods: 1 } };
      const loner: PodWish = { name: "b", spec: { affinity: { podAntiAffinity: required(term(ZONE)) } } };
      const daemonSets = [aDaemonSet(), aDaemonSet()];
      const plan = planOf({
        types: [typeIn("z1", 2), tight],
        daemonSets,
        pods: [aPod({ name: "a", requests: { cpu: "1" } }), aPod(loner)],
      });
      expect(zonesOf(plan)).toEqual([["z1", 2]]);
    });
    test("S-141: nor what another constraint closes that is asked later", () => {
      const apart = (key: string): PodWish["spec"] => ({ affinity: { podAntiAffinity: required(term(key)) } });
      const { newNodes } = planOf({
        types: [
          aType({ name: "one", cpu: 4, memory: "16Gi", arch: "amd64", offerings: [anOffering("spot", "z1", 1)] }),
          aType({ name: "other", cpu: 4, memory: "16Gi", arch: "arm64", offerings: [anOffering("spot", "z3", 1)] }),
        ],
        pods: [
          aPod({ name: "in-z1", requests: { cpu: "3" }, spec: { ...apart(ZONE), nodeSelector: { [ZONE]: "z1" } } }),
          aPod({ name: "left-over", requests: { cpu: "5" }, spec: apart("kubernetes.io/arch") }),
          aPod({ name: "kept", labels: APP, requests: { cpu: "2" } }),
        ],
      });
      const node = newNodes.find(({ pods: [pod] }) => pod === "default/kept");
      expect(node?.requirements.find(({ key }) => key === "kubernetes.io/arch")?.values).toEqual(["arm64"]);
    });
    test("S-150: the first of pods that want each other begins where it can", () => {
      const pod = aPod({ labels: APP, spec: { affinity: { podAffinity: required(term(ZONE)) } } });
      expect(once({ pods: [pod], pools: [zones("a-zone-of-old", "z3")] })).toEqual([["z3", 1]]);
    });
  });

  test("S-144: a zone out of reach caps the others", () => {
    const there = aNode({ name: "n", labels: { [ZONE]: "z3" }, allocatable: { cpu: 0, pods: 0 } });
    const plan = planOf({
      pools: [zones("z1", "z2")],
      nodes: [there],
      boundPods: [bound({ labels: APP }, { name: "n", labels: { [ZONE]: "z3" } })],
      pods: pods(6, { ...spread(ZONE), requests: { cpu: "1100m" } }),
    });
    expect(zonesOf(plan)).toEqual([
      ["z1", 2],
      ["z2", 2],
    ]);
    expect(plan.unschedulable).toHaveLength(2);
    expect(plan.unschedulable[0]!.reasons).toEqual([
      {
        kind: "topology-spread",
        nodePool: "default",
        key: ZONE,
        counts: { z1: 2, z2: 2, z3: 1 },
        podDomains: `${ZONE} Exists`,
        nodeDomains: `${ZONE} In [z1 z2]`,
      },
    ]);
    expect(sentences(plan.unschedulable[0]!.reasons)).toBe(
      `unsatisfiable topology constraint for topology spread (key=${ZONE}, counts=[z1:2 z2:2 z3:1], podDomains=${ZONE} Exists, nodeDomains=${ZONE} In [z1 z2])`,
    );
  });

  test("S-144: minDomains", () => {
    const few = planOf({ pools: [zones("z1", "z2")], pods: pods(3, spread(ZONE, { minDomains: 3 })) });
    expect([countsOf(few), few.unschedulable.length]).toEqual([[1, 1], 1]);
    expect(countsOf(planOf({ pods: pods(11, spread(ZONE, { minDomains: 2 })) })).sort()).toEqual([3, 4, 4]);
  });

  test.each([
    { policy: "Ignore" as const, scheduled: 1 },
    { policy: "Honor" as const, scheduled: 2 },
  ])("S-132: nodeTaintsPolicy $policy", ({ policy, scheduled }) => {
    const pool = (name: string, value: string, isTainted: boolean) =>
      aPool({
        name,
        requirements: [{ key: "team", operator: "In", values: [value] }],
        ...(isTainted && { taints: [{ key: "t", effect: "NoSchedule" }] }),
      });
    const plan = planOf({
      pools: [pool("a", "foo", false), pool("b", "bar", true)],
      pods: pods(2, spread("team", { nodeTaintsPolicy: policy })),
    });
    expect(placed(plan)).toBe(scheduled);
    expect(plan.newNodes.every(({ labels }) => labels.team === "foo")).toBe(true);
  });

  test.each([
    { policy: "Ignore" as const, scheduled: 1 },
    { policy: "Honor" as const, scheduled: 5 },
  ])("S-139: nodeAffinityPolicy $policy", ({ policy, scheduled }) => {
    const node = (name: string, value: string) => aNode({ name, labels: { team: value, size: "no" }, allocatable: { cpu: 0, pods: 0 } });
    const plan = planOf({
      nodes: [node("n1", "foo"), node("n2", "bar")],
      pools: [
        aPool({
          requirements: [
            { key: "team", operator: "In", values: ["baz"] },
            { key: "kind", operator: "In", values: ["yes"] },
          ],
        }),
      ],
      pods: pods(5, { ...spread("team", { nodeAffinityPolicy: policy }), nodeSelector: { kind: "yes" } }),
    });
    expect(placed(plan)).toBe(scheduled);
  });

  test("S-135: a key that nobody has", () => {
    const plan = planOf({ pods: [aPod(spread("unknown")), aPod()] });
    expect([placed(plan), plan.unschedulable.length]).toEqual([1, 1]);
  });

  test("S-137: without a selector a pod does not count itself", () => {
    const nobody = { labelSelector: undefined as unknown as LabelSelector };
    expect(planOf({ pods: pods(2, spread(ZONE, nobody)) }).newNodes).toHaveLength(1);
  });

  test("S-147: a pod that is not selected never raises the counts", () => {
    expect(planOf({ pods: pods(5, { ...spread(ZONE), labels: { app: "y" } }) }).newNodes).toHaveLength(1);
  });

  test("S-148: ScheduleAnyway is hard until it is given up", () => {
    const plan = planOf({
      pools: [aPool({ requirements: [{ key: CAPACITY_TYPE, operator: "In", values: ["on-demand"] }] })],
      nodes: [aNode({ name: "n", labels: { [CAPACITY_TYPE]: "spot" }, allocatable: { cpu: 0, pods: 0 } })],
      boundPods: [bound({ labels: APP }, { name: "n", labels: { [CAPACITY_TYPE]: "spot" } })],
      pods: pods(5, spread(CAPACITY_TYPE, { whenUnsatisfiable: "ScheduleAnyway" })),
    });
    expect(placed(plan)).toBe(5);
  });

  test("S-113: a preferred zone does not narrow the spread", () => {
    const nodeAffinity = {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: ZONE, operator: "In" as const, values: ["z1", "z2"] }] } },
      ],
    };
    expect(countsOf(planOf({ pods: pods(6, { ...spread(ZONE), affinity: { nodeAffinity } }) }))).toEqual([2, 2, 2]);
  });
});

describe("pod affinity", () => {
  test("S-150: pods that want each other start in one zone, or in each that they are bound to", () => {
    const wish: PodWish = { labels: APP, affinity: { podAffinity: required(term(ZONE)) } };
    expect(planOf({ pods: pods(3, wish) }).newNodes).toHaveLength(1);
    const pinned = ["z1", "z2"].map((zone) => aPod({ ...wish, nodeSelector: { [ZONE]: zone } }));
    expect(planOf({ pods: pinned }).newNodes).toHaveLength(2);
  });

  test.each([
    { scope: {}, scheduled: 0 },
    { scope: { namespaces: ["other"] }, scheduled: 1 },
    { scope: { namespaceSelector: {} }, scheduled: 1 },
    { scope: { namespaceSelector: { matchLabels: { kind: "b" } } }, scheduled: 1 },
    { scope: { namespaceSelector: { matchLabels: { kind: "c" } } }, scheduled: 0 },
  ])("S-156: target elsewhere, $scope", ({ scope, scheduled }) => {
    const plan = planOf({
      namespaces: new Map([["other", { kind: "b" }]]),
      boundPods: [bound({ labels: APP, namespace: "other" }, { name: "n", labels: { [ZONE]: "z1" } })],
      pods: [aPod({ affinity: { podAffinity: required(term(ZONE, APP, scope)) } })],
    });
    expect(placed(plan)).toBe(scheduled);
  });
});

describe("S-141: company waits for the next solve only while there is a choice", () => {
  const typeIn = (name: string, cpu: number, ...places: (readonly [string, string])[]) =>
    aType({ name, cpu, memory: "16Gi", offerings: places.map(([capacityType, zone]) => anOffering(capacityType, zone, cpu)) });
  const follows = (key: string): PodWish => ({ name: "follower", affinity: { podAffinity: required(term(key)) } });
  const both: (readonly [string, string])[] = [
    ["spot", "z1"],
    ["spot", "z2"],
  ];
  test.each<{ what: string; key: string; types: ProblemWish["types"]; leader?: PodWish; pool?: PoolWish; isPlaced: boolean }>([
    { what: "one zone is offered", key: ZONE, types: [typeIn("a", 4, ["spot", "z1"])], isPlaced: true },
    { what: "two zones are", key: ZONE, types: [typeIn("a", 4, ...both)], isPlaced: false },
    {
      what: "one zone is offered of the capacity type",
      key: ZONE,
      types: [typeIn("a", 4, ["spot", "z1"], ["on-demand", "z2"])],
      leader: { nodeSelector: { [CAPACITY_TYPE]: "spot" } },
      isPlaced: true,
    },
    { what: "one capacity type is offered", key: CAPACITY_TYPE, types: [typeIn("a", 4, ...both)], isPlaced: true },
    {
      what: "one zone has a type with room",
      key: ZONE,
      types: [typeIn("a", 2, ...both), typeIn("b", 8, ["spot", "z2"])],
      leader: { requests: { cpu: "6" } },
      isPlaced: true,
    },
    { what: "all types have one label", key: "integer", types: [typeIn("a", 4, ...both), typeIn("b", 4, ...both)], isPlaced: true },
    {
      what: "one type may lack the label",
      key: "special",
      types: [aType({ name: "a", cpu: 8, memory: "16Gi" }), typeIn("b", 4, ...both)],
      isPlaced: false,
    },
    {
      what: "minValues counts zones",
      key: ZONE,
      types: [typeIn("a", 4, ["spot", "z1"]), { ...typeIn("b", 4, ...both), offerings: [] }],
      pool: { requirements: [{ key: ZONE, operator: "Exists", minValues: 1 }] },
      isPlaced: false,
    },
  ])("$what: $isPlaced", ({ key, types, leader, pool, isPlaced }) => {
    const plan = planOf({
      types: types!,
      pools: [aPool(pool)],
      pods: [aPod({ name: "leader", labels: APP, ...leader }), aPod(follows(key))],
    });
    expect(plan.unschedulable.map(({ pod }) => pod)).toEqual(isPlaced ? [] : ["default/follower"]);
    expect(plan.newNodes[0]!.requirements.find((item) => item.key === key)?.values?.length === 1).toBe(isPlaced);
  });

  test("what becomes the only one with a later pod", () => {
    const types = [typeIn("a", 4, ...both), typeIn("b", 8, ["spot", "z2"])];
    const pods = [
      aPod({ name: "leader", labels: APP, requests: { cpu: "3" } }),
      aPod({ name: "more", requests: { cpu: "2" } }),
      aPod(follows(ZONE)),
    ];
    expect(zonesOf(planOf({ types, pods }))).toEqual([["z2", 3]]);
  });
});

describe("pod anti-affinity", () => {
  test.each([
    { side: "being placed", isBound: false },
    { side: "bound", isBound: true },
  ])("S-153: whoever keeps others away is $side", ({ isBound }) => {
    const guard = (zone: string): PodWish => ({
      name: `guard-${zone}`,
      requests: { cpu: "2" },
      nodeSelector: { [ZONE]: zone },
      affinity: { podAntiAffinity: required(term(ZONE)) },
    });
    const zoneNames = ["z1", "z2", "z3"];
    const boundPods = isBound ? zoneNames.map((zone) => bound(guard(zone), { name: zone, labels: { [ZONE]: zone } }, 0, 1)) : [];
    const plan = planOf({
      pods: [...(isBound ? [] : zoneNames.map((zone) => aPod(guard(zone)))), aPod({ name: "p", labels: APP })],
      boundPods,
    });
    expect(plan.unschedulable.map(({ pod }) => pod)).toEqual(["default/p"]);
  });

  test("S-153: preferences keep nobody away", () => {
    const guards = ["z1", "z2", "z3"].map((zone) =>
      aPod({ requests: { cpu: "2" }, nodeSelector: { [ZONE]: zone }, affinity: { podAntiAffinity: preferred(term(ZONE)) } }),
    );
    expect(planOf({ pods: [...guards, aPod({ labels: APP })] }).unschedulable).toEqual([]);
  });

  test.each<{ what: string; pod: PodWish; isPlaced: boolean }>([
    { what: "one that is apart from others", pod: { affinity: { podAntiAffinity: required(term(ZONE)) } }, isPlaced: true },
    { what: "one that others are apart from", pod: { labels: APP }, isPlaced: true },
    { what: "one that wants others", pod: { affinity: { podAffinity: required(term(ZONE)) } }, isPlaced: false },
    { what: "the first that wants its like", pod: { labels: APP, affinity: { podAffinity: required(term(ZONE)) } }, isPlaced: false },
    { what: "one that is spread", pod: spread(ZONE), isPlaced: false },
  ])("S-142: on a node that has no zone, $what: $isPlaced", ({ pod, isPlaced }) => {
    const guard: PodWish = { labels: APP, affinity: { podAntiAffinity: required(term(ZONE)) } };
    const there = ["z1", "z2", "z3"].map((zone) => bound(guard, { name: zone, labels: { [ZONE]: zone } }));
    const plan = planOf({ nodes: [aNode({ name: "n" })], boundPods: isPlaced ? there : [], pools: [zones("none")], pods: [aPod(pod)] });
    expect(placed(plan)).toBe(Number(isPlaced));
  });

  test("S-152: one per node", () => {
    const plan = planOf({
      pods: pods(4, { labels: APP, affinity: { podAntiAffinity: required(term(HOSTNAME)) } }),
      nodes: [aNode({ name: "n" })],
    });
    expect([plan.existingNodes[0]!.pods.length, plan.newNodes.length]).toEqual([1, 3]);
  });
});

describe("relaxation", () => {
  const prefer = (weight: number, key: string, ...values: string[]) => ({
    weight,
    preference: { matchExpressions: [{ key, operator: "In" as const, values }] },
  });

  test("S-117: a pool that prefers not is taken last", () => {
    const shy = aPool({ name: "z", taints: [{ key: "t", value: "v", effect: "PreferNoSchedule" }] });
    expect(planOf({ pools: [shy, aPool({ name: "a" })], pods: [aPod()] }).newNodes[0]!.nodePool.metadata!.name).toBe("a");
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [prefer(1, ZONE, "invalid"), prefer(1, ZONE, "invalid")] };
    expect(placed(planOf({ pools: [shy], pods: [aPod({ affinity: { nodeAffinity } })] }))).toBe(1);
  });
});

describe("host ports", () => {
  const at = (hostPort: number, more: { hostIP?: string; protocol?: "TCP" | "UDP" } = {}): PodWish => ({
    spec: { containers: [{ name: "c", ports: [{ containerPort: 80, hostPort, ...more }] }] },
  });

  test.each([
    { rule: "S-120 equal", one: at(8080), other: at(8080), nodes: 2 },
    { rule: "S-120 other ports", one: at(8080), other: at(8081), nodes: 1 },
    { rule: "S-120 any address", one: at(80, { hostIP: "10.0.0.1" }), other: at(80), nodes: 2 },
    { rule: "S-120 two addresses", one: at(80, { hostIP: "10.0.0.1" }), other: at(80, { hostIP: "10.0.0.2" }), nodes: 1 },
    { rule: "S-120 protocols", one: at(80), other: at(80, { protocol: "UDP" }), nodes: 1 },
  ])("$rule: $nodes nodes", ({ one, other, nodes }) => {
    expect(planOf({ pods: [aPod(one), aPod(other)] }).newNodes).toHaveLength(nodes);
  });

  test("S-101, S-105: a DaemonSet holds the port", () => {
    const daemon = (nodeSelector: Record<string, string>) => {
      const { key, shape } = aPod({ ...at(8080), nodeSelector });
      return { key, shape };
    };
    const plan = planOf({ pods: [aPod(at(8080))], daemonSets: [daemon({})] });
    expect(plan.unschedulable[0]!.reasons).toEqual([{ kind: "host-port", nodePool: "default", ports: ["8080/TCP"] }]);
    const small = planOf({ pods: [aPod(at(8080))], daemonSets: [daemon({ size: "large" })] });
    expect(small.newNodes[0]!.instanceTypes.map(({ name }) => name)).not.toContain("arm");
  });

  test("S-120: what runs on a node holds its ports, also while it ends", () => {
    const node = { name: "n" };
    const plan = planOf({ nodes: [aNode(node)], boundPods: [bound(at(80), node, 0, 1)], pods: [aPod(at(80)), aPod(at(81))] });
    expect([plan.existingNodes[0]!.pods.length, plan.newNodes.length]).toEqual([1, 1]);
  });
});

describe("minValues", () => {
  const typeKey = "node.kubernetes.io/instance-type";
  const pool = (minValues: number, name = "default", weight = 1) =>
    aPool({ name, weight, requirements: [{ key: typeKey, operator: "Exists", minValues }] });
  const types = [aType({ name: "t1", cpu: 1, memory: "1Gi" }), aType({ name: "t2", cpu: 4, memory: "4Gi" })];

  test("S-99: no pod may take away the choice", () => {
    const plan = planOf({ types, pools: [pool(2)], pods: pods(2, { requests: { cpu: "900m" } }) });
    expect(plan.newNodes.map(({ instanceTypes }) => instanceTypes.length)).toEqual([2, 2]);
    expect(plan.newNodes[0]!.instanceTypeMinValues).toBe(2);
  });

  test("S-64, S-173: Strict and BestEffort", () => {
    const strict = planOf({ types, pools: [pool(3)] });
    const reason = { kind: "min-values", nodePool: "default", labels: [{ key: typeKey, wanted: 3, found: 2 }] };
    expect(strict.unschedulable[0]!.reasons).toEqual([reason]);
    expect(strict.droppedPools).toEqual([{ nodePool: "default", reason }]);
    expect(sentences(strict.unschedulable[0]!.reasons)).toBe(`minValues requirement is not met for label(s) (label(s)=[${typeKey}])`);
    const [node] = planOf({ types, pools: [pool(3)], options: { minValuesPolicy: "BestEffort" } }).newNodes;
    expect([node!.instanceTypeMinValues, node!.annotations["karpenter.sh/nodeclaim-min-values-relaxed"]]).toEqual([2, "true"]);
  });

  test("S-176: a label that no type has is not demanded zero times", () => {
    const pool = aPool({ requirements: [{ key: "team", operator: "In", values: ["a", "b"], minValues: 2 }] });
    const [node] = planOf({ pools: [pool], options: { minValuesPolicy: "BestEffort" } }).newNodes;
    expect(node!.requirements.find(({ key }) => key === "team")).toEqual({ key: "team", operator: "In", values: ["a", "b"] });
    expect(node!.annotations["karpenter.sh/nodeclaim-min-values-relaxed"]).toBe("true");
  });

  test("S-174: Strict goes on to the next pool, BestEffort relaxes the first", () => {
    const pools = [pool(3, "heavy", 100), pool(1, "light", 10)];
    const poolOf = (minValuesPolicy: "Strict" | "BestEffort") =>
      planOf({ types, pools, options: { minValuesPolicy } }).newNodes[0]!.nodePool.metadata!.name;
    expect([poolOf("Strict"), poolOf("BestEffort")]).toEqual(["light", "heavy"]);
  });

  test("V-74: only values count that are still allowed", () => {
    const zonal = aPool({ requirements: [{ key: ZONE, operator: "Exists", minValues: 2 }] });
    const pinned = aPod({ nodeSelector: { [ZONE]: "z1" } });
    expect(planOf({ pools: [zonal], pods: [pinned] }).unschedulable[0]!.reasons).toEqual([
      { kind: "min-values", nodePool: "default", labels: [{ key: ZONE, wanted: 2, found: 1 }] },
    ]);
    const [node] = planOf({ pools: [zonal], pods: [pinned], options: { minValuesPolicy: "BestEffort" } }).newNodes;
    expect(node!.requirements.find(({ key }) => key === ZONE)).toEqual({ key: ZONE, operator: "In", values: ["z1"], minValues: 1 });
  });
});
