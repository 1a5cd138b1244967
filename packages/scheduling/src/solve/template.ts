/** A NodePool as the solver sees it: what a new node of it would be like. Rules S-60, S-62…S-64, S-69. */
import {
  formatResources,
  INITIALIZED_LABEL,
  NODE_POOL_LABEL,
  type NodePool,
  nodeClassLabel,
  REGISTERED_LABEL,
  type Resources,
  type Taint,
} from "@joinery/api";
import { AmountColumn } from "../catalog/amount-column.ts";
import { type Catalog, compileCatalog } from "../catalog/catalog.ts";
import { addTo, emptySet, isEmpty, isIn, type TypeSet } from "../catalog/type-set.ts";
import { compareTexts } from "../plan/names.ts";
import type { PoolOffer, Problem, SolveOptions } from "../problem.ts";
import { Requirement } from "../requirements/requirement.ts";
import { Requirements } from "../requirements/requirements.ts";
import type { DomainSource } from "../topology/domain-universe.ts";
import { ClaimState } from "./claim-state.ts";
import { type DaemonGroup, daemonGroups } from "./daemon-overhead.ts";
import { minValuesShortfalls } from "./min-values.ts";
import { PoolLimits } from "./pool-limits.ts";
import type { ResourceAxis } from "./resource-axis.ts";

export interface Template {
  /** Position in the order of S-60 among the pools of the problem. */
  readonly index: number;
  readonly name: string;
  readonly nodePool: NodePool;
  readonly catalog: Catalog;
  readonly wellKnown: ReadonlySet<string>;
  readonly taints: readonly Taint[];
  readonly daemonGroups: readonly DaemonGroup[];
  /** Per position of the resource axis: what is left for pods on each variant, DaemonSets already taken off. */
  readonly room: readonly AmountColumn[];
  /** Scratch for one question to `room`, reused because questions are asked for every pod and claim. */
  readonly rows: Int32Array;
  readonly limits: PoolLimits | undefined;
  /** Some requirement demands several values of what is left (S-173). */
  readonly hasMinValues: boolean;
  readonly minValuesPolicy: SolveOptions["minValuesPolicy"];
  /** Of a claim without pods. */
  readonly root: ClaimState;
}

/** S-60: weight descending, then name descending. */
export function inPoolOrder(pools: readonly PoolOffer[]): readonly PoolOffer[] {
  return [...pools].sort((a, b) => weightOf(b.nodePool) - weightOf(a.nodePool) || compareTexts(nameOf(b.nodePool), nameOf(a.nodePool)));
}

function nameOf(nodePool: NodePool): string {
  return nodePool.metadata?.name ?? "";
}

export interface TemplateContext {
  readonly problem: Problem;
  readonly axis: ResourceAxis;
  readonly wellKnown: ReadonlySet<string>;
}

export function createTemplate(
  { nodePool, instanceTypes }: PoolOffer,
  index: number,
  { problem, axis, wellKnown }: TemplateContext,
): Template {
  const catalog = compileCatalog(instanceTypes);
  const { taints = [], requirements: items } = nodePool.spec.template.spec;
  const requirements = templateRequirements(nodePool);
  const groups = daemonGroups(problem.daemonSets, { catalog, requirements, taints, wellKnown });
  const members = variantsWithRoomForDaemons(catalog, groups);
  const ownNodes = problem.nodes.filter(({ labels }) => labels[NODE_POOL_LABEL] === nameOf(nodePool));
  const groupsName = nameOfGroups(groups);
  const room = axis.names.map((resource) =>
    catalog.roomColumn(`${resource} ${groupsName}`, () => roomColumn(resource, catalog, members, groups)),
  );
  return {
    index,
    name: nameOf(nodePool),
    nodePool,
    catalog,
    wellKnown,
    taints,
    daemonGroups: groups,
    room,
    rows: new Int32Array(room.length),
    limits: PoolLimits.of(nodePool, catalog, ownNodes),
    hasMinValues: items.some(({ minValues }) => minValues !== undefined),
    minValuesPolicy: problem.options.minValuesPolicy,
    root: ClaimState.root(requirements, { catalog, members, room, taints, wellKnown }),
  };
}

/** S-62. */
export function templateRequirements(nodePool: NodePool): Requirements {
  const { metadata, spec } = nodePool.spec.template;
  return Requirements.fromItems(spec.requirements)
    .and(Requirements.fromLabels(metadata?.labels))
    .and([
      Requirement.in(NODE_POOL_LABEL, nameOf(nodePool)),
      Requirement.in(nodeClassLabel(spec.nodeClassRef), spec.nodeClassRef.name),
      Requirement.in(REGISTERED_LABEL, "true"),
      Requirement.in(INITIALIZED_LABEL, "true"),
    ]);
}

/** What the pool could offer to topology, whether or not it is usable (S-131). */
export function domainSource({ catalog, root, taints }: Template): DomainSource {
  return { catalog, requirements: root.requirements, taints };
}

/** S-64: does any type remain for a claim without pods, and do they hold what minValues demands? */
export function isUsable(template: Template): boolean {
  const { root, hasMinValues, minValuesPolicy } = template;
  if (isEmpty(root.compatible) || isEmpty(root.variants)) return false;
  return !hasMinValues || minValuesPolicy === "BestEffort" || minValuesShortfalls(root, template.catalog, root.variants).length === 0;
}

/** A variant that cannot even hold its DaemonSets holds nothing (S-49 with the overhead as the request). */
function variantsWithRoomForDaemons(catalog: Catalog, groups: readonly DaemonGroup[]): TypeSet {
  const members = emptySet(catalog.variantCount);
  for (const { overhead, variants } of groups) {
    for (let variant = 0; variant < catalog.variantCount; variant++) {
      if (isIn(variants, variant) && isIn(catalog.sound, variant) && holds(catalog.allocatable[variant]!, overhead))
        addTo(members, variant);
    }
  }
  return members;
}

function holds(allocatable: Resources, overhead: Resources): boolean {
  for (const name in overhead) if (overhead[name]! > (allocatable[name] ?? 0)) return false;
  return true;
}

function roomColumn(resource: string, catalog: Catalog, members: TypeSet, groups: readonly DaemonGroup[]): AmountColumn {
  const overheads = overheadPerVariant(resource, catalog, groups);
  return new AmountColumn(catalog.variantCount, members, (variant) => (catalog.allocatable[variant]![resource] ?? 0) - overheads[variant]!);
}

/** Equal where the same DaemonSets take the same of the same variants. */
function nameOfGroups(groups: readonly DaemonGroup[]): string {
  const isOne = groups.length === 1;
  return JSON.stringify(groups.map(({ overhead, variants }) => [formatResources(overhead), isOne ? "all" : variants.join()]));
}

function overheadPerVariant(resource: string, { variantCount }: Catalog, groups: readonly DaemonGroup[]): Float64Array {
  const overheads = new Float64Array(variantCount);
  for (const { overhead, variants } of groups) {
    const amount = overhead[resource] ?? 0;
    if (amount === 0) continue;
    for (let variant = 0; variant < variantCount; variant++) if (isIn(variants, variant)) overheads[variant] = amount;
  }
  return overheads;
}

function weightOf({ spec }: NodePool): number {
  return spec.weight ?? 0;
}
