/**
 * Requirements of a pool that leave out every type on which the pod would fit: families that are too small, sizes, categories without
 * the device that it asks for. The pool is asked once more without each of them. Rules S-62, S-101.
 */
import { isIn, type TypeSet } from "../catalog/type-set.ts";
import type { RequirementItem } from "../instance-type.ts";
import type { PodShape } from "../problem.ts";
import { Requirements } from "../requirements/requirements.ts";
import { createTemplate, type Template } from "../solve/template.ts";
import type { AskedPool } from "./candidate-edits.ts";
import type { Edit } from "./edit.ts";
import { askPool } from "./funnel.ts";
import { changedItem, itemsOf } from "./pool-edits.ts";
import type { Surroundings } from "./residents.ts";

/** Stages at which the pool has too few types, so that more of them could help. */
const STAGES = new Set(["node-pool", "requirement", "fit", "daemon-sets", "offering"]);

/** Each requirement that, widened by a value of the cheapest type that would do, leaves something; what leads to the cheapest types first. */
export function widenedPool({ template, answer }: AskedPool, shape: PodShape, surroundings: Surroundings): Edit[] {
  if (!STAGES.has(answer.funnel.stages.at(-1)?.stage ?? "")) return [];
  const found = itemsOf(template).flatMap((item, index) => {
    const { values, usdPerHour } = cheapestWithout(template, index, shape, surroundings);
    const to = widened(item, values);
    return to === undefined ? [] : [{ edit: changedItem(template, index, to === "none" ? undefined : to), usdPerHour }];
  });
  // A family of long ago may have the one size that is admitted; people mean the next size of the family that they have chosen.
  return found.sort((one, other) => one.usdPerHour - other.usdPerHour).map(({ edit }) => edit);
}

interface Cheapest {
  readonly values: readonly string[];
  readonly usdPerHour: number;
}

/** Values of the label that the cheapest type has on which the pod would fit if the requirement were not there, and what it costs. */
function cheapestWithout(template: Template, index: number, shape: PodShape, surroundings: Surroundings): Cheapest {
  const { nodePool, catalog, wellKnown } = template;
  const requirements = nodePool.spec.template.spec.requirements.filter((_, at) => at !== index);
  const spec = { ...nodePool.spec, template: { ...nodePool.spec.template, spec: { ...nodePool.spec.template.spec, requirements } } };
  const { problem, view } = surroundings;
  const context = { problem, axis: view.axis, wellKnown };
  const loose = createTemplate({ nodePool: { ...nodePool, spec }, instanceTypes: catalog.types }, template.index, context);
  const { offered, wanted } = askPool(loose, shape, { ...surroundings, podClass: undefined, dropped: new Map(), reasons: [] });
  const { types, prices } = catalog.priceOrder(catalog.kindsUnder(loose.root.requirements.and([...wanted])));
  const cheapest = types.find((type) => catalog.typeOfVariant.some((of, variant) => of === type && isIn(offered, variant)));
  if (cheapest === undefined) return { values: [], usdPerHour: Number.POSITIVE_INFINITY };
  return { values: valuesOf(catalog, cheapest, offered, itemsOf(template)[index]!.key), usdPerHour: prices[cheapest]! };
}

function valuesOf(catalog: Template["catalog"], type: number, among: TypeSet, key: string): readonly string[] {
  const { listedValues = [] } =
    catalog.findLabel(key)?.offeredBy((variant) => catalog.typeOfVariant[variant] === type && isIn(among, variant), key) ?? {};
  return listedValues;
}

/** undefined where the requirement has the value already, or the label has several at a time, as zones are. */
function widened(item: RequirementItem, values: readonly string[]): RequirementItem | "none" | undefined {
  const [value, ...others] = values;
  if (value === undefined || others.length > 0 || Requirements.fromItems([item]).find(item.key)!.has(value)) return undefined;
  const { operator, values: listed = [] } = item;
  switch (operator) {
    case "In":
      return { ...item, values: [...listed, value] };
    case "NotIn": {
      const left = listed.filter((one) => one !== value);
      return left.length === 0 ? "none" : { ...item, values: left };
    }
    case "Gt":
      return { ...item, values: [String(Number(value) - 1)] };
    case "Lt":
      return { ...item, values: [String(Number(value) + 1)] };
    case "Gte":
    case "Lte":
      return { ...item, values: [value] };
    default:
      return "none";
  }
}
