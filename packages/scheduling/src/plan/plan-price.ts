/** What a plan costs. */
import type { Plan } from "../plan.ts";

/** USD per hour: each new node as its cheapest offering. Instances alone, without volumes and what else a node costs. */
export function instancesUsdPerHour({ newNodes }: Pick<Plan, "newNodes">): number {
  return newNodes.reduce((sum, { cheapest }) => sum + cheapest.priceUsdPerHour, 0);
}

/** For documents: sums of prices, and prices that overlays adjust, carry binary dust; a millionth of a cent is beyond any price list. */
export function roundedPrice(usdPerHour: number): number {
  return Math.round(usdPerHour * 1e8) / 1e8;
}
