/** In which order nodes should lose their pods when workloads shrink. Rules V-83…V-85. */
import { compareTexts } from "@joinery/scheduling";
import { LEAVING_COST } from "../state/eviction-cost.ts";

/**
 * `leaving`: goes in any case. `drifted`, `candidate`: may go, as far as the budget of its pool lets it. `stays`: nothing is to be gained
 * from emptying it.
 */
export type NodeStanding = "leaving" | "drifted" | "candidate" | "stays";

export interface RankedNode {
  readonly name: string;
  readonly nodePool: string;
  readonly standing: NodeStanding;
  /** D-50: USD per hour for each pod that would have to move. */
  readonly savingsRatio: number;
}

export interface NodeCost<T extends RankedNode> {
  readonly node: T;
  /** Value for its pods; undefined = none. */
  readonly cost: number | undefined;
}

/**
 * In the order in which they are written: what goes, what may go, what stays.
 * @param remaining how many nodes of the pool may still be disrupted, by standing
 */
export function nodeCosts<T extends RankedNode>(
  nodes: readonly T[],
  remaining: (nodePool: string, standing: "drifted" | "candidate") => number,
): readonly NodeCost<T>[] {
  const leaving = nodes.filter(({ standing }) => standing === "leaving").toSorted(byName);
  const going = [...withinBudget(nodes, "drifted", remaining), ...withinBudget(nodes, "candidate", remaining)];
  const ranked = new Set<T>([...leaving, ...going]);
  return [
    ...leaving.map((node) => ({ node, cost: LEAVING_COST })),
    ...going.map((node, at) => ({ node, cost: at - going.length })),
    ...nodes
      .filter((node) => !ranked.has(node))
      .toSorted(byName)
      .map((node) => ({ node, cost: undefined })),
  ];
}

/** V-84: the rest of a pool stays as it is. */
function withinBudget<T extends RankedNode>(
  nodes: readonly T[],
  standing: "drifted" | "candidate",
  remaining: (nodePool: string, standing: "drifted" | "candidate") => number,
): readonly T[] {
  const left = new Map<string, number>();
  const order = nodes
    .filter((node) => node.standing === standing)
    .toSorted((one, other) => other.savingsRatio - one.savingsRatio || byName(one, other));
  return order.filter(({ nodePool }) => {
    const count = left.get(nodePool) ?? remaining(nodePool, standing);
    left.set(nodePool, count - 1);
    return count > 0;
  });
}

function byName(one: RankedNode, other: RankedNode): number {
  return compareTexts(one.name, other.name);
}
