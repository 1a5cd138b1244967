import { NODE_POOL_HASH_VERSION, nodePoolHash } from "@joinery/api";
import { describe, expect, test } from "vitest";
import { solve } from "../solve/solve.ts";
import { aDaemonSet, aNode, anOffering, aPod, aPool, aProblem, aType, pods } from "../testing/builders.ts";
import { compareNames } from "./names.ts";
import { toNodeClaim } from "./node-claim.ts";
import { toPlanDocument } from "./plan-document.ts";

const stats = { pods: 0, instanceTypes: 0, solveMilliseconds: 0 };
const types = [
  aType({ name: "b", cpu: 4, memory: "4Gi", offerings: [anOffering("on-demand", "z1", 0.2), anOffering("spot", "z2", 0.05)] }),
  aType({ name: "a", cpu: 8, memory: "8Gi", offerings: [anOffering("on-demand", "z1", 0.4)] }),
];

describe("the plan's document", () => {
  test("a new node in canonical amounts", () => {
    const pool = aPool({ labels: { team: "x" }, startupTaints: [{ key: "s", effect: "NoExecute" }] });
    const problem = aProblem({ types, pools: [pool], pods: pods(2, { requests: { cpu: "750m", memory: "1536Mi" } }) });
    const document = toPlanDocument(solve(problem), { stats, existingUsdPerHour: 0.1 });
    expect(document.newNodes).toEqual([
      {
        name: "default-1",
        nodePool: "default",
        requirements: [
          { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand", "spot"] },
          { key: "karpenter.sh/nodepool", operator: "In", values: ["default"] },
          { key: "karpenter.test.sh/testnodeclass", operator: "In", values: ["default"] },
          { key: "team", operator: "In", values: ["x"] },
        ],
        labels: { "karpenter.sh/nodepool": "default", "karpenter.test.sh/testnodeclass": "default", team: "x" },
        taints: [],
        startupTaints: [{ key: "s", effect: "NoExecute" }],
        instanceTypes: ["b", "a"],
        cheapest: { instanceType: "b", zone: "z2", capacityType: "spot", pricePerHour: 0.05 },
        requests: { cpu: "1500m", memory: "3Gi", pods: "2" },
        daemonSetRequests: {},
        pods: ["default/p-00000", "default/p-00001"],
      },
    ]);
    expect(document.cost).toEqual({ currency: "USD", newPerHour: 0.05, existingPerHour: 0.1 });
  });

  test("reasons carry code, pool, sentence and facts with canonical amounts", () => {
    const problem = aProblem({ types, pools: [aPool({ limits: { cpu: "1500m" } })], pods: [aPod({ name: "p" })] });
    expect(toPlanDocument(solve(problem), { stats, existingUsdPerHour: 0 }).unschedulable).toEqual([
      {
        pod: "default/p",
        reasons: [
          {
            code: "over-limit",
            nodePool: "default",
            message: "all available instance types exceed limits for nodepool (NodePool=default)",
            detail: { resource: "cpu", used: "0", limit: "1500m" },
          },
        ],
      },
    ]);
  });

  test("survives JSON: nothing undefined, no number where a quantity belongs", () => {
    const problem = aProblem({ types, pods: [aPod({ requests: { cpu: "512" } }), aPod()], nodes: [aNode({ name: "n" })] });
    const document = toPlanDocument(solve(problem), { stats, existingUsdPerHour: 0 });
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });
});

describe("the NodeClaim", () => {
  const pool = { ...aPool({ taints: [{ key: "t", effect: "NoSchedule" }] }) };
  const problem = aProblem({
    types,
    pools: [pool],
    daemonSets: [aDaemonSet({ requests: { cpu: "1" }, tolerations: [{ operator: "Exists" }] })],
    pods: pods(2, { requests: { cpu: "1", memory: "1Mi" }, tolerations: [{ operator: "Exists" }] }),
  });
  const claim = toNodeClaim(solve(problem).newNodes[0]!);

  test("S-179: named by the API server, owned by the pool", () => {
    expect(claim.metadata).toMatchObject({
      generateName: "default-",
      ownerReferences: [{ apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "default", uid: "uid-default", blockOwnerDeletion: true }],
    });
  });

  test("S-63: annotated with the hash of the pool", () => {
    expect(claim.metadata!.annotations).toEqual({
      "karpenter.sh/nodepool-hash": nodePoolHash(pool),
      "karpenter.sh/nodepool-hash-version": NODE_POOL_HASH_VERSION,
      "karpenter.sh/nodeclaim-min-values-relaxed": "false",
    });
  });

  test("S-180: types by name, requirements by key; simulation-only keys are gone", () => {
    expect(claim.spec.requirements.map(({ key }) => key)).toEqual([
      "karpenter.sh/capacity-type",
      "karpenter.sh/nodepool",
      "karpenter.test.sh/testnodeclass",
      "node.kubernetes.io/instance-type",
    ]);
    expect(claim.spec.requirements[3]!.values).toEqual(["a", "b"]);
  });

  test("T17, S-71: requests of pods and DaemonSets", () => {
    expect(claim.spec.resources!.requests).toEqual({ cpu: "3", memory: "2Mi", pods: "3" });
  });

  test("S-63: taints, node class and expiry are the pool's", () => {
    expect(claim.spec).toMatchObject({
      taints: [{ key: "t", effect: "NoSchedule" }],
      nodeClassRef: { group: "karpenter.test.sh", kind: "TestNodeClass", name: "default" },
      expireAfter: "Never",
    });
    expect(claim.spec).not.toHaveProperty("startupTaints");
    expect(claim.spec).not.toHaveProperty("terminationGracePeriod");
  });
});

test("names: numbers within them compare as numbers", () => {
  expect(["n-10", "n-2", "n-1-3", "a", "n-02", "n-1"].sort(compareNames)).toEqual(["a", "n-1", "n-1-3", "n-02", "n-2", "n-10"]);
});
