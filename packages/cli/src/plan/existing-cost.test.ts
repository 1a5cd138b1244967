import type { Node, NodeClaim } from "@joinery/api";
import type { InstanceType } from "@joinery/scheduling";
import { expect, test } from "vitest";
import { existingCost } from "./existing-cost.ts";

const types = [
  {
    name: "m-1x",
    offerings: [
      {
        priceUsdPerHour: 0.5,
        requirements: [
          { key: "topology.kubernetes.io/zone", operator: "In", values: ["a"] },
          { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] },
        ],
      },
    ],
  },
] as unknown as readonly InstanceType[];
const priced = {
  "node.kubernetes.io/instance-type": "m-1x",
  "topology.kubernetes.io/zone": "a",
  "karpenter.sh/capacity-type": "spot",
};
const registered = { "karpenter.sh/registered": "true" };
const node = (labels: Readonly<Record<string, string>>, providerID = "p"): Node => ({
  metadata: { name: "n", labels },
  spec: { providerID },
});
const claim = (labels: Readonly<Record<string, string>>, providerID?: string): NodeClaim =>
  ({ metadata: { name: "c", labels }, spec: {}, status: { providerID } }) as unknown as NodeClaim;

test.each([
  { what: "no NodeClaim: the Node's", nodes: [node(priced)], claims: [], known: 1, unknown: 0 },
  { what: "a Node without labels", nodes: [node({})], claims: [], known: 0, unknown: 1 },
  { what: "not registered: the NodeClaim's", nodes: [node({})], claims: [claim(priced, "p")], known: 1, unknown: 0 },
  { what: "registered: the Node's", nodes: [node({ ...priced, ...registered })], claims: [claim({}, "p")], known: 1, unknown: 0 },
  { what: "registered without them", nodes: [node(registered)], claims: [claim(priced, "p")], known: 0, unknown: 1 },
  { what: "no Node yet: the NodeClaim's", nodes: [], claims: [claim(priced, "p")], known: 1, unknown: 0 },
  { what: "a NodeClaim without instance costs nothing", nodes: [], claims: [claim(priced)], known: 0, unknown: 0 },
  { what: "another machine's NodeClaim", nodes: [node({})], claims: [claim(priced, "q")], known: 1, unknown: 1 },
])("L-43: $what", ({ nodes, claims, known, unknown }) => {
  expect(existingCost(nodes, claims, () => types)).toEqual({ usdPerHour: known * 0.5, knownNodes: known, unknownNodes: unknown });
});
