/** What a plan is put together from: the order of its nodes and pods, pools that take no part, and the plan of nothing. */
import { isEmpty } from "../catalog/type-set.ts";
import { compareNames, compareTexts } from "../plan/names.ts";
import type { Plan, PlannedNode } from "../plan.ts";
import type { Problem } from "../problem.ts";
import type { Reason } from "../reason.ts";
import { minValuesShortfalls } from "./min-values.ts";
import { NodePlanner } from "./planned-node.ts";
import type { SolverView } from "./solver-view.ts";
import type { Template } from "./template.ts";

interface Places extends Pick<Plan, "newNodes" | "existingNodes"> {
  /** S-178: pods of claims that come to nothing. */
  readonly dropped: ReadonlyMap<number, Reason>;
}

/** Who is where when the solve is over. */
export function placesOf(
  { axis, claims, nodes, reservations }: SolverView,
  pods: Problem["pods"],
  instanceTypesMax: number | undefined,
): Places {
  const planner = new NodePlanner(axis, { reservationIdLabel: reservations.idLabel, instanceTypesMax });
  const newNodes: PlannedNode[] = [];
  const dropped = new Map<number, Reason>();
  for (const [index, claim] of claims.list.entries()) {
    const planned = planner.plan(claim, claims.usedBy(index), sortedKeys(claim.pods, pods));
    if ("kind" in planned) for (const pod of claim.pods) dropped.set(pod, planned);
    else newNodes.push(planned);
  }
  const existingNodes = nodes.list
    .filter((place) => place.pods.length > 0)
    .map((place) => ({ name: place.node.name, pods: sortedKeys(place.pods, pods) }));
  return { newNodes: newNodes.sort(byNodeName), existingNodes: existingNodes.sort(byName), dropped };
}

/** As `compareNames`; of nodes of one pool the number alone decides. */
function byNodeName(one: PlannedNode, other: PlannedNode): number {
  if (one.nodePool === other.nodePool) return one.name.length - other.name.length || compareTexts(one.name, other.name);
  return compareNames(one.name, other.name);
}

/** Most nodes have few pods, and sorting a few by hand costs less than asking for it. */
const SORTED_BY_HAND_MAX = 12;

function sortedKeys(indexes: readonly number[], pods: Problem["pods"]): readonly string[] {
  const keys: string[] = [];
  for (let place = 0; place < indexes.length; place++) keys.push(pods[indexes[place]!]!.key);
  if (keys.length > SORTED_BY_HAND_MAX) return keys.sort();
  for (let place = 1; place < keys.length; place++) {
    const key = keys[place]!;
    let before = place - 1;
    for (; before >= 0 && keys[before]! > key; before--) keys[before + 1] = keys[before]!;
    keys[before + 1] = key;
  }
  return keys;
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return compareNames(one.name, other.name);
}

/** S-64, S-65. */
export function dropped({ name, catalog, root, hasMinValues }: Template): Plan["droppedPools"][number] {
  const labels = hasMinValues && !isEmpty(root.variants) ? minValuesShortfalls(root, catalog, root.variants) : [];
  if (labels.length > 0) return { nodePool: name, reason: { kind: "min-values", nodePool: name, labels } };
  const message =
    catalog.types.length === 0
      ? "nodepool requirements filtered out all available instance types: none are known for the nodepool"
      : isEmpty(root.compatible)
        ? "nodepool requirements filtered out all available instance types"
        : "nodepool requirements filtered out all available instance types: none of those that meet them has an available offering";
  return { nodePool: name, reason: { kind: "no-offering", nodePool: name, message } };
}

export function planNothing({ pods }: Problem, reasons: readonly Reason[]): Plan {
  const unschedulable = pods.map(({ key }) => ({ pod: key, reasons })).sort((a, b) => compareTexts(a.pod, b.pod));
  return { newNodes: [], existingNodes: [], unschedulable, droppedPools: [] };
}
