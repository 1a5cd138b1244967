import { KwokNodeClasses, type NodeClaim, NodeClaims, type NodePool, Nodes } from "@joinery/api";
import { createRandom, createVirtualClock } from "@joinery/kube";
import { describe, expect, test } from "vitest";
import { builtInKwokCatalogue } from "./catalogue/built-in.ts";
import { createMemoryClient } from "./memory-client.test-support.ts";
import { createKwokProvider } from "./provider.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const catalogue = builtInKwokCatalogue();

function aWorld({ delay }: { readonly delay?: string } = {}) {
  const memory = createMemoryClient();
  const clock = createVirtualClock({ startMs: START });
  memory.put(KwokNodeClasses, { metadata: { name: "default" }, spec: { nodeRegistrationDelay: delay } });
  const makeProvider = () => createKwokProvider({ client: memory.client, clock, random: createRandom(1), catalogue });
  return { ...memory, clock, makeProvider, provider: makeProvider() };
}

function aClaim(changes: { readonly requirements?: NodeClaim["spec"]["requirements"]; readonly cpu?: string } = {}): NodeClaim {
  return {
    metadata: { name: "default-abcde", uid: "uid-1", labels: { "karpenter.sh/nodepool": "default" } },
    spec: {
      nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
      requirements: changes.requirements ?? [],
      resources: { requests: { cpu: changes.cpu ?? "3", pods: "2" } },
      taints: [{ key: "team", value: "a", effect: "NoSchedule" }],
    },
  };
}

describe("launch", () => {
  test("makes a Node with the labels, taints and capacity of the cheapest fitting type", async () => {
    const { provider, all } = aWorld();
    const outcome = await provider.launch(aClaim({ requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }] }));
    expect(outcome).toMatchObject({ kind: "launched", instance: { providerId: "kwok://default-abcde", nodePoolName: "default" } });
    const [node] = all(Nodes);
    expect(node?.metadata?.labels).toMatchObject({
      "node.kubernetes.io/instance-type": "c-4x-amd64-linux",
      "karpenter.sh/capacity-type": "spot",
      "topology.kubernetes.io/zone": "test-zone-a",
      "karpenter.kwok.sh/instance-family": "c",
      "karpenter.kwok.sh/instance-size": "4",
      "karpenter.kwok.sh/instance-memory": "8Gi",
      "kubernetes.io/hostname": "default-abcde",
      "kwok.x-k8s.io/node": "fake",
      "kwok-partition": "a",
      "eks-node-viewer/instance-price": "0.064",
      "karpenter.sh/nodepool": "default",
    });
    expect(node?.spec?.taints).toEqual([
      { key: "team", value: "a", effect: "NoSchedule" },
      { key: "karpenter.sh/unregistered", effect: "NoExecute" },
    ]);
    expect(node?.status?.capacity).toEqual({ cpu: "4", memory: "8Gi", pods: "64", "ephemeral-storage": "20Gi" });
    if (outcome.kind === "launched") expect(outcome.instance.labels).not.toHaveProperty("kubernetes.io/hostname");
  });

  test("repeats without doubling, also in another process and after a lost answer", async () => {
    const { provider, makeProvider, all, failNextCreate } = aWorld();
    failNextCreate("after");
    await expect(provider.launch(aClaim())).rejects.toThrow();
    const again = await makeProvider().launch(aClaim());
    expect(await provider.launch(aClaim())).toEqual(again);
    expect(all(Nodes)).toHaveLength(1);
  });

  test.each([
    { verdict: "insufficient-capacity", claim: aClaim({ cpu: "1000" }) },
    {
      verdict: "insufficient-capacity",
      claim: aClaim({ requirements: [{ key: "kubernetes.io/os", operator: "In", values: ["windows"] }] }),
    },
    {
      verdict: "insufficient-capacity",
      claim: { ...aClaim(), spec: { ...aClaim().spec, nodeClassRef: { group: "g", kind: "K", name: "no" } } },
    },
  ])("$verdict", async ({ verdict, claim }) => {
    expect((await aWorld().provider.launch(claim)).kind).toBe(verdict);
  });

  test("Gt and NotIn choose as S-26 says", async () => {
    const { provider } = aWorld();
    const requirements: NodeClaim["spec"]["requirements"] = [
      { key: "karpenter.kwok.sh/instance-cpu", operator: "Gt", values: ["8"] },
      { key: "karpenter.sh/capacity-type", operator: "NotIn", values: ["spot"] },
    ];
    const outcome = await provider.launch(aClaim({ requirements }));
    expect(outcome).toMatchObject({
      instance: { labels: { "node.kubernetes.io/instance-type": "c-16x-arm64-linux", "karpenter.sh/capacity-type": "on-demand" } },
    });
  });
});

