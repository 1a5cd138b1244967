/**
 * What becomes of a pool's instance types while a pod's wishes are laid on one after the other, in the order in which people think of
 * them. The numbers are those of the compiled catalogue that the solver asks, the last word is the solver's. Rules S-94, S-98, S-101, S-161.
 */
import { CAPACITY_TYPE_LABEL, formatAmount, NODE_POOL_LABEL, ZONE_LABEL } from "@joinery/api";
import type { Catalog } from "../catalog/catalog.ts";
import { addTo, emptySet, intersection, isEmpty, isIn, type TypeSet } from "../catalog/type-set.ts";
import { podRequirements } from "../pods/pod-variants.ts";
import type { PodShape } from "../problem.ts";
import type { Reason } from "../reason.ts";
import type { Requirement } from "../requirements/requirement.ts";
import { type Incompatibility, Requirements } from "../requirements/requirements.ts";
import { requirementText } from "../requirements/text.ts";
import { sentence, sentences } from "../sentence.ts";
import type { PodClass, Search } from "../solve/pod-classes.ts";
import type { LimitShortfall } from "../solve/pool-limits.ts";
import type { ResourceAxis } from "../solve/resource-axis.ts";
import type { Template } from "../solve/template.ts";
import { taintText, untoleratedTaints } from "../taints.ts";
import { askGate, type GateStage } from "./gate-stages.ts";
import type { DomainFact, Surroundings } from "./residents.ts";

/** A stage named after a reason code is one that the solver asks last: ports, volumes, topology, minValues, reservations. */
type StageName = "pool-label" | "node-pool" | "taints" | "requirement" | "fit" | "daemon-sets" | "offering" | "limits" | Reason["kind"];

/** Instance types before and after one wish; the funnel ends with the first stage that leaves none. */
export interface FunnelStage {
  readonly stage: StageName;
  /** The label of a pool or of a requirement, or of a constraint between pods. */
  readonly key?: string;
  /** Of a label that the pod selects pools by: what the pool has; absent where it has none. */
  readonly offered?: string;
  readonly in: number;
  readonly out: number;
  /** Where nothing is left: why. */
  readonly reason?: string;
  /** Where a constraint between pods leaves nothing: who is where. */
  readonly domains?: readonly DomainFact[];
}

export interface PoolFunnel {
  readonly nodePool: string;
  readonly stages: readonly FunnelStage[];
}

/** What is left of a pool's types for a pod, each wish for itself: what an edit would have to reach. */
export interface PodAnswer {
  readonly funnel: PoolFunnel;
  /** What the pod asks for, in the term that got furthest. */
  readonly wanted: Requirements;
  /** Types that go with all labels of pool and pod, DaemonSets still to be held. */
  readonly compatible: TypeSet;
  /** Those of them that have room for the pod. */
  readonly fitting: TypeSet;
  /** Those of them with an available offering. */
  readonly offered: TypeSet;
  /** The last question of the solver that left nothing. */
  readonly refused?: GateStage;
}

/** What the solver has made of the pod, and the state in which it is asked. */
export interface Asked extends Surroundings {
  /** undefined where the pods of the problem do not have the shape. */
  readonly podClass: PodClass | undefined;
  /** Of pools that were left out. */
  readonly dropped: ReadonlyMap<string, Reason>;
  /** Of a pod without a place. */
  readonly reasons: readonly Reason[];
}

/** Of a pod with several required terms, the one that gets furthest is told. */
export function askPool(template: Template, shape: PodShape, asked: Asked): PodAnswer {
  const answers = podRequirements(shape).map((wanted) => askTerm(template, shape, wanted, asked));
  return answers.reduce((best, next) => (isFurther(next.funnel, best.funnel) ? next : best));
}

export function isFurther(one: PoolFunnel, other: PoolFunnel): boolean {
  return compareFurthest(one, other) < 0;
}

