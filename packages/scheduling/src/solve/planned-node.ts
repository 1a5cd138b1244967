/** A claim when the solve is over, as a node of the plan. Rules S-71, S-177…S-182, S-56, V-61. */
import {
  CAPACITY_OVERLAY_ANNOTATION,
  CAPACITY_TYPE_LABEL,
  HOSTNAME_LABEL,
  hashAnnotations,
  INITIALIZED_LABEL,
  INSTANCE_TYPE_LABEL,
  MIN_VALUES_RELAXED_ANNOTATION,
  NODE_POOL_HASHES,
  NODE_POOL_LABEL,
  type NodePool,
  nodeClassLabel,
  nodePoolHash,
  PRICE_OVERLAY_ANNOTATION,
  REGISTERED_LABEL,
} from "@joinery/api";
import type { Catalog } from "../catalog/catalog.ts";
import type { OfferingKind } from "../catalog/offering-kinds.ts";
import { addTo, emptySet, hasCommon, intersection, isEmpty, isIn, type TypeSet } from "../catalog/type-set.ts";
import type { InstanceType } from "../instance-type.ts";
import { remembered } from "../memo.ts";
import { compareTexts } from "../plan/names.ts";
import type { CheapestOffering, PlannedNode } from "../plan.ts";
import type { Reason } from "../reason.ts";
import { Requirement } from "../requirements/requirement.ts";
import type { Requirements } from "../requirements/requirements.ts";
import type { ClaimState } from "./claim-state.ts";
import { leastOverhead } from "./daemon-overhead.ts";
import { minValuesShortfalls } from "./min-values.ts";
import type { OpenClaim } from "./open-claims.ts";
import type { ResourceAxis } from "./resource-axis.ts";
import { variantsWithRoom } from "./room.ts";
import type { Template } from "./template.ts";

/** S-178: more types than this are of no use to any cloud's launch request. */
const TYPES_MAX = 600;

const RESERVED = "reserved";

/** A claim whose cheapest types, of which only so many are listed, hold too few values (S-178). */
export type TooFewValues = Extract<Reason, { readonly kind: "min-values" }>;

export interface NodePlannerOptions {
  readonly reservationIdLabel: string;
  readonly instanceTypesMax?: number | undefined;
}

/** Keys that exist for the simulation, or that the list of types stands for. */
const UNWRITTEN_KEYS = [HOSTNAME_LABEL, REGISTERED_LABEL, INITIALIZED_LABEL, INSTANCE_TYPE_LABEL];

/** What depends on the state and the types that are left, not on the pods: shared by all claims for which both are equal. */
type Outcome = Pick<
  PlannedNode,
  "requirements" | "labels" | "instanceTypes" | "instanceTypeMinValues" | "cheapest" | "daemonSetRequests"
> & {
  /** undefined where no overlay has changed the types. */
  readonly ofOverlays: Readonly<Record<string, string>> | undefined;
};

type OutcomeOrRefusal = Outcome | TooFewValues;

/** Outcomes by the rows of the room columns, one level per resource: equal rows leave equal types. */
interface RowBranch {
  readonly next: Map<number, RowBranch>;
  outcome: OutcomeOrRefusal | undefined;
}

export class NodePlanner {
  readonly #axis: ResourceAxis;
  readonly #byRows = new Map<ClaimState, Map<TypeSet | undefined, RowBranch>>();
  /** Different rows may leave the same types: by the words of the set. */
  readonly #byTypes = new Map<ClaimState, Map<string, OutcomeOrRefusal>>();
  readonly #countByPool = new Map<string, number>();
  readonly #annotations = new Map<NodePool, Readonly<Record<string, string>>>();
  readonly #reservationIdLabel: string;
  readonly #typesMax: number;

  constructor(axis: ResourceAxis, { reservationIdLabel, instanceTypesMax = TYPES_MAX }: NodePlannerOptions) {
    this.#axis = axis;
    this.#reservationIdLabel = reservationIdLabel;
    this.#typesMax = instanceTypesMax;
  }