describe("registration delay", () => {
  test("the Node appears after it, and the instance is there at once", async () => {
    const { provider, clock, all } = aWorld({ delay: "1m30s" });
    await provider.launch(aClaim());
    await clock.advance(89_000);
    expect(all(Nodes)).toEqual([]);
    expect(await provider.list()).toHaveLength(1);
    await clock.advance(1_000);
    expect(all(Nodes)).toHaveLength(1);
    expect(await provider.list()).toHaveLength(1);
  });

  test("a Node that the API server did not take comes a second later", async () => {
    const { provider, clock, all, failNextCreate } = aWorld({ delay: "10s" });
    await provider.launch(aClaim());
    failNextCreate("before");
    await clock.advance(10_000);
    expect(all(Nodes)).toEqual([]);
    await clock.advance(1_000);
    expect(all(Nodes)).toHaveLength(1);
  });

  test("a new process brings the Nodes that a killed one owed", async () => {
    const { provider, makeProvider, clock, all, put } = aWorld({ delay: "60s" });
    const outcome = await provider.launch(aClaim());
    if (outcome.kind !== "launched") throw new Error(outcome.kind);
    await provider.terminate(aClaim());
    const launched = { type: "Launched", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" } as const;
    put(NodeClaims, {
      ...aClaim(),
      metadata: { ...aClaim().metadata, labels: outcome.instance.labels },
      status: { providerID: outcome.instance.providerId, conditions: [launched] },
    });
    await clock.advance(20_000);
    expect(await makeProvider().find(outcome.instance.providerId)).toBeDefined();
    await clock.advance(40_000);
    expect(all(Nodes)[0]?.metadata?.labels).toMatchObject(outcome.instance.labels);
  });
});

test("terminate deletes the Node and says gone, also the second time", async () => {
  const { provider, all } = aWorld();
  await provider.launch(aClaim());
  expect(await provider.terminate(aClaim())).toBe("gone");
  expect(await provider.terminate(aClaim())).toBe("gone");
  expect(all(Nodes)).toEqual([]);
  expect(await provider.find("kwok://default-abcde")).toBeUndefined();
});

test("a NodeClaim that has the name of an earlier one neither adopts nor deletes its Node", async () => {
  const { provider, all } = aWorld();
  await provider.launch(aClaim());
  const namesake = { ...aClaim(), metadata: { ...aClaim().metadata, uid: "uid-2" } };
  expect(await provider.launch(namesake)).toMatchObject({ kind: "failed", reason: "NodeNameTaken" });
  expect(await provider.terminate(namesake)).toBe("gone");
  expect(all(Nodes)).toHaveLength(1);
});

test("every pool sees the same array", async () => {
  const { provider } = aWorld();
  const pool: NodePool = {
    metadata: { name: "a" },
    spec: { template: { spec: { nodeClassRef: aClaim().spec.nodeClassRef, requirements: [] } } },
  };
  expect(await provider.instanceTypes(pool)).toBe(await provider.instanceTypes(pool));
});