/** By the stage that ends the funnel, then by how many types had come so far; the furthest first. */
export function compareFurthest({ stages: one }: PoolFunnel, { stages: other }: PoolFunnel): number {
  const [a, b] = [one.at(-1)!, other.at(-1)!];
  return rankOf(b) - rankOf(a) || b.in - a.in;
}

/** A pool that the pod does not select is farthest from it, however much it has else. */
const ORDER: readonly (readonly StageName[])[] = [
  ["pool-label"],
  ["node-pool"],
  ["taints"],
  ["requirement"],
  ["fit"],
  ["daemon-sets"],
  ["offering"],
  ["limits"],
  ["host-port"],
  ["volume-limit"],
  ["volume-topology"],
  ["topology-spread", "pod-affinity", "pod-anti-affinity"],
];

function rankOf({ stage, out, offered }: FunnelStage): number {
  const rank = ORDER.findIndex((names) => names.includes(stage));
  // A pool with another value of the label is nearer than one without it.
  const isNearer = stage === "pool-label" && offered !== undefined ? 0.5 : 0;
  return (rank < 0 ? ORDER.length : rank) + isNearer + (out > 0 ? ORDER.length : 0);
}

function askTerm(template: Template, shape: PodShape, wanted: Requirements, asked: Asked): PodAnswer {
  const { catalog, root, limits, name } = template;
  const { axis } = asked.view;
  const dropped = asked.dropped.get(name);
  const funnel = new Funnel(catalog);
  for (const requirement of wanted) if (isOfPool(catalog, requirement.key)) askPoolLabel(template, requirement, funnel);
  funnel.pass("node-pool", dropped === undefined ? root.compatible : EMPTY, () => (dropped === undefined ? "" : droppedText(dropped)));
  const taints = hardTaints(template, shape).map((taint) => `the pod does not tolerate ${taintText(taint)}`);
  funnel.allow("taints", taints.join("; "));
  const { compatible, requirements } = askLabels(template, wanted, funnel);
  const requests = axis.rowOf(shape.requests);
  const hasDaemons = template.daemonGroups.some(({ isEmpty: isNone }) => !isNone);
  if (hasDaemons) {
    const bare = withRoomAlone(template, axis, compatible, requests);
    funnel.pass("fit", bare, () => roomText(template, axis, requests, (position) => mostAlone(template, axis, compatible, position), ""));
  }
  const fitting = withRoom(template, compatible, requests);
  funnel.pass(hasDaemons ? "daemon-sets" : "fit", fitting, () =>
    roomText(
      template,
      axis,
      requests,
      (position) => template.room[position]!.greatestIn(compatible),
      hasDaemons ? " after DaemonSets" : "",
    ),
  );
  const offered = intersection(fitting, catalog.offeringAny(catalog.kindsUnder(requirements)));
  funnel.pass("offering", offered, () => {
    const pinned = [ZONE_LABEL, CAPACITY_TYPE_LABEL].flatMap((key) => requirements.find(key) ?? []);
    const where = pinned.length === 0 ? "any zone and capacity type" : pinned.map(requirementText).join(", ");
    return `none of them has an available offering for ${where}`;
  });
  let left = offered;
  if (limits !== undefined) {
    left = intersection(offered, limits.allowed());
    funnel.pass("limits", left, () => limits.shortfalls(offered).map(shortfallText).join("; ") || sentence(limits.reason(offered)));
  }
  const refused = funnel.isOver ? undefined : passGate(template, { shape, wanted }, left, asked, funnel);
  const own = asked.reasons.filter((reason) => !("nodePool" in reason) || reason.nodePool === name);
  if (own.length > 0) funnel.refuse(own[0]!.kind, sentences(own));
  return { funnel: { nodePool: name, stages: funnel.stages }, wanted, compatible, fitting, offered, ...(refused && { refused }) };
}

