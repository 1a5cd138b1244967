/**
 * The forms in which one pod is tried, one after the other: as it is, then with one preference or alternative less each time.
 * Rules S-46, S-106…S-111, S-130.
 */
import type { PodAffinityTerm, PreferredNodeTerm, Toleration, TopologySpreadConstraint, WeightedPodAffinityTerm } from "@joinery/api";
import type { PodShape, SolveOptions } from "../problem.ts";
import { Requirement } from "../requirements/requirement.ts";
import { Requirements } from "../requirements/requirements.ts";

export interface PodVariant {
  /** With the heaviest node preference that is left. */
  readonly requirements: Requirements;
  /** Without preferences: what topology counts by (S-113, S-142). */
  readonly strict: Requirements;
  /** The node selector with each required term, tried before or not: on which nodes the pod could be at all (S-139). */
  readonly alternatives: readonly Requirements[];
  readonly tolerations: readonly Toleration[];
  readonly spreads: readonly TopologySpreadConstraint[];
  /** Required ones, and preferred ones that are left. */
  readonly affinity: readonly PodAffinityTerm[];
  readonly antiAffinity: readonly PodAffinityTerm[];
}

export interface VariantOptions {
  readonly preferencePolicy: SolveOptions["preferencePolicy"];
  /** Some pool has a PreferNoSchedule taint, which is tolerated as the last resort (S-108). */
  readonly mayPreferNot: boolean;
}

const TOLERATE_PREFERENCES: Toleration = { operator: "Exists", effect: "PreferNoSchedule" };

/** What can be given up, in lists whose first entry goes first. */
interface Wishes {
  readonly allTerms: readonly Requirements[];
  readonly terms: readonly Requirements[];
  readonly podAffinity: readonly PodAffinityTerm[];
  readonly podAntiAffinity: readonly PodAffinityTerm[];
  readonly nodePreferences: readonly Requirement[][];
  readonly spreads: readonly TopologySpreadConstraint[];
  readonly tolerations: readonly Toleration[];
}

/** At least one. Under `Ignore` preferences are not there (S-107), but alternatives and taints of pools still count. */
export function podVariants(shape: PodShape, { preferencePolicy, mayPreferNot }: VariantOptions): readonly PodVariant[] {
  const first = wishesOf(shape, preferencePolicy === "Respect");
  const variants = [variantOf(shape, first)];
  for (let next = relaxed(first, mayPreferNot); next !== undefined; next = relaxed(next, mayPreferNot))
    variants.push(variantOf(shape, next));
  const sensible = variants.filter((variant) => !isContradictory(variant));
  return sensible.length > 0 ? sensible : variants.slice(-1);
}

/**
 * A preference that rules out values of a label which the pod requires would make a node without the label seem right for the pod, which
 * it never is (S-31, S-41), so such a preference is given up before it is tried. Requirements that contradict themselves stay (S-45).
 */
function isContradictory({ requirements, strict }: PodVariant): boolean {
  if (requirements === strict) return false;
  for (const required of strict) {
    if (!required.allowsAbsence && requirements.find(required.key)!.allowsAbsence) return true;
  }
  return false;
}

/**
 * The strict requirements of a pod, one set per required node-affinity term in the order in which they are tried; at least one. A term
 * without expressions selects no node in Kubernetes, so the others count; a pod with nothing but such terms is not placed at all.
 */
export function podRequirements({ nodeSelector, affinity }: PodShape): readonly Requirements[] {
  const selected = Requirements.fromLabels(nodeSelector);
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const meant = terms.filter(({ matchExpressions = [] }) => matchExpressions.length > 0);
  if (meant.length === 0) return [selected];
  return meant.map(({ matchExpressions = [] }) => selected.and(matchExpressions.map((item) => Requirement.of(item))));
}

/**
 * What the pod asks for first: the first required term together with the heaviest preferred one, of equal weights the first that is
 * declared (S-46).
 */
export function firstRequirements(shape: PodShape): Requirements {
  const [heaviest] = (shape.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).toSorted(
    (one, other) => other.weight - one.weight,
  );
  const wished = (heaviest?.preference.matchExpressions ?? []).map((item) => Requirement.of(item));
  return podRequirements(shape)[0]!.and(wished);
}

function wishesOf(shape: PodShape, isRespected: boolean): Wishes {
  const { affinity, topologySpreadConstraints = [], tolerations } = shape;
  const preferred = isRespected ? affinity : undefined;
  const allTerms = podRequirements(shape);
  return {
    allTerms,
    terms: allTerms,
    podAffinity: termsByWeight(preferred?.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    podAntiAffinity: termsByWeight(preferred?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    nodePreferences: nodePreferences(preferred?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    spreads: topologySpreadConstraints.filter((spread) => isRespected || isHard(spread)),
    tolerations,
  };
}

/** One step of S-108; undefined when nothing is left to give up. */
function relaxed(wishes: Wishes, mayPreferNot: boolean): Wishes | undefined {
  const { terms, podAffinity, podAntiAffinity, nodePreferences, spreads, tolerations } = wishes;
  if (terms.length > 1) return { ...wishes, terms: terms.slice(1) };
  if (podAffinity.length > 0) return { ...wishes, podAffinity: podAffinity.slice(1) };
  if (podAntiAffinity.length > 0) return { ...wishes, podAntiAffinity: podAntiAffinity.slice(1) };
  if (nodePreferences.length > 0) return { ...wishes, nodePreferences: nodePreferences.slice(1) };
  const soft = spreads.findIndex((spread) => !isHard(spread));
  if (soft >= 0) return { ...wishes, spreads: withoutAt(spreads, soft) };
  const isLast = !mayPreferNot || tolerations.includes(TOLERATE_PREFERENCES) || tolerations.some(isPreferenceToleration);
  return isLast ? undefined : { ...wishes, tolerations: [...tolerations, TOLERATE_PREFERENCES] };
}

function variantOf({ affinity }: PodShape, wishes: Wishes): PodVariant {
  const strict = wishes.terms[0]!;
  const [preference] = wishes.nodePreferences;
  return {
    requirements: preference === undefined ? strict : strict.and(preference),
    strict,
    alternatives: wishes.allTerms,
    tolerations: wishes.tolerations,
    spreads: wishes.spreads,
    affinity: [...(affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []), ...wishes.podAffinity],
    antiAffinity: [...(affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []), ...wishes.podAntiAffinity],
  };
}

function termsByWeight(terms: readonly WeightedPodAffinityTerm[] = []): readonly PodAffinityTerm[] {
  return terms.toSorted((a, b) => b.weight - a.weight).map(({ podAffinityTerm }) => podAffinityTerm);
}

function nodePreferences(terms: readonly PreferredNodeTerm[] = []): readonly Requirement[][] {
  return terms
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ preference }) => (preference.matchExpressions ?? []).map((item) => Requirement.of(item)));
}

/** The last one moves into the slot of the one that goes (S-108). */
function withoutAt<T>(list: readonly T[], index: number): readonly T[] {
  const rest = [...list];
  const last = rest.pop()!;
  if (index < rest.length) rest[index] = last;
  return rest;
}

function isHard({ whenUnsatisfiable }: TopologySpreadConstraint): boolean {
  return whenUnsatisfiable === "DoNotSchedule";
}

function isPreferenceToleration({ key, operator, effect }: Toleration): boolean {
  return operator === "Exists" && effect === "PreferNoSchedule" && (key ?? "") === "";
}
