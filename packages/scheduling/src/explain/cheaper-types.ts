/** What the types lack that would cost less than the one a planned node is to be. Rules S-56, S-101, S-178. */
import { formatAmount } from "@joinery/api";
import { addTo, emptySet, intersection, isEmpty, isIn, type TypeSet } from "../catalog/type-set.ts";
import { roundedPrice } from "../plan/plan-price.ts";
import type { PlannedNode } from "../plan.ts";
import { Requirements } from "../requirements/requirements.ts";
import { requirementText } from "../requirements/text.ts";
import type { ResourceAxis } from "../solve/resource-axis.ts";
import type { Template } from "../solve/template.ts";
import { withRoom } from "./funnel.ts";

interface CheaperType {
  readonly instanceType: string;
  readonly pricePerHour: number;
  readonly lacked: string;
}

const TOLD_MAX = 3;

/** Cheaper types that lack the same. */
interface LackGroup {
  readonly lacked: string;
  readonly count: number;
  /** The first three, the most expensive first. */
  readonly instanceTypes: readonly string[];
}

export interface CheaperTypes {
  /** The next cheaper first, at most three of `count`. */
  readonly types: readonly CheaperType[];
  readonly count: number;
  /** All of them by what they lack, the most common first. */
  readonly groups: readonly LackGroup[];
}

/** Among the pool's types with an available offering that the pool admits; by their cheapest such offering. */
export function cheaperTypes(template: Template, axis: ResourceAxis, node: PlannedNode): CheaperTypes {
  const { catalog, root } = template;
  const order = catalog.priceOrder(root.kinds);
  const chosen = new Set(node.instanceTypes.map(({ name }) => name));
  const cheaper = [...order.types].filter((type) => {
    const isOffered = isTypeIn(template, type, root.compatible);
    return isOffered && order.prices[type]! < node.cheapest.priceUsdPerHour && !chosen.has(catalog.types[type]!.name);
  });
  const lacks = cheaper.reverse().map((type) => ({
    instanceType: catalog.types[type]!.name,
    pricePerHour: roundedPrice(order.prices[type]!),
    ...lackOf(template, axis, node, type),
  }));
  const types = lacks.slice(0, TOLD_MAX).map(({ instanceType, pricePerHour, lacked }) => ({ instanceType, pricePerHour, lacked }));
  return { types, count: cheaper.length, groups: grouped(lacks) };
}

interface Lack {
  /** For one type. */
  readonly lacked: string;
  /** For all that lack the same. */
  readonly topic: string;
}

function grouped(lacks: readonly (Lack & { readonly instanceType: string })[]): readonly LackGroup[] {
  const groups = Array.from(
    Map.groupBy(lacks, ({ topic }) => topic),
    ([lacked, group]) => ({ lacked, count: group.length, instanceTypes: group.slice(0, TOLD_MAX).map(({ instanceType }) => instanceType) }),
  );
  return groups.sort((a, b) => b.count - a.count || (a.lacked < b.lacked ? -1 : 1));
}

function isTypeIn({ catalog }: Template, type: number, set: TypeSet): boolean {
  return !isEmpty(intersection(set, variantsOf(catalog.typeOfVariant, type)));
}

function variantsOf(typeOfVariant: Uint16Array, type: number): TypeSet {
  const set = emptySet(typeOfVariant.length);
  for (const [variant, of] of typeOfVariant.entries()) if (of === type) addTo(set, variant);
  return set;
}

/** Labels first, then room for the node's pods, then an offering where they must be. */
function lackOf(template: Template, axis: ResourceAxis, node: PlannedNode, type: number): Lack {
  const { catalog, root } = template;
  const wanted = Requirements.fromItems(node.requirements);
  let left = intersection(root.compatible, variantsOf(catalog.typeOfVariant, type));
  for (const requirement of wanted) {
    const label = catalog.findLabel(requirement.key);
    if (label === undefined) continue;
    const next = intersection(left, label.compatibleWith(requirement));
    if (isEmpty(next)) {
      const before = left;
      const own = label.offeredBy((variant) => isIn(before, variant), requirement.key);
      const need = `its pods need ${requirementText(requirement)}`;
      return { lacked: `${need}, it has ${requirementText(own)}`, topic: need };
    }
    left = next;
  }
  const requests = axis.rowOf(node.requests);
  const fitting = withRoom(template, left, requests);
  if (isEmpty(fitting)) {
    const pods = node.pods.length === 1 ? "pod" : `${node.pods.length} pods`;
    const { text, resources } = roomLack(template, axis, left, requests);
    return { lacked: `too small for its ${pods}: ${text}`, topic: `too little ${resources} for its ${pods}` };
  }
  if (isEmpty(intersection(fitting, catalog.launchableAny(catalog.kindsUnder(root.requirements.and(wanted)))))) {
    const lacked = "no available offering in the zone and capacity type that its pods need";
    return { lacked, topic: lacked };
  }
  const lacked = "the pool's limits, or what its pods demand of each other, of volumes or of host ports, leave it out";
  return { lacked, topic: lacked };
}

function roomLack({ room }: Template, { names }: ResourceAxis, among: TypeSet, requests: Float64Array) {
  const short = names.flatMap((resource, position) => {
    const most = Math.max(0, room[position]!.greatestIn(among));
    if (most >= requests[position]!) return [];
    const text = `${resource} ${formatAmount(resource, requests[position]!)} needed, ${formatAmount(resource, most)} free after DaemonSets`;
    return [{ resource, text }];
  });
  return { text: short.map(({ text }) => text).join("; "), resources: short.map(({ resource }) => resource).join(" and ") };
}
