import type { Node, NodeClaim } from "@joinery/api";
import { expect, test } from "vitest";
import { createWorld, NODE_CLAIMS, NODES } from "../testing/world.ts";

const LABEL = "test.joinery.dev/testnodeclass";
const nodeClassRef = { group: "test.joinery.dev", kind: "TestNodeClass", name: "default" };

/** What an older version left behind. */
function putOld(name: string, claims: readonly object[], nodeLabels: object = {}) {
  const world = createWorld();
  for (const [n, claim] of claims.entries()) {
    world.api.put(`${NODE_CLAIMS}/${name}-${n}`, {
      metadata: { finalizers: ["karpenter.sh/termination"] },
      spec: { nodeClassRef, requirements: [] },
      status: {
        providerID: `fake:///${name}`,
        conditions: ["Launched", "Registered", "Initialized"].map((type) => ({ type, status: "True" })),
      },
      ...claim,
    });
  }
  world.api.put(`${NODES}/${name}`, {
    metadata: { labels: nodeLabels },
    spec: { providerID: `fake:///${name}` },
    status: { conditions: [{ type: "Ready", status: "True" }] }, // or it would be collected
  });
  world.start();
  return world;
}

test.each([
  { what: "without the label", claims: [{}], labels: {}, claimLabel: "default", nodeLabel: "default" },
  {
    what: "with another's name in it",
    claims: [{ metadata: { labels: { [LABEL]: "old" } } }],
    labels: { [LABEL]: "old" },
    claimLabel: "default",
    nodeLabel: "default",
  },
  { what: "of two NodeClaims", claims: [{}, {}], labels: {}, claimLabel: "default", nodeLabel: undefined },
  {
    what: "of another provider",
    claims: [{ spec: { nodeClassRef: { group: "other", kind: "Other", name: "x" }, requirements: [] } }],
    labels: {},
    claimLabel: undefined,
    nodeLabel: undefined,
  },
])("L-176, L-177: NodeClaim and Node $what", async ({ claims, labels, claimLabel, nodeLabel }) => {
  const world = putOld("old", claims, labels);
  await world.clock.advance(1000);
  expect(world.api.find<NodeClaim>(`${NODE_CLAIMS}/old-0`)?.metadata?.labels?.[LABEL]).toBe(claimLabel);
  expect(world.api.find<Node>(`${NODES}/old`)?.metadata?.labels?.[LABEL]).toBe(nodeLabel);
});

test("L-177: a Node without a NodeClaim is left alone", async () => {
  const world = putOld("alone", []);
  await world.clock.advance(1000);
  expect(world.api.writes.filter((write) => write.includes("/nodes/"))).toEqual([]);
});
