import { describe, expect, test } from "vitest";
import { anOffering, aProblem, aType, pods } from "../../../packages/scheduling/src/testing/builders.ts";
import { type ChargedProblem, chargedProblem, leastExcess, leastNodes } from "./frontier.ts";
import { lowerBoundUsdPerHour } from "./lower-bound.ts";

const small = aType({ name: "small", cpu: 1.1, memory: "4Gi", pods: 100, offerings: [anOffering("spot", "z1", 1)] });
const large = aType({ name: "large", cpu: 10.1, memory: "40Gi", pods: 100, offerings: [anOffering("spot", "z1", 20)] });
const WEIGHTS = [0.01, 0.1, 0.11, 0.5, 1, 1.2, 2];

/** 100 pods of one CPU: 100 small nodes for 100, 10 large ones for 200, and every mixture. */
async function charged(peerNodes: number): Promise<ChargedProblem> {
  const problem = aProblem({ pods: pods(100, { requests: { cpu: "1" } }), types: [small, large] });
  return chargedProblem(problem, { boundUsdPerHour: await lowerBoundUsdPerHour(problem), peerNodes }, WEIGHTS);
}

describe("where small nodes are cheap", () => {
  test.each([
    { what: "as many as the cheapest plan has cost no more", nodes: 10, excess: 0 },
    { what: "half of the way to large ones costs half of the difference", nodes: 5.5, excess: 0.5 },
    { what: "few nodes are large ones", nodes: 1, excess: 1 },
  ])("$what", async ({ nodes, excess }) => {
    expect(leastExcess([await charged(10)], nodes).value).toBeCloseTo(excess, 1);
  });

  test("cheap plans have many nodes", async () => {
    const problem = await charged(10);
    expect(leastNodes([problem], 0.5).value).toBeCloseTo(5.5, 1);
    expect(leastNodes([problem], 0).value).toBeCloseTo(10, 0);
  });

  test("on average, one problem may have the nodes that another one saves", async () => {
    const both = [await charged(10), await charged(100)];
    expect(leastExcess(both, 5.5).value).toBeCloseTo(0, 9);
    expect(leastExcess(both, 3).value).toBeCloseTo(5 / 9 / 2, 1);
  });
});