  /** In the order in which the claims were opened, which is the order of their numbers. */
  plan(
    { template, state: last, allowed, isRelaxed, held }: OpenClaim,
    used: Float64Array,
    pods: readonly string[],
  ): PlannedNode | TooFewValues {
    const state = held.size === 0 ? last : last.reserved(this.#reservationIdLabel, held);
    // A claim that is pinned to its reservations still needs the other types where minValues counts them.
    const outcome =
      held.size > 0 && template.hasMinValues
        ? outcomeOf(template, state, variantsWithRoom(last, template, allowed, used), this.#typesMax)
        : this.#outcome(template, state, allowed, used);
    if ("kind" in outcome) return outcome;
    const { requirements, labels, instanceTypes, instanceTypeMinValues, cheapest, daemonSetRequests, ofOverlays } = outcome;
    const number = (this.#countByPool.get(template.name) ?? 0) + 1;
    this.#countByPool.set(template.name, number);
    const { nodePool } = template;
    const { taints = [], startupTaints = [] } = nodePool.spec.template.spec;
    return {
      name: `${template.name}-${number}`,
      nodePool,
      requirements,
      labels,
      instanceTypes,
      ...(instanceTypeMinValues !== undefined && { instanceTypeMinValues }),
      cheapest,
      daemonSetRequests,
      annotations: this.#annotationsOf(nodePool, isRelaxed, ofOverlays),
      taints,
      startupTaints,
      requests: this.#axis.resourcesOf(used),
      pods,
    };
  }

  #annotationsOf(nodePool: NodePool, isRelaxed: boolean, ofOverlays: Outcome["ofOverlays"]): Readonly<Record<string, string>> {
    const annotations = remembered(this.#annotations, nodePool, () => claimAnnotations(nodePool));
    if (!isRelaxed && ofOverlays === undefined) return annotations;
    return { ...annotations, ...(isRelaxed && { [MIN_VALUES_RELAXED_ANNOTATION]: "true" }), ...ofOverlays };
  }

  #outcome(template: Template, state: ClaimState, allowed: TypeSet | undefined, used: Float64Array): OutcomeOrRefusal {
    const byAllowed = remembered(this.#byRows, state, (): Map<TypeSet | undefined, RowBranch> => new Map());
    let branch = remembered(byAllowed, allowed, newBranch);
    for (let position = 0; position < used.length; position++) {
      branch = remembered(branch.next, template.room[position]!.rowAtLeast(used[position]!), newBranch);
    }
    if (branch.outcome === undefined) {
      const types = variantsWithRoom(state, template, allowed, used);
      const byTypes = remembered(this.#byTypes, state, (): Map<string, OutcomeOrRefusal> => new Map());
      branch.outcome = remembered(byTypes, types.join(), () => outcomeOf(template, state, types, this.#typesMax));
    }
    return branch.outcome;
  }
}

function newBranch(): RowBranch {
  return { next: new Map(), outcome: undefined };
}

function outcomeOf(template: Template, state: ClaimState, fitting: TypeSet, typesMax: number): OutcomeOrRefusal {
  const { catalog, daemonGroups } = template;
  const { requirements } = state;
  const kinds = usableKinds(catalog, state, fitting);
  // What cannot be launched is listed only where that is true of all (V-61), or where minValues would not hold without it.
  const launchable = intersection(fitting, catalog.launchableAny(kinds));
  const isEnough = !isEmpty(launchable) && (!template.hasMinValues || minValuesShortfalls(state, catalog, launchable).length === 0);
  const variants = isEnough ? launchable : fitting;
  const types = cheapestTypes(catalog, kinds, variants, typesMax);
  if (types.length === typesMax && template.hasMinValues && template.minValuesPolicy === "Strict") {
    const labels = minValuesShortfalls(state, catalog, variantsOf(catalog, variants, types));
    if (labels.length > 0) return { kind: "min-values", nodePool: template.name, labels };
  }
  const capacityTypes = new Set(
    kinds.filter((kind) => hasCommon(catalog.kinds[kind]!.launchable, variants)).map((kind) => catalog.kinds[kind]!.capacityType),
  );
  const narrowed = capacityTypes.size === 0 ? requirements : requirements.and([Requirement.in(CAPACITY_TYPE_LABEL, ...capacityTypes)]);
  const typeMinValues = narrowed.find(INSTANCE_TYPE_LABEL)?.minValues;
  const instanceTypes = types.map((type) => catalog.types[type]!);
  return {
    requirements: narrowed.without(...UNWRITTEN_KEYS).toItems(),
    labels: claimLabels(template.nodePool, narrowed, template.wellKnown),
    instanceTypes,
    ofOverlays: overlayAnnotations(instanceTypes),
    ...(typeMinValues !== undefined && { instanceTypeMinValues: typeMinValues }),
    cheapest: cheapestOffering(catalog, kinds, variants, types[0]!),
    daemonSetRequests: leastOverhead(daemonGroups.filter((group) => hasCommon(group.variants, variants))),
  };
}

/** S-63, S-98. The hash is that of the pool as it was when the solve began (S-10). */
export function claimAnnotations(nodePool: NodePool): Readonly<Record<string, string>> {
  return {
    ...nodePool.spec.template.metadata?.annotations,
    ...hashAnnotations(NODE_POOL_HASHES, nodePoolHash(nodePool)),
    [MIN_VALUES_RELAXED_ANNOTATION]: "false",
  };
}

/** S-183; undefined where no type is overlaid. */
function overlayAnnotations(types: readonly InstanceType[]): Readonly<Record<string, string>> | undefined {
  const isPriced = types.some(({ overlaid }) => overlaid?.price);
  const isEnlarged = types.some(({ overlaid }) => overlaid?.capacity);
  if (!isPriced && !isEnlarged) return undefined;
  return { ...(isPriced && { [PRICE_OVERLAY_ANNOTATION]: "true" }), ...(isEnlarged && { [CAPACITY_OVERLAY_ANNOTATION]: "true" }) };
}

/** Indexes of types, cheapest first (S-56, S-178). */
function cheapestTypes(catalog: Catalog, kinds: readonly number[], variants: TypeSet, typesMax: number): readonly number[] {
  const types = emptySet(catalog.types.length);
  for (let variant = 0; variant < catalog.variantCount; variant++)
    if (isIn(variants, variant)) addTo(types, catalog.typeOfVariant[variant]!);
  const order = catalog.priceOrder(kinds).types;
  if (hasOverrides(catalog))
    return byPriceWithRoom(
      catalog,
      kinds,
      variants,
      order.filter((type) => isIn(types, type)),
    ).slice(0, typesMax);
  const cheapest: number[] = [];
  for (let rank = 0; rank < order.length && cheapest.length < typesMax; rank++) {
    const type = order[rank]!;
    if (isIn(types, type)) cheapest.push(type);
  }
  return cheapest;
}

function hasOverrides({ variantCount, types }: Catalog): boolean {
  return variantCount > types.length;
}

/** By the price of what has room; ties by name. */
function byPriceWithRoom(catalog: Catalog, kinds: readonly number[], variants: TypeSet, types: Uint16Array): readonly number[] {
  const priced = Array.from(types, (type) => {
    const prices = kinds.map((kind) => priceIn(catalog, catalog.kinds[kind]!, variants, type));
    return { type, name: catalog.types[type]!.name, price: Math.min(...prices) };
  });
  priced.sort((a, b) => (a.price === b.price ? compareTexts(a.name, b.name) : a.price - b.price));
  return priced.map(({ type }) => type);
}

function variantsOf(catalog: Catalog, among: TypeSet, types: readonly number[]): TypeSet {
  const kept = new Set(types);
  const variants = emptySet(catalog.variantCount);
  for (let variant = 0; variant < catalog.variantCount; variant++)
    if (isIn(among, variant) && kept.has(catalog.typeOfVariant[variant]!)) addTo(variants, variant);
  return variants;
}

/**
 * A reservation is of use only to a claim that holds it, which is then pinned to it (S-172). A claim that holds none does without them,
 * unless there is nothing else, as in simulations (S-169).
 */
function usableKinds(catalog: Catalog, { kinds, requirements }: ClaimState, fitting: TypeSet): readonly number[] {
  if (requirements.find(CAPACITY_TYPE_LABEL)?.listedValues?.join() === RESERVED) return kinds;
  const others = kinds.filter((kind) => catalog.kinds[kind]!.capacityType !== RESERVED);
  return others.length === kinds.length || hasCommon(catalog.launchableAny(others), fitting) ? others : kinds;
}

/** Of the cheapest type; ties by zone, then by capacity type. */
function cheapestOffering(catalog: Catalog, kinds: readonly number[], variants: TypeSet, type: number): CheapestOffering {
  const offerings = kinds
    .map((kind) => catalog.kinds[kind]!)
    .map((kind) => ({ zone: kind.zone, capacityType: kind.capacityType, price: priceIn(catalog, kind, variants, type) }));
  offerings.sort((a, b) => a.price - b.price || compareTexts(a.zone, b.zone) || compareTexts(a.capacityType, b.capacityType));
  const { zone, capacityType, price } = offerings[0]!;
  return { instanceType: (catalog.types[type] as InstanceType).name, zone, capacityType, priceUsdPerHour: price };
}

/** +∞ where the type's offering of this kind is none of the variants: offerings that override what their type has may lack the room (S-53). */
function priceIn({ typeOfVariant, variantCount }: Catalog, { prices, launchable }: OfferingKind, variants: TypeSet, type: number): number {
  for (let variant = typeOfVariant.indexOf(type); variant < variantCount && typeOfVariant[variant] === type; variant++)
    if (isIn(variants, variant) && isIn(launchable, variant)) return prices[type]!;
  return Number.POSITIVE_INFINITY;
}

/** S-63 and S-182: labels of the template, and some allowed value for each custom key. */
export function claimLabels(
  nodePool: NodePool,
  requirements: Requirements,
  wellKnown: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const { metadata, spec } = nodePool.spec.template;
  const labels: Record<string, string> = {};
  for (const requirement of requirements.without(...UNWRITTEN_KEYS)) {
    const value = wellKnown.has(requirement.key) ? undefined : requirement.anyValue();
    if (value !== undefined) labels[requirement.key] = value;
  }
  Object.assign(labels, metadata?.labels);
  labels[NODE_POOL_LABEL] = nodePool.metadata?.name ?? "";
  labels[nodeClassLabel(spec.nodeClassRef)] = spec.nodeClassRef.name;
  return Object.fromEntries(Object.entries(labels).sort(([a], [b]) => compareTexts(a, b)));
}
