/** Volumes, and scenarios VT-37…VT-39. T31…T34, T41: scenarios/. */
import { describe, expect, test } from "vitest";
import type { Plan } from "../plan.ts";
import type { VolumeClaim } from "../problem.ts";
import { solve } from "../solve/solve.ts";
import { aNode, aPod, aPool, aProblem, aType, type PodWish, type ProblemWish } from "../testing/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const DRIVER = "ebs.csi.aws.com";

const planOf = (wish: ProblemWish) => solve(aProblem({ ...wish, options: { preferencePolicy: "Respect", ...wish.options } }));
const zone = (...values: string[]) => [{ key: ZONE, operator: "In" as const, values }];
const mounting = (...names: string[]): PodWish => ({
  spec: { volumes: names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })) },
});
const claims = (entries: Record<string, VolumeClaim>) =>
  new Map(Object.entries(entries).map(([name, claim]) => [`default/${name}`, claim]));
const attached = (count: number) =>
  claims(Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, { alternatives: [], driver: DRIVER }])));
const zonesOf = (plan: Plan) => plan.newNodes.map(({ requirements }) => requirements.find(({ key }) => key === ZONE)?.values);
const range = (length: number) => Array.from({ length }, (_, index) => index);

describe("where volumes can be reached", () => {
  test("S-124: combinations that contradict themselves are left out", () => {
    const one = { alternatives: [zone("z1"), zone("z3")] };
    const other = { alternatives: [zone("z2"), zone("z3")] };
    expect(zonesOf(planOf({ pods: [aPod(mounting("a", "b"))], claims: claims({ a: one, b: other }) }))).toEqual([["z3"]]);
    const never = { alternatives: [zone("z2")] };
    expect(planOf({ pods: [aPod(mounting("a", "b"))], claims: claims({ a: one, b: never }) }).newNodes).toEqual([]);
  });

  test("S-92: a node is where it is", () => {
    const nodes = ["z1", "z2"].map((name) => aNode({ name, labels: { [ZONE]: name } }));
    const plan = planOf({ nodes, pods: [aPod(mounting("c"))], claims: claims({ c: { alternatives: [zone("z2")] } }) });
    expect(plan.existingNodes.map(({ name }) => name)).toEqual(["z2"]);
  });

  test("VT-39 V-74: minValues sees what the volume leaves", () => {
    const pool = aPool({ requirements: [{ key: ZONE, operator: "Exists", minValues: 3 }] });
    const wish = { pools: [pool], pods: [aPod(mounting("c"))], claims: claims({ c: { alternatives: [zone("z1")] } }) };
    expect(planOf(wish).newNodes).toEqual([]);
    const [node] = planOf({ ...wish, options: { minValuesPolicy: "BestEffort" } }).newNodes;
    expect(node!.requirements.find(({ key }) => key === ZONE)).toEqual({ key: ZONE, operator: "In", values: ["z1"], minValues: 1 });
    expect(node!.annotations["karpenter.sh/nodeclaim-min-values-relaxed"]).toBe("true");
  });
});

describe("how many volumes can be attached", () => {
  const type = (name: string, cpu: number, limit: number, driver = DRIVER) =>
    aType({ name, cpu, memory: `${cpu}Gi`, pods: 1000, volumeLimits: { [driver]: limit } });

  test.each([
    { rule: "VT-37 one each", pods: 100, per: 1, limit: 10, nodes: 10 },
    { rule: "VT-37 two each", pods: 6, per: 2, limit: 10, nodes: 2 },
    { rule: "VT-37 too many on one pod", pods: 1, per: 11, limit: 10, nodes: 0 },
  ])("$rule: V-71", ({ pods, per, limit, nodes }) => {
    const wishes = range(pods).map((pod) => aPod(mounting(...range(per).map((index) => `c${pod * per + index}`))));
    const plan = planOf({ types: [type("t", 4, limit)], pods: wishes, claims: attached(pods * per) });
    expect(plan.newNodes).toHaveLength(nodes);
    if (nodes === 0) {
      expect(plan.unschedulable[0]!.reasons).toEqual([{ kind: "volume-limit", nodePool: "default", driver: DRIVER, count: 11, limit: 10 }]);
    }
  });

  test("VT-37 V-71: other drivers, and the type that has enough", () => {
    const pods = range(20).map((index) => aPod(mounting(`c${index}`)));
    expect(planOf({ types: [type("t", 4, 1, "other")], pods, claims: attached(20) }).newNodes).toHaveLength(1);
    const five = [aPod(mounting(...range(5).map((index) => `c${index}`)))];
    const plan = planOf({ types: [type("cheap", 2, 2), type("dear", 8, 20)], pods: five, claims: attached(5) });
    expect(plan.newNodes[0]!.instanceTypes.map(({ name }) => name)).toEqual(["dear"]);
  });

  test("VT-38 V-72, V-73: the type's limit until the driver has spoken", () => {
    const labels = { "karpenter.sh/nodepool": "default", "node.kubernetes.io/instance-type": "t" };
    const roomy = { cpu: 4, memory: "4Gi", pods: 1000 };
    const pods = range(11).map((index) => aPod(mounting(`c${index}`)));
    const onNode = (volumeLimits?: Record<string, number>) => {
      const node = aNode({ name: "n", labels, allocatable: roomy, ...(volumeLimits && { volumeLimits }) });
      return planOf({ types: [type("t", 4, 10)], nodes: [node], pods, claims: attached(11) }).existingNodes[0]!.pods.length;
    };
    expect([onNode(), onNode({ [DRIVER]: Number.POSITIVE_INFINITY })]).toEqual([10, 11]);
  });

  test("S-126, V-73: a claim that nobody knows is ignored", () => {
    expect(planOf({ pods: [aPod(mounting("lost"))] }).newNodes).toHaveLength(1);
  });
});
