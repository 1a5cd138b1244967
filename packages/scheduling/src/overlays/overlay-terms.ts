/** What a NodeOverlay speaks of: types of a pool, and offerings of such a type. Rules, L-226, L-228. */
import { NODE_POOL_LABEL, type NodeOverlay, type NodePool } from "@joinery/api";
import type { InstanceType, Offering, RequirementItem } from "../instance-type.ts";
import { remembered } from "../memo.ts";
import { compareTexts } from "../plan/names.ts";
import { Requirement } from "../requirements/requirement.ts";
import { areCompatible, Requirements } from "../requirements/requirements.ts";

/** An overlay, read. */
export interface OverlayTerms {
  readonly name: string;
  /** Heavier overlays win; absent in the object = 0. */
  readonly weight: number;
  readonly wanted: Requirements;
  /** In the form that `changedPrice` takes; undefined = prices stay. */
  readonly price: string | undefined;
  readonly capacity: Readonly<Record<string, string | number>>;
}

/** In the order in which overlays are weighed: weight descending, then name descending (L-226). */
export function overlayTerms(overlays: Iterable<NodeOverlay>): readonly OverlayTerms[] {
  return Array.from(overlays, termsOf).sort((a, b) => b.weight - a.weight || compareTexts(b.name, a.name));
}

function termsOf({ metadata, spec }: NodeOverlay): OverlayTerms {
  return {
    name: metadata?.name ?? "",
    weight: spec.weight ?? 0,
    wanted: Requirements.fromItems(spec.requirements),
    price: spec.price ?? spec.priceAdjustment,
    capacity: spec.capacity ?? {},
  };
}

/** What a pool adds to the labels of its types. Its requirements and its node class do not count (L-228). */
export function siteLabels({ metadata, spec }: NodePool): Requirements {
  return Requirements.fromLabels(spec.template.metadata?.labels).and([Requirement.in(NODE_POOL_LABEL, metadata?.name ?? "")]);
}

/** Offerings of the type, available or not, that the overlay speaks of; none: it does not speak of the type (L-228). */
export function offeringsMeant(wanted: Requirements, site: Requirements, type: InstanceType): readonly Offering[] {
  return isTypeMeant(wanted, site, type) ? type.offerings.filter(({ requirements }) => isOfferingMeant(wanted, requirements)) : [];
}

/** Strict: what neither pool nor type defines is not there. */
function isTypeMeant(wanted: Requirements, site: Requirements, type: InstanceType): boolean {
  for (const want of wanted) {
    let offered = site.find(want.key);
    for (const item of type.requirements) {
      if (item.key !== want.key) continue;
      const own = requirementOf(item);
      offered = offered === undefined ? own : offered.intersect(own);
    }
    if (offered === undefined ? !want.allowsAbsence : !areCompatible(offered, want)) return false;
  }
  return true;
}

function isOfferingMeant(wanted: Requirements, items: readonly RequirementItem[]): boolean {
  for (const item of items) {
    const want = wanted.find(item.key);
    if (want !== undefined && !areCompatible(requirementOf(item), want)) return false;
  }
  return true;
}

/** Providers share items among types, so each is read once. */
const requirementsRead = new WeakMap<RequirementItem, Requirement>();

function requirementOf(item: RequirementItem): Requirement {
  return remembered(requirementsRead, item, () => Requirement.of(item));
}
