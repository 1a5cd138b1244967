/** Topology word by word: every question counts all pods again. Rules S-131…S-156. */
import {
  CORE_WELL_KNOWN_LABELS,
  fits,
  type LabelSelector,
  normalizeLabel,
  type PodAffinityTerm,
  type Taint,
  type Toleration,
} from "@joinery/api";
import { allocatableGroups } from "../catalog/allocatable.ts";
import { type PodVariant, podRequirements, podVariants } from "../pods/pod-variants.ts";
import type { PodShape, PodSite, Problem } from "../problem.ts";
import { Requirement } from "../requirements/requirement.ts";
import { Requirements } from "../requirements/requirements.ts";
import { templateRequirements } from "../solve/template.ts";
import { keepingAway } from "../taints.ts";

const HOSTNAME = "kubernetes.io/hostname";

/** Where a pod of this solve went. */
export interface ModelPlacement {
  readonly shape: PodShape;
  readonly hostname: string;
  /** As it was known at that moment. */
  readonly requirements: Requirements;
  /** What the node has come to be since. */
  readonly now: () => Requirements;
  readonly taints: readonly Taint[];
  /** It exists. */
  readonly isThere?: boolean;
}

interface ModelTerm {
  readonly kind: "spread" | "affinity" | "anti-affinity";
  readonly key: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly domains: readonly string[];
  readonly selects: (shape: PodShape) => boolean;
  /** Of spreads: among which domains the smallest count is looked for (S-144). */
  readonly reach?: (domain: string) => boolean;
  readonly uncounted?: (hostname: string) => number;
  /** Of affinity: it is known where everybody is who is meant. */
  readonly isDecided?: () => boolean;
  readonly counts: ReadonlyMap<string, number>;
}

/** Whom a pod has to be with. */
interface ModelWish {
  readonly isSameNode: boolean;
  /** Known ones, by the other labels along which it has to. */
  readonly domains: ReadonlyMap<string, readonly string[]>;
  readonly selects: (other: PodShape) => boolean;
}

export class ModelTopology {
  readonly #problem: Problem;
  readonly #wellKnown: ReadonlySet<string>;
  readonly placements: ModelPlacement[] = [];

  constructor(problem: Problem) {
    this.#problem = problem;
    this.#wellKnown = new Set([...CORE_WELL_KNOWN_LABELS, ...(problem.options.wellKnownLabels ?? [])]);
  }

