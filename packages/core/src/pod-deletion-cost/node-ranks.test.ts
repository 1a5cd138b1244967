import { expect, test } from "vitest";
import { type NodeStanding, nodeCosts, type RankedNode } from "./node-ranks.ts";

const node = (name: string, standing: NodeStanding, savingsRatio = 1, nodePool = "a"): RankedNode => ({
  name,
  nodePool,
  standing,
  savingsRatio,
});

test.each([
  {
    rule: "VT-41: equal nodes by name",
    nodes: [node("n2", "candidate"), node("n1", "candidate")],
    budget: 9,
    costs: { n1: -2, n2: -1 },
  },
  {
    rule: "V-84: who saves more comes first",
    nodes: [node("n1", "candidate", 1), node("n2", "candidate", 5)],
    budget: 9,
    costs: { n2: -2, n1: -1 },
  },
  {
    rule: "V-85: the drifted before the others",
    nodes: [node("n1", "candidate", 5), node("n2", "drifted", 1)],
    budget: 9,
    costs: { n2: -2, n1: -1 },
  },
  {
    rule: "V-85: what goes in any case",
    nodes: [node("n1", "stays"), node("n2", "leaving"), node("n3", "candidate")],
    budget: 0,
    costs: { n2: -2147483648, n1: undefined, n3: undefined },
  },
  {
    rule: "V-84: what the budget does not let go stays, pool by pool",
    nodes: [node("n1", "candidate", 3), node("n2", "candidate", 2), node("n3", "candidate", 1, "b"), node("n4", "drifted", 0)],
    budget: 1,
    costs: { n4: -3, n1: -2, n3: -1, n2: undefined },
  },
])("$rule", ({ nodes, budget, costs }) => {
  const found = nodeCosts(nodes, () => budget).map(({ node: { name }, cost }) => [name, cost]);
  expect(found).toEqual(Object.entries(costs));
});