/** The pod's last preferences are given up when the solver refuses it, so its last search is what counts. */
function passGate(
  template: Template,
  { shape, wanted }: { readonly shape: PodShape; readonly wanted: Requirements },
  left: TypeSet,
  asked: Asked,
  funnel: Funnel,
): GateStage | undefined {
  const search = asked.podClass && searchFor(asked.podClass, wanted);
  if (search === undefined) return undefined;
  const { problem, view, plan } = asked;
  const { stages } = askGate({ template, shape, state: template.root.narrowedBy(wanted), left, search, problem, view, plan });
  for (const { stage, key, left: passed, why, domains } of stages) funnel.pass(stage, passed, () => why, key, domains);
  const last = stages.at(-1);
  return last !== undefined && isEmpty(last.left) ? last : undefined;
}

function searchFor({ searches }: PodClass, { canonicalText }: Requirements): Search | undefined {
  return searches.findLast(({ constraint }) => constraint.requirements.canonicalText === canonicalText);
}

const EMPTY: TypeSet = new Int32Array(0);

function droppedText(reason: Reason): string {
  if (reason.kind !== "min-values") return sentence(reason);
  return reason.labels.map(({ key, wanted, found }) => `minValues ${wanted} of ${key}, of which the pool's types have ${found}`).join("; ");
}

function shortfallText({ resource, limit, used, least }: LimitShortfall): string {
  const text = (amount: number) => formatAmount(resource, amount);
  const left = Math.max(0, limit - used);
  const state = `${resource}: ${text(used)} of ${text(limit)} used or planned for, ${text(left)} left`;
  // Every type is one node.
  if (resource === "nodes") return state;
  return `${state}, and the smallest of these types has ${text(least)}`;
}

/** Preferences against a pool's taints are given up in the end (S-108). */
export function hardTaints({ taints }: Template, { tolerations }: PodShape): Template["taints"] {
  return untoleratedTaints(taints, tolerations).filter(({ effect }) => effect !== "PreferNoSchedule");
}

/** Labels that no type has are what a pool is selected by: its name, and those that its template gives. */
function isOfPool(catalog: Catalog, key: string): boolean {
  return catalog.findLabel(key) === undefined;
}

function askPoolLabel({ root, catalog, wellKnown }: Template, requirement: Requirement, funnel: Funnel): void {
  const [conflict] = root.requirements.incompatibilities(Requirements.of(requirement), wellKnown);
  // What all pools may have is nothing that one is selected by.
  if (conflict === undefined && wellKnown.has(requirement.key) && requirement.key !== NODE_POOL_LABEL) return;
  const own = root.requirements.find(requirement.key);
  const about = { key: requirement.key, ...(own && { offered: requirementText(own) }) };
  funnel.select(conflict === undefined ? catalog.types.length : 0, () => conflictText(conflict!), about);
}

function conflictText(conflict: Incompatibility): string {
  if (conflict.kind === "undefined-label")
    return `the pool's nodes have no label ${conflict.key}${conflict.typoOf ? `; is ${conflict.typoOf} meant?` : ""}`;
  return `the pod wants ${conflict.wanted}, the pool has ${conflict.offered}`;
}

function askLabels({ root, catalog, wellKnown }: Template, wanted: Requirements, funnel: Funnel) {
  let { compatible, requirements } = root;
  for (const requirement of wanted) {
    const { key } = requirement;
    const [conflict] = requirements.incompatibilities(Requirements.of(requirement), wellKnown);
    requirements = requirements.and([requirement]);
    const label = catalog.findLabel(key);
    const before = compatible;
    if (conflict !== undefined) compatible = new Int32Array(compatible.length);
    else if (label !== undefined) compatible = intersection(compatible, label.compatibleWith(requirements.find(key)!));
    if (isOfPool(catalog, key)) continue;
    funnel.pass(
      "requirement",
      compatible,
      () => {
        if (conflict !== undefined) return conflictText(conflict);
        const offered = label!.offeredBy((variant) => isIn(before, variant), key);
        return `the pod wants ${requirementText(requirement)}, these types have ${requirementText(offered)}`;
      },
      key,
    );
  }
  return { compatible, requirements };
}