  /**
   * What is left of the candidate's requirements for the pod, or undefined.
   * @param isToBeHad could a node be made under these requirements? Absent for a node that exists
   */
  narrow(
    shape: PodShape,
    variant: PodVariant,
    hostname: string,
    requirements: Requirements,
    isToBeHad?: (requirements: Requirements, isAlone: boolean) => boolean,
  ): Requirements | undefined {
    const isThere = isToBeHad === undefined;
    const rank = { "anti-affinity": 0, affinity: 1, spread: 2 };
    const terms = [...this.#own(shape, variant), ...this.#inverse(shape)].toSorted((a, b) => rank[a.kind] - rank[b.kind]);
    let wanted = Requirements.empty;
    const absent = new Set<string>();
    for (let before: string | undefined; before !== wanted.canonicalText; ) {
      before = wanted.canonicalText;
      for (const term of terms) {
        const left = requirements.and(wanted);
        const pod = variant.strict.find(term.key);
        const node = term.key === HOSTNAME ? Requirement.in(HOSTNAME, hostname) : left.find(term.key);
        const isChosen = (domain: string, isAlone: boolean) => isThere || isToBeHad(left.and([Requirement.in(term.key, domain)]), isAlone);
        // A node that exists and has no such label is where nobody has to be kept away from others.
        if (isThere && term.kind === "anti-affinity" && term.key !== HOSTNAME && node === undefined) continue;
        const domains = allowedDomains(term, shape, { pod, node, hostname, isChosen });
        const isLeft =
          domains.length > 0 &&
          (isThere ||
            term.key === HOSTNAME ||
            left.isCompatible(Requirements.empty.and([Requirement.in(term.key, ...domains)]), this.#wellKnown));
        if (!isLeft && !isThere && term.kind === "anti-affinity" && term.key !== HOSTNAME) {
          // Nor on a new one that will have none.
          absent.add(term.key);
          wanted = wanted.and([Requirement.of({ key: term.key, operator: "DoesNotExist" })]);
          continue;
        }
        if (domains.length === 0) return undefined;
        if (term.key !== HOSTNAME) wanted = wanted.and([Requirement.in(term.key, ...domains)]);
      }
    }
    return [...wanted].some(({ key, operator }) => operator === "DoesNotExist" && !absent.has(key)) ? undefined : wanted;
  }

  /** Along which labels, without the hostname, somebody's constraint looks at the pod, or it keeps others away. */
  keysAbout(shape: PodShape): ReadonlySet<string> {
    const { preferencePolicy } = this.#problem.options;
    const shapes = new Set(this.#problem.pods.map((pod) => pod.shape));
    const terms = [...shapes].flatMap((other) =>
      podVariants(other, { preferencePolicy, mayPreferNot: false }).flatMap((variant) => this.#own(other, variant)),
    );
    const keys = [
      ...terms.filter(({ selects }) => selects(shape)),
      ...requiredAnti(shape).map(({ topologyKey }) => ({ key: normalizeLabel(topologyKey) })),
    ];
    return new Set(keys.map(({ key }) => key).filter((key) => key !== HOSTNAME));
  }

  /** Whom a pod in this variant has to be with, and along which labels. */
  wishOf(shape: PodShape, variant: PodVariant): ModelWish {
    const terms = this.#own(shape, variant).filter(({ kind }) => kind === "affinity");
    return {
      isSameNode: terms.some(({ key }) => key === HOSTNAME),
      domains: new Map(terms.filter(({ key }) => key !== HOSTNAME).map(({ key, domains }) => [key, domains.toSorted()])),
      selects: (other) => terms.length > 0 && terms.every(({ selects }) => selects(other)),
    };
  }

  /** Labels along which others keep a pod in this variant away, but it keeps away none of its equals that is placed; each with the domains that are known. */
  apartAlong(shape: PodShape, variant: PodVariant): ReadonlyMap<string, readonly string[]> {
    const own = this.#own(shape, variant).filter(({ kind }) => kind === "anti-affinity");
    const hasEquals = this.placements.some((placement) => placement.shape === shape);
    const ofEquals = own.filter(({ selects }) => hasEquals && selects(shape)).map(({ key }) => key);
    const along = new Map<string, readonly string[]>();
    for (const { key, domains } of [...own, ...this.#inverse(shape)]) {
      if (key === HOSTNAME || ofEquals.includes(key)) continue;
      along.set(key, [...new Set([...(along.get(key) ?? []), ...domains])].sort());
    }
    return new Map([...along].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #own(shape: PodShape, variant: PodVariant): readonly ModelTerm[] {
    const inNamespace = (other: PodShape) => other.namespace === shape.namespace;
    const spreads = variant.spreads.map((spread): ModelTerm => {
      const { nodeAffinityPolicy, nodeTaintsPolicy, labelSelector, matchLabelKeys = [], maxSkew, minDomains = 0 } = spread;
      const key = normalizeLabel(spread.topologyKey);
      const keys = matchLabelKeys.filter((name) => shape.labels[name] !== undefined);
      const isNil = labelSelector === undefined && keys.length === 0;
      const meets = (other: PodShape) =>
        matches(labelSelector ?? {}, other.labels) && keys.every((name) => other.labels[name] === shape.labels[name]);
      const alternatives = podRequirements(shape);
      const accepts = (requirements: Requirements, taints: readonly Taint[], isPlanned: boolean) =>
        (nodeTaintsPolicy !== "Honor" || keepingAway(taints, variant.tolerations).length === 0) &&
        (nodeAffinityPolicy === "Ignore" ||
          alternatives.some((wanted) =>
            isPlanned && key === HOSTNAME ? requirements.intersects(wanted) : requirements.isCompatible(wanted),
          ));
      const reach = (domain: string) =>
        nodeAffinityPolicy === "Ignore" || alternatives.some((wanted) => wanted.find(key)?.has(domain) ?? true);
      const others = variant.spreads
        .filter((other) => other.whenUnsatisfiable === "DoNotSchedule" && spread.whenUnsatisfiable === "DoNotSchedule")
        .map(({ topologyKey }) => normalizeLabel(topologyKey))
        .filter((other) => other !== key && other !== HOSTNAME);
      /** kube-scheduler counts on no node that lacks one of them. */
      const isWhole = (labels: Requirements) => others.every((other) => labels.find(other) !== undefined);
      const tolerations = nodeTaintsPolicy === "Honor" ? variant.tolerations : undefined;
      const selects = (other: PodShape) => !isNil && inNamespace(other) && meets(other);
      const lists = (other: PodShape) => inNamespace(other) && meets(other);
      const counts = this.#counts(key, tolerations, accepts, lists, selects, false, false, isWhole);
      /** Pods of one node that will be counted once it is decided where the node is. */
      const uncounted = (hostname: string) =>
        this.placements.filter(({ shape: other, hostname: place, requirements: then, now, taints }) => {
          if (
            place !== hostname ||
            !selects(other) ||
            (nodeTaintsPolicy === "Honor" && keepingAway(taints, variant.tolerations).length > 0)
          )
            return false;
          const mayBe = nodeAffinityPolicy === "Ignore" || alternatives.some((wanted) => then.intersects(wanted));
          const isCounted = (requirements: Requirements) =>
            accepts(requirements, taints, false) && requirements.find(key)?.listedValues?.length === 1;
          return mayBe && !isCounted(then) && !isCounted(now());
        }).length;
      return { kind: "spread", key, maxSkew, minDomains, domains: [...counts.keys()].sort(), selects, counts, reach, uncounted };
    });
    const required = shape.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const between = (kind: "affinity" | "anti-affinity", terms: readonly PodAffinityTerm[]) =>
      terms.map((term) =>
        this.#term(kind, shape, term, kind === "affinity" && required.includes(term) ? required : [term], variant.tolerations),
      );
    return [...spreads, ...between("affinity", variant.affinity), ...between("anti-affinity", variant.antiAffinity)];
  }

  /** `together`: all of them mean whom the term is about. */
  #term(
    kind: "affinity" | "anti-affinity",
    owner: PodShape,
    term: PodAffinityTerm,
    together: readonly PodAffinityTerm[],
    tolerations: readonly Toleration[],
  ): ModelTerm {
    const key = normalizeLabel(term.topologyKey);
    const selects = (other: PodShape) => together.every((one) => this.#isMeant(one, owner, other));
    const isNil = together.some(({ labelSelector }) => labelSelector === undefined);
    const lists = (other: PodShape) => (isNil ? together.every((one) => this.#isInScope(one, owner, other.namespace)) : selects(other));
    const counts = this.#counts(key, tolerations, () => true, lists, selects, kind === "anti-affinity");
    const isDecided = () =>
      this.placements.every(({ shape, isThere, now }) => !selects(shape) || isThere || (now().find(key)?.listedValues?.length ?? 2) < 2);
    const alternatives = podRequirements(owner).map((wanted) => wanted.find(key));
    const reach = (domain: string) => alternatives.some((one) => one?.has(domain) ?? true);
    return { kind, key, maxSkew: 0, minDomains: 0, domains: [...counts.keys()].sort(), selects, counts, reach, isDecided };
  }

  /** One per required anti-affinity term of anybody that means the pod; counted are the pods that have the term. */
  #inverse(shape: PodShape): readonly ModelTerm[] {
    const everybody = [...this.#problem.pods.map((pod) => pod.shape), ...(this.#problem.boundPods ?? []).map((bound) => bound.shape)];
    const terms = new Map<PodAffinityTerm, PodShape>();
    for (const other of everybody) for (const term of requiredAnti(other)) if (this.#isMeant(term, other, shape)) terms.set(term, other);
    return Array.from(terms, ([term, owner]): ModelTerm => {
      const key = normalizeLabel(term.topologyKey);
      const isOwner = (other: PodShape) => requiredAnti(other).includes(term) && other.namespace === owner.namespace;
      const counts = this.#counts(key, undefined, () => true, isOwner, isOwner, true, true);
      return { kind: "anti-affinity", key, maxSkew: 0, minDomains: 0, domains: [...counts.keys()].sort(), selects: () => true, counts };
    });
  }

  #counts(
    key: string,
    tolerations: readonly Toleration[] | undefined,
    accepts: (requirements: Requirements, taints: readonly Taint[], isPlanned: boolean) => boolean,
    lists: (shape: PodShape) => boolean,
    selects: (shape: PodShape) => boolean,
    isEveryValue: boolean,
    isEndingCounted = false,
    isWhole: (labels: Requirements) => boolean = () => true,
  ): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    const isLookedAt = ({ labels, taints }: PodSite) => accepts(Requirements.fromLabels(labels), taints, false);
    const add = (domain: string, pods: number) => counts.set(domain, (counts.get(domain) ?? 0) + pods);
    if (key !== HOSTNAME) for (const domain of this.#universe(key, tolerations)) add(domain, 0);
    for (const node of this.#problem.nodes) {
      const domain = node.labels[key];
      if (domain !== undefined && isLookedAt(node)) add(domain, 0);
    }
    for (const { shape, site, count, endingCount } of this.#problem.boundPods ?? []) {
      const domain = site.labels[key];
      if (domain === undefined || !lists(shape) || !isLookedAt(site) || !isWhole(Requirements.fromLabels(site.labels))) continue;
      const pods = isEndingCounted ? count + endingCount : count;
      if (pods > 0) add(domain, pods);
    }
    for (const { shape, hostname, requirements: then, now, taints, isThere } of this.placements) {
      if (isThere && !isWhole(then)) continue;
      // What was counted when it was placed stays counted; the rest is as soon as it can be.
      const wasCounted = accepts(then, taints, true) && then.find(key)?.listedValues?.length === 1;
      const requirements = key === HOSTNAME || isEveryValue || wasCounted ? then : now();
      if (!selects(shape) || !accepts(requirements, taints, true)) continue;
      const values = key === HOSTNAME ? [hostname] : (requirements.find(key)?.listedValues ?? []);
      if (isEveryValue || values.length === 1) for (const value of values) add(value, 1);
    }
    return counts;
  }

  #universe(key: string, tolerations: readonly Toleration[] | undefined): ReadonlySet<string> {
    const domains = new Set<string>();
    for (const { nodePool, instanceTypes } of this.#problem.pools) {
      const taints = nodePool.spec.template.spec.taints ?? [];
      if (tolerations !== undefined && keepingAway(taints, tolerations).length > 0) continue;
      const requirements = templateRequirements(nodePool);
      const typeLabels = instanceTypes.map((type) => Requirements.fromItems(type.requirements));
      const isOffered = (labels: Requirements) =>
        instanceTypes.some(
          (type, index) =>
            typeLabels[index]!.intersects(labels) &&
            allocatableGroups(type).some(
              ({ allocatable, offerings }) =>
                fits({}, allocatable) && offerings.some((offering) => labels.intersects(Requirements.fromItems(offering.requirements))),
            ),
        );
      for (const value of requirements.find(key)?.listedValues ?? []) domains.add(value);
      const ofTypes = typeLabels.flatMap((labels) => requirements.and(labels).find(key)?.listedValues ?? []);
      for (const value of ofTypes) if (isOffered(requirements.and([Requirement.in(key, value)]))) domains.add(value);
    }
    return domains;
  }

  #isMeant(term: PodAffinityTerm, owner: PodShape, other: PodShape): boolean {
    if (term.labelSelector === undefined || !matches(term.labelSelector, other.labels)) return false;
    return this.#isInScope(term, owner, other.namespace);
  }

  #isInScope({ namespaces = [], namespaceSelector }: PodAffinityTerm, owner: PodShape, namespace: string): boolean {
    if (namespaceSelector === undefined) return namespaces.length === 0 ? namespace === owner.namespace : namespaces.includes(namespace);
    if (namespaces.includes(namespace)) return true;
    const isEmpty =
      Object.keys(namespaceSelector.matchLabels ?? {}).length === 0 && (namespaceSelector.matchExpressions ?? []).length === 0;
    const labels = this.#problem.namespaces?.get(namespace);
    return isEmpty || (labels !== undefined && matches(namespaceSelector, labels));
  }
}

interface ModelSite {
  readonly pod: Requirement | undefined;
  readonly node: Requirement | undefined;
  readonly hostname: string;
  /** `isAlone`: it is chosen, not one of several that are left open. */
  readonly isChosen: (domain: string, isAlone: boolean) => boolean;
}

function allowedDomains(
  { kind, counts, domains, maxSkew, minDomains, key, selects, reach = () => true, uncounted = () => 0, isDecided = () => true }: ModelTerm,
  shape: PodShape,
  { pod, node, hostname, isChosen }: ModelSite,
): readonly string[] {
  const size = (domain: string) => counts.get(domain) ?? 0;
  const self = selects(shape) ? 1 : 0;
  const isPod = (domain: string) => pod?.has(domain) ?? true;
  const isNode = (domain: string) => node?.has(domain) ?? true;
  if (key === HOSTNAME) {
    const isFirst = self === 1 && [...counts.values()].every((count) => count === 0);
    const isFine =
      kind === "spread" ? size(hostname) + self <= maxSkew : kind === "affinity" ? size(hostname) > 0 || isFirst : size(hostname) === 0;
    return isFine ? [hostname] : [];
  }
  switch (kind) {
    case "spread": {
      const eligible = domains.filter(reach);
      const least = eligible.length < minDomains ? 0 : Math.min(...eligible.map(size));
      const valid = domains.filter((domain) => isNode(domain) && size(domain) + self - least <= maxSkew && isChosen(domain, true));
      const fewest = Math.min(...valid.map(size));
      const chosen = valid.filter((domain) => size(domain) === fewest).slice(0, 1);
      return chosen.filter((domain) => size(domain) + uncounted(hostname) + self - least <= maxSkew);
    }
    case "affinity": {
      const reachable = domains.filter((domain) => size(domain) > 0 && isPod(domain) && isNode(domain));
      const isFirst = self === 1 && isDecided() && !domains.some((domain) => size(domain) > 0 && reach(domain));
      if (reachable.length > 0 || !isFirst) return reachable.filter((domain) => isChosen(domain, false));
      return domains.filter((domain) => isPod(domain) && isNode(domain) && isChosen(domain, true)).slice(0, 1);
    }
    case "anti-affinity":
      return domains.filter((domain) => size(domain) === 0 && isPod(domain) && isNode(domain) && isChosen(domain, false));
  }
}

function requiredAnti({ affinity }: PodShape): readonly PodAffinityTerm[] {
  return affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

function matches({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === "Exists" || operator === "DoesNotExist") return (value !== undefined) === (operator === "Exists");
      return (value !== undefined && values.includes(value)) === (operator === "In");
    })
  );
}
