/**
 * What plans of few nodes cost at least. With L(c) the bound of price + c × nodes, a plan of n nodes costs no less than L(c) − c × n, whatever
 * the charge c. Over several problems, prices count as parts of each one's plain bound and nodes as multiples of the peer's; a weight w of nodes
 * against price is then the charge w × bound ÷ peer's nodes of each problem, and any weight proves something.
 */
import type { Problem } from "@joinery/scheduling";
import { lowerBoundUsdPerHour } from "./lower-bound.ts";

/** One problem at the weights that were looked at. */
export interface ChargedProblem {
  readonly boundUsdPerHour: number;
  readonly peerNodes: number;
  /** By weight: the bound of price and charges. */
  readonly chargedUsdPerHour: ReadonlyMap<number, number>;
}

export interface Proof {
  readonly value: number;
  /** 0 = no weight proves anything. */
  readonly weight: number;
}

function chargeOf({ boundUsdPerHour, peerNodes }: Pick<ChargedProblem, "boundUsdPerHour" | "peerNodes">, weight: number): number {
  return (weight * boundUsdPerHour) / peerNodes;
}

/**
 * The bounds of one problem with the charge of each weight.
 * @param of its plain bound, in USD per hour, and the nodes of the peer's plan
 * @param spotTypesMin so many types are wished for each spot node
 */
export async function chargedProblem(
  problem: Problem,
  of: Pick<ChargedProblem, "boundUsdPerHour" | "peerNodes">,
  weights: readonly number[],
  spotTypesMin = 1,
): Promise<ChargedProblem> {
  const chargedUsdPerHour = new Map<number, number>();
  for (const weight of weights) {
    const nodeChargeUsdPerHour = chargeOf(of, weight);
    chargedUsdPerHour.set(weight, await lowerBoundUsdPerHour(problem, { spotTypesMin, nodeChargeUsdPerHour }));
  }
  return { ...of, chargedUsdPerHour };
}

/** Price of plans above the plain bound, as a part of it, averaged: not less than this with so many of the peer's nodes on average. */
export function leastExcess(problems: readonly ChargedProblem[], nodesOfPeer: number): Proof {
  return best(problems, (charged, weight) => charged - 1 - weight * nodesOfPeer);
}

/** Nodes of plans, of the peer's, averaged: not fewer than this at such an average price above the plain bound. */
export function leastNodes(problems: readonly ChargedProblem[], excess: number): Proof {
  return best(problems, (charged, weight) => (charged - 1 - excess) / weight);
}

/** @param prove from the average of the bounds with charges, as parts of the plain ones */
function best(problems: readonly ChargedProblem[], prove: (charged: number, weight: number) => number): Proof {
  let proof: Proof = { value: 0, weight: 0 };
  for (const weight of problems[0]!.chargedUsdPerHour.keys()) {
    const parts = problems.map(({ chargedUsdPerHour, boundUsdPerHour }) => chargedUsdPerHour.get(weight)! / boundUsdPerHour);
    const value = prove(parts.reduce((sum, part) => sum + part, 0) / parts.length, weight);
    if (value > proof.value) proof = { value, weight };
  }
  return proof;
}