/** DaemonSets taken off. */
export function withRoom({ room }: Template, among: TypeSet, requests: ArrayLike<number>, except?: number): TypeSet {
  let left = among;
  for (const [position, column] of room.entries()) {
    if (position !== except) left = intersection(left, column.setOf(column.rowAtLeast(requests[position]!)));
  }
  return left;
}

/** As if no DaemonSet ran there. */
function withRoomAlone({ catalog }: Template, { names }: ResourceAxis, among: TypeSet, requests: Float64Array): TypeSet {
  const left = emptySet(catalog.variantCount);
  for (const [variant, amounts] of catalog.allocatable.entries()) {
    if (isIn(among, variant) && names.every((name, position) => requests[position]! <= (amounts[name] ?? 0))) addTo(left, variant);
  }
  return left;
}

function mostAlone({ catalog }: Template, { names }: ResourceAxis, among: TypeSet, position: number): number {
  let most = 0;
  for (const [variant, amounts] of catalog.allocatable.entries()) {
    if (isIn(among, variant)) most = Math.max(most, amounts[names[position]!] ?? 0);
  }
  return most;
}

function roomText(
  { catalog }: Template,
  { names }: ResourceAxis,
  requests: Float64Array,
  mostOf: (position: number) => number,
  after: string,
): string {
  const short = names.flatMap((resource, position) => {
    const most = mostOf(position);
    if (most >= requests[position]!) return [];
    if (catalog.allocatable.every((amounts) => (amounts[resource] ?? 0) <= 0))
      return [`${resource}: ${formatAmount(resource, requests[position]!)} requested, and no instance type of the catalogue has any`];
    const free = formatAmount(resource, Number.isFinite(most) ? Math.max(0, most) : 0);
    return [`${resource}: ${formatAmount(resource, requests[position]!)} requested, at most ${free} free on any of these types${after}`];
  });
  return short.length > 0 ? short.join("; ") : `each resource fits some type${after}, but no type has room for all of them together`;
}

class Funnel {
  readonly stages: FunnelStage[] = [];
  readonly #catalog: Catalog;
  #left: number;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
    this.#left = catalog.types.length;
  }

  get isOver(): boolean {
    return this.stages.at(-1)?.out === 0;
  }

  pass(stage: StageName, set: TypeSet, why: () => string, key?: string, domains?: readonly DomainFact[]): void {
    const out = isEmpty(set) ? 0 : typeCount(this.#catalog, set);
    this.#add(stage, out, why, key === undefined ? {} : { key }, domains);
  }

  /** Nothing where `refusal` is empty. */
  allow(stage: StageName, refusal: string): void {
    this.#add(stage, refusal === "" ? this.#left : 0, () => refusal);
  }

  select(out: number, why: () => string, about: Pick<FunnelStage, "key" | "offered">): void {
    this.#add("pool-label", out, why, about);
  }

  refuse(stage: StageName, reason: string): void {
    this.#add(stage, 0, () => reason);
  }

  #add(
    stage: StageName,
    out: number,
    why: () => string,
    about: Pick<FunnelStage, "key" | "offered"> = {},
    domains?: readonly DomainFact[],
  ): void {
    if (this.isOver) return;
    const end = out === 0 ? { reason: why(), ...(domains && domains.length > 0 && { domains }) } : {};
    this.stages.push({ stage, ...about, in: this.#left, out, ...end });
    this.#left = out;
  }
}

/** Types, not their variants (S-53). */
function typeCount({ variantCount, typeOfVariant }: Catalog, set: TypeSet): number {
  const types = new Set<number>();
  for (let variant = 0; variant < variantCount; variant++) if (isIn(set, variant)) types.add(typeOfVariant[variant]!);
  return types.size;
}
